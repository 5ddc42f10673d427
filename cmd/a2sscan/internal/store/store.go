// Package store reads and writes the objects of S3-compatible stores. It handles object
// names and checksums. It does not depend on flags or scans.
//
// # Names
//
// s3://BUCKET/KEY is an object. s3://BUCKET/PREFIX/, with a slash at its end,
// stands for all census files below it, in the order of their names.
//
// # Credentials
//
// The credentials come from the environment (AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN) or from the files of the AWS tools
// (AWS_PROFILE, ~/.aws/credentials, ~/.aws/config). No error or log line contains
// them: redact removes them from every message of a store.
//
// # Checksums
//
// An upload carries the MD5 and SHA-256 of the file, which the store compares with
// what it received. Put then requests the properties of the object: its length, and
// its SHA-256 or ETag, must be those of the file. If the store returns neither
// checksum, Put reads the object back.
package store

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"
)

// scheme is the prefix of an object's name.
const scheme = "s3://"

// IsURL reports whether a name begins with s3://, in upper or lower case.
func IsURL(name string) bool {
	return len(name) >= len(scheme) && strings.EqualFold(name[:len(scheme)], scheme)
}

// Location is an object or, if Key ends in a slash, everything below it.
type Location struct{ Bucket, Key string }

// Parse parses s3://BUCKET/KEY.
func Parse(name string) (Location, error) {
	bucket, key, _ := strings.Cut(name[min(len(scheme), len(name)):], "/")
	switch {
	case !IsURL(name):
		return Location{}, &Error{Problem: "does not name an object", Hint: nameHint}
	case strings.ContainsAny(bucket, "@:"):
		return Location{}, &Error{Problem: "the name of an object has no user, password or port",
			Hint: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for the credentials, and AWS_ENDPOINT_URL for the server"}
	case bucket == "" || strings.ContainsAny(bucket, "?# "):
		return Location{}, &Error{Problem: "has no bucket", Hint: nameHint}
	case key != "" && path.Clean("/"+key) != "/"+strings.TrimSuffix(key, "/"):
		return Location{}, &Error{Problem: "has empty parts or dots between its slashes", Hint: nameHint}
	}
	return Location{bucket, key}, nil
}

// Shown returns a name for messages. It hides a user and password, which do not
// belong in the name.
func Shown(name string) string {
	bucket, rest, _ := strings.Cut(name[min(len(scheme), len(name)):], "/")
	if at := strings.LastIndexByte(bucket, '@'); IsURL(name) && at >= 0 {
		return scheme + "[secret]" + bucket[at:] + "/" + rest
	}
	return name
}

const nameHint = "an object is named s3://BUCKET/KEY"

// String returns the name of the object, s3://BUCKET/KEY.
func (l Location) String() string { return scheme + l.Bucket + "/" + l.Key }

// IsPrefix reports whether l stands for all objects below it.
func (l Location) IsPrefix() bool { return l.Key == "" || strings.HasSuffix(l.Key, "/") }

// Base returns the last part of the key.
func (l Location) Base() string { return path.Base(l.Key) }

// Beside returns the location called name below the same prefix as l.
func (l Location) Beside(name string) Location {
	return Location{l.Bucket, strings.TrimPrefix(path.Join(path.Dir(l.Key), name), "./")}
}

// Config is the address of a store and the credentials for it.
type Config struct {
	Endpoint    string // URL of the server; empty: AWS
	Region      string // empty: found out from the store, or us-east-1 with an Endpoint
	Credentials *credentials.Credentials

	// Stall is the maximum time without progress in a request; 0: a minute.
	Stall time.Duration
}

// FromEnvironment reads the environment variables and the files of the AWS tools.
func FromEnvironment() Config {
	profile := profileSettings()
	return Config{
		Endpoint: cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), profile["endpoint_url"]),
		Region:   cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), profile["region"]),
		Credentials: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{},
		}),
	}
}

// profileSettings reads the section of AWS_PROFILE in ~/.aws/config. It returns nil
// if the file can't be read.
func profileSettings() map[string]string {
	home, _ := os.UserHomeDir()
	name := cmp.Or(os.Getenv("AWS_CONFIG_FILE"), filepath.Join(home, ".aws", "config"))
	file, err := ini.Load(name)
	if err != nil {
		return nil
	}
	section := "default"
	if p := os.Getenv("AWS_PROFILE"); p != "" && p != section {
		section = "profile " + p
	}
	return file.Section(section).KeysHash()
}

// Client sends requests to one store. Its methods may be called from several
// goroutines.
type Client struct {
	api      *minio.Core
	endpoint string // host of the server, for messages
	creds    *credentials.Credentials
	stall    time.Duration
}

// New returns a client. It sends nothing.
func New(c Config) (*Client, error) {
	where, err := endpointOf(c.Endpoint)
	if err != nil {
		return nil, err
	}
	secure := where.Scheme == "https"
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	stall := cmp.Or(c.Stall, time.Minute)
	transport.ResponseHeaderTimeout = stall
	o := &minio.Options{
		Creds: c.Credentials, Secure: secure, Region: c.Region, MaxRetries: 1, Transport: transport,
	}
	if c.Endpoint != "" {
		o.BucketLookup = minio.BucketLookupPath
		o.Region = cmp.Or(c.Region, "us-east-1")
	}
	api, err := minio.NewCore(where.Host, o)
	if err != nil {
		return nil, badEndpoint
	}
	return &Client{api: api, endpoint: where.Host, creds: c.Credentials, stall: stall}, nil
}

// badEndpoint does not quote AWS_ENDPOINT_URL, which may contain a password.
var badEndpoint = &Error{Problem: "AWS_ENDPOINT_URL is not the URL of a server",
	Hint: "it is http://HOST:PORT or https://HOST, without user and path"}

// endpointOf parses the URL of a server. "" stands for AWS.
func endpointOf(text string) (*url.URL, error) {
	where, err := url.Parse(cmp.Or(text, "https://s3.amazonaws.com"))
	switch {
	case err != nil || where.Host == "" || where.User != nil || where.RawQuery != "" || strings.Trim(where.Path, "/") != "":
		return nil, badEndpoint
	case where.Scheme != "http" && where.Scheme != "https":
		return nil, badEndpoint
	}
	return where, nil
}

// check returns an error if there are no credentials, because the store's own error
// would be hard to understand.
func (c *Client) check() error {
	v, err := c.creds.GetWithContext(&credentials.CredContext{Client: http.DefaultClient})
	if err != nil || v.AccessKeyID == "" || v.SecretAccessKey == "" {
		return &Error{Problem: "there are no credentials for the store at " + c.endpoint, final: true,
			Hint: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE to a profile in ~/.aws/credentials"}
	}
	return nil
}

// usual creates the client of Usual once.
var usual = sync.OnceValues(func() (*Client, error) { return New(FromEnvironment()) })

// Usual returns the client that the environment configures. All callers share one
// client. It is an error if there are no credentials.
func Usual() (*Client, error) {
	c, err := usual()
	if err != nil {
		return nil, err
	}
	return c, c.check()
}

// tries is how often a request is made, if its error may pass.
const tries = 3

// Check returns an error if the bucket can't be used.
func (c *Client) Check(ctx context.Context, l Location) error {
	_, err := c.stat(ctx, l)
	if err == nil || errors.Is(err, os.ErrNotExist) {
		there, e := c.api.BucketExists(ctx, l.Bucket)
		switch {
		case e == nil && there:
			return nil
		case e == nil:
			return c.noBucket(l)
		}
		err = c.failure(l, e)
	}
	return err
}
