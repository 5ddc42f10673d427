package store

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store/storetest"
)

func TestMain(m *testing.M) {
	minio.DefaultRetryUnit, minio.DefaultRetryCap = time.Millisecond, time.Millisecond
	patience = 100 * time.Millisecond
	os.Exit(m.Run())
}

// open starts a store and returns it with a client.
func open(t *testing.T) (*storetest.Store, *Client) {
	t.Helper()
	s := new(storetest.Store)
	s.Start()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s, client(t, s.URL)
}

// client returns a client of the store at endpoint.
func client(t *testing.T, endpoint string) *Client {
	t.Helper()
	for _, set := range storetest.EnvironmentOf(endpoint) {
		name, value, _ := strings.Cut(set, "=")
		t.Setenv(name, value)
	}
	c, err := connect()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// file creates a file and returns its path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// at returns the location of an object in the test's bucket.
func at(key string) Location { return Location{Bucket: storetest.Bucket, Key: key} }

func TestParse(t *testing.T) {
	tests := []struct{ name, want, problem string }{
		{"s3://b/k", "s3://b/k", ""},
		{"S3://b/a/k.ndjson", "s3://b/a/k.ndjson", ""},
		{"s3://b/a/", "s3://b/a/", ""},
		{"s3://b", "s3://b/", ""},
		{"s3://", "", "has no bucket"},
		{"s3:///k", "", "has no bucket"},
		{"s3://b/a//k", "", "has empty parts"},
		{"s3://b/../k", "", "dots between"},
		{"s3://user:pass@b/k", "", "no user, password or port"},
		{"s3://b:9000/k", "", "no user, password or port"},
		{"file", "", "does not name an object"},
	}
	for _, test := range tests {
		l, err := Parse(test.name)
		if test.problem == "" && (err != nil || l.String() != test.want) {
			t.Errorf("%s: %v, %v", test.name, l, err)
		}
		if test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)) {
			t.Errorf("%s: %v, want %s", test.name, err, test.problem)
		}
	}
}

// TestPut: Put uploads an object once, and overwrites it only with replace.
func TestPut(t *testing.T) {
	s, c := open(t)
	ctx := t.Context()
	one, two := file(t, "one", "content\n"), file(t, "two", "other\n")
	uploads := 0
	s.Fail(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			uploads++
		}
		return false
	})
	for range 2 {
		o, err := c.Put(ctx, one, at("n/one"), false)
		if err != nil || o.Bytes != 8 || len(o.SHA256) != 64 || o.ETag != "f75b8179e4bbe7e2b4a074dcef62de95" {
			t.Fatalf("%+v, %v", o, err)
		}
	}
	if uploads != 1 {
		t.Errorf("uploaded %d times", uploads)
	}
	if _, err := c.Put(ctx, two, at("n/one"), false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("overwritten: %v", err)
	}
	if got := string(s.Objects()["n/one"]); got != "content\n" {
		t.Errorf("the object is %q", got)
	}
	if _, err := c.Put(ctx, two, at("n/one"), true); err != nil || string(s.Objects()["n/one"]) != "other\n" {
		t.Errorf("replaced: %v, %q", err, s.Objects())
	}
}

// TestPutProves: Put returns an error if the store did not get exactly the bytes of
// the file.
func TestPutProves(t *testing.T) {
	s, c := open(t)
	path := file(t, "one", "content\n")
	for i, stored := range []string{"c0ntent\n", "conten\n", ""} {
		key := strconv.Itoa(i)
		s.Fail(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPut {
				return false
			}
			io.Copy(io.Discard, r.Body)
			if stored != "" {
				s.Write(key, []byte(stored))
			}
			w.Header().Set("ETag", `"f75b8179e4bbe7e2b4a074dcef62de95"`) // the MD5 of the content
			return true
		})
		if _, err := c.Put(t.Context(), path, at(key), true); err == nil {
			t.Errorf("stored %q: no error", stored)
		}
		s.Heal()
		if stored != "" {
			if _, err := c.Put(t.Context(), path, at(key), true); err != nil {
				t.Errorf("again after %q: %v", stored, err)
			}
		}
	}
}

