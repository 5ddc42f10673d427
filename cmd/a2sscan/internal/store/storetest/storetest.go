// Package storetest runs an object store inside a test.
package storetest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store"
)

// These are the credentials of a Store. No output of the program may contain them.
const (
	AccessKey = "AKIDCANARYACCESS"
	SecretKey = "canarySecretDoNotPrint"
	Token     = "canaryTokenDoNotPrint"
)

// Bucket is the bucket of a Store.
const Bucket = "census"

// Store is an object store on a free port of 127.0.0.1.
type Store struct {
	*httptest.Server
	backend gofakes3.Backend

	mu    sync.Mutex
	fault func(w http.ResponseWriter, r *http.Request) bool
	puts  map[string]int
}

// New starts a store with an empty bucket.
func New() *Store {
	s := &Store{backend: s3mem.New(), puts: map[string]int{}}
	if err := s.backend.CreateBucket(Bucket); err != nil {
		panic(err)
	}
	s.Server = httptest.NewServer(s.handler(gofakes3.New(s.backend).Server()))
	return s
}

// Close shuts the store down and closes the connections of waiting requests.
func (s *Store) Close() {
	s.CloseClientConnections()
	s.Server.Close()
}

// handler offers each request to the fault first, and counts the uploads that reach
// the store.
func (s *Store) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		fault := s.fault
		s.mu.Unlock()
		if fault != nil && fault(w, r) {
			return
		}
		if r.Method == http.MethodPut {
			s.mu.Lock()
			s.puts[r.URL.Path]++
			s.mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}

// Fail sets a function that sees every request first. It reports whether it
// answered the request; if not, the store answers it. Fail(nil) removes the
// function.
func (s *Store) Fail(fault func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Refuse returns a fault that answers every request with an S3 error.
func Refuse(status int, code string) func(w http.ResponseWriter, r *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/xml")
		w.Header().Set("X-Minio-Error-Code", code)
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			_, _ = io.WriteString(w, "<Error><Code>"+code+"</Code><Message>"+SecretKey+"</Message></Error>")
		}
		return true
	}
}

// Hang is a fault that never answers an upload.
func Hang(_ http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPut {
		return false
	}
	_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client disconnects
	<-r.Context().Done()
	return true
}

// Conflict is a fault that stores another object under the name of each upload
// before the store sees the upload.
func (s *Store) Conflict(_ http.ResponseWriter, r *http.Request) bool {
	if key, ok := strings.CutPrefix(r.URL.Path, "/"+Bucket+"/"); ok && r.Method == http.MethodPut {
		s.Write(key, []byte("of another scan"))
	}
	return false
}

// Puts returns how many uploads of the object with this key reached the store.
func (s *Store) Puts(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.puts["/"+Bucket+"/"+key]
}

// Write stores an object.
func (s *Store) Write(key string, content []byte) {
	_, err := s.backend.PutObject(Bucket, key, map[string]string{"Last-Modified": "Mon, 2 Jan 2006 15:04:05 GMT"},
		bytes.NewReader(content), int64(len(content)), nil)
	if err != nil {
		panic(err)
	}
}

// Objects returns the content of all objects by their keys.
func (s *Store) Objects() map[string][]byte {
	all := map[string][]byte{}
	list, err := s.backend.ListBucket(Bucket, &gofakes3.Prefix{}, gofakes3.ListBucketPage{})
	if err != nil {
		panic(err)
	}
	for _, o := range list.Contents {
		object, err := s.backend.GetObject(Bucket, o.Key, nil)
		if err != nil {
			panic(err)
		}
		if all[o.Key], err = io.ReadAll(object.Contents); err != nil {
			panic(err)
		}
		object.Contents.Close()
	}
	return all
}

// Config returns the configuration for clients of the store.
func (s *Store) Config() store.Config {
	return store.Config{Endpoint: s.URL, Credentials: credentials.NewStaticV4(AccessKey, SecretKey, Token)}
}

// EnvironmentOf returns the environment variables for a process that uses the store
// at url.
func EnvironmentOf(url string) []string {
	return []string{"AWS_ENDPOINT_URL=" + url, "AWS_ACCESS_KEY_ID=" + AccessKey, "AWS_SECRET_ACCESS_KEY=" + SecretKey,
		"AWS_REGION=us-east-1", "AWS_CONFIG_FILE=/nowhere", "AWS_SHARED_CREDENTIALS_FILE=/nowhere"}
}
