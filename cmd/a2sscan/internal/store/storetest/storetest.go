// Package storetest runs an object store inside a test.
package storetest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// These are the credentials of a Store. No output of the program may contain them.
const (
	AccessKey = "AKIDCANARYACCESS"
	SecretKey = "canarySecretDoNotPrint"
)

// Bucket is the bucket of a Store.
const Bucket = "census"

// Fault sees a request before the store. It reports whether it answered the request.
type Fault func(w http.ResponseWriter, r *http.Request) bool

// Store is an object store on a free port of 127.0.0.1, once it is started.
type Store struct {
	*httptest.Server
	backend gofakes3.Backend
	fault   atomic.Pointer[Fault]
}

// Start starts the store with an empty bucket.
func (s *Store) Start() {
	s.backend = s3mem.New()
	must(s.backend.CreateBucket(Bucket))
	next := gofakes3.New(s.backend).Server()
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault := s.fault.Load(); fault == nil || !(*fault)(w, r) {
			next.ServeHTTP(w, r)
		}
	}))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Fail sets a function that sees every request first.
func (s *Store) Fail(fault Fault) { s.fault.Store(&fault) }

// Down breaks all connections, and those to come.
func (s *Store) Down() {
	s.Fail(func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) })
	s.CloseClientConnections()
}

// Heal removes the function that Fail set, and ends what Down does.
func (s *Store) Heal() { s.fault.Store(nil) }

// Refuse returns a fault that answers every request with an S3 error.
func Refuse(status int, code string) Fault {
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

// Write stores an object.
func (s *Store) Write(key string, content []byte) {
	_, err := s.backend.PutObject(Bucket, key, map[string]string{"Last-Modified": "Mon, 2 Jan 2006 15:04:05 GMT"},
		bytes.NewReader(content), int64(len(content)), nil)
	must(err)
}

// Objects returns the content of all objects by their keys.
func (s *Store) Objects() map[string][]byte {
	all := map[string][]byte{}
	list, err := s.backend.ListBucket(Bucket, &gofakes3.Prefix{}, gofakes3.ListBucketPage{})
	must(err)
	for _, o := range list.Contents {
		object, err := s.backend.GetObject(Bucket, o.Key, nil)
		must(err)
		all[o.Key], err = io.ReadAll(object.Contents)
		must(err)
		object.Contents.Close()
	}
	return all
}

// EnvironmentOf returns the environment variables for a process that uses the store
// at url.
func EnvironmentOf(url string) []string {
	return []string{"AWS_ENDPOINT_URL=" + url, "AWS_ACCESS_KEY_ID=" + AccessKey, "AWS_SECRET_ACCESS_KEY=" + SecretKey,
		"AWS_REGION=us-east-1", "AWS_CONFIG_FILE=/nowhere", "AWS_SHARED_CREDENTIALS_FILE=/nowhere"}
}