// TestRead: a reader gets all bytes even if the connection breaks repeatedly.
func TestRead(t *testing.T) {
	s, c := open(t)
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	s.Write("one", content)
	var breaks atomic.Int64
	breaks.Store(3)
	s.Fail(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || breaks.Add(-1) < 0 {
			return false
		}
		from, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-"))
		part := content[from : from+100_000]
		w.Header().Set("ETag", `"0123456789abcdef0123456789abcdef"`)
		w.Header().Set("Last-Modified", time.Unix(0, 0).UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Length", strconv.Itoa(len(content)-from))
		w.Write(part)
		panic(http.ErrAbortHandler)
	})
	r, err := c.Open(at("one"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d of %d bytes, %v", len(got), len(content), err)
	}
}

// TestReadChanged: after its connection broke, a reader returns an error if the
// object was replaced.
func TestReadChanged(t *testing.T) {
	s, c := open(t)
	s.Fail(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("If-Match") != "" {
			return storetest.Refuse(http.StatusPreconditionFailed, "PreconditionFailed")(w, r)
		}
		w.Header().Set("ETag", `"0123456789abcdef0123456789abcdef"`)
		w.Header().Set("Last-Modified", time.Unix(0, 0).UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "the beginning")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	r, err := c.Open(at("one"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadAll(r); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("%v", err)
	}
}

// TestErrors: each error has the right problem, cause and hint, and contains no
// credentials.
func TestErrors(t *testing.T) {
	tests := []struct {
		status  int
		code    string
		problem string
		cause   error
	}{
		{403, "AccessDenied", "refuses access: AccessDenied", fs.ErrPermission},
		{403, "InvalidAccessKeyId", "does not accept the credentials: InvalidAccessKeyId", fs.ErrPermission},
		{403, "SignatureDoesNotMatch", "does not accept the credentials", fs.ErrPermission},
		{403, "RequestTimeTooSkewed", "refuses the time of this machine", fs.ErrPermission},
		{404, "NoSuchBucket", `there is no bucket "census"`, fs.ErrNotExist},
		{404, "NoSuchKey", "there is no such object", fs.ErrNotExist},
		{418, "Teapot", "answered Teapot: [secret]", nil},
	}
	for _, test := range tests {
		t.Run(test.code, func(t *testing.T) {
			s, c := open(t)
			s.Fail(storetest.Refuse(test.status, test.code))
			_, err := c.Open(at("one"))
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(e.Problem, test.problem) || e.Hint == "" || e.Err != test.cause {
				t.Fatalf("%v", err)
			}
			if strings.Contains(e.Problem+e.Hint, storetest.SecretKey) {
				t.Errorf("the secret is in %q", e)
			}
		})
	}
}

// TestUnreachable checks the errors of a store that is down and of a store that
// does not answer.
func TestUnreachable(t *testing.T) {
	s := new(storetest.Store)
	s.Start()
	s.Close()
	_, err := client(t, s.URL).Open(at("one"))
	if err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("down: %v", err)
	}
	silent := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-silent }))
	defer hangs.Close()
	defer close(silent)
	_, err = client(t, hangs.URL).Put(t.Context(), file(t, "one", "content\n"), at("one"), false)
	if err == nil || !strings.Contains(err.Error(), "does not answer in time") {
		t.Errorf("silent: %v", err)
	}
}

// TestEnvironment: environment variables take precedence over files. Missing credentials
// are an error, and so is an endpoint with a password, which is not shown.
func TestEnvironment(t *testing.T) {
	dir := t.TempDir()
	config, secrets := filepath.Join(dir, "config"), filepath.Join(dir, "credentials")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(config, "[default]\nregion = eu-one\n[profile night]\nendpoint_url = http://127.0.0.1:2\n")
	write(secrets, "[night]\naws_access_key_id = fileKey\naws_secret_access_key = fileSecret\n")
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN",
		"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", config)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", secrets)
	check := func(endpoint, key string) {
		t.Helper()
		if c, err := connect(); err != nil || c.endpoint != endpoint || c.secrets.AccessKeyID != key {
			t.Errorf("%+v, %v, want %q %q", c, err, endpoint, key)
		}
	}
	if _, err := connect(); err == nil || !strings.Contains(err.Error(), "no credentials") {
		t.Errorf("%v", err)
	}
	t.Setenv("AWS_PROFILE", "night")
	check("127.0.0.1:2", "fileKey")
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:3")
	t.Setenv("AWS_ACCESS_KEY_ID", "envKey")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "envSecret")
	check("127.0.0.1:3", "envKey")
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:4")
	check("127.0.0.1:4", "envKey")
	for _, endpoint := range []string{"http://user:hunter2@127.0.0.1:1", "ftp://127.0.0.1", "127.0.0.1:1", "http://127.0.0.1:1/path"} {
		t.Setenv("AWS_ENDPOINT_URL_S3", endpoint)
		if _, err := connect(); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}
