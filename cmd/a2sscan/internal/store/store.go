// Package store reads and writes the objects of S3-compatible stores.
//
// s3://BUCKET/KEY is an object. s3://BUCKET/PREFIX/, with a slash at its end, stands for
// all census files below it, in the order of their names.
//
// The address of the store and the credentials come from the environment variables and
// the files of the AWS tools. No error or log line contains credentials: redact removes
// them from every message of a store.
package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
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

const scheme = "s3://"

// IsURL reports whether a name begins with s3://, in upper or lower case.
func IsURL(name string) bool {
	return len(name) >= len(scheme) && strings.EqualFold(name[:len(scheme)], scheme)
}

// Location is an object or, if Key ends in a slash, everything below it.
type Location struct{ Bucket, Key string }

const nameHint = "an object is named s3://BUCKET/KEY"

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

// Client sends requests to one store. Its methods may be called from several
// goroutines. The library repeats requests whose errors may pass.
type Client struct {
	api      *minio.Core
	endpoint string // host of the server, for messages
	secrets  credentials.Value
}

// patience is how long a store may take until an answer begins.
var patience = time.Minute

// connect returns a client of the store that the environment variables and the files of
// the AWS tools name. It sends nothing. It is an error if there are no credentials,
// because the store's own error would be hard to understand.
func connect() (*Client, error) {
	profile := map[string]string{} // the section of AWS_PROFILE in ~/.aws/config
	home, _ := os.UserHomeDir()
	if file, err := ini.Load(cmp.Or(os.Getenv("AWS_CONFIG_FILE"), filepath.Join(home, ".aws", "config"))); err == nil {
		section := "default"
		if p := os.Getenv("AWS_PROFILE"); p != "" && p != section {
			section = "profile " + p
		}
		profile = file.Section(section).KeysHash()
	}
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), profile["endpoint_url"])
	where, err := url.Parse(cmp.Or(endpoint, "https://s3.amazonaws.com"))
	if err != nil || where.Host == "" || where.User != nil || where.RawQuery != "" || strings.Trim(where.Path, "/") != "" ||
		where.Scheme != "http" && where.Scheme != "https" {
		return nil, &Error{Problem: "AWS_ENDPOINT_URL is not the URL of a server", // it may contain a password
			Hint: "it is http://HOST:PORT or https://HOST, without user and path"}
	}
	keys := credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}})
	secrets, err := keys.GetWithContext(&credentials.CredContext{Client: http.DefaultClient})
	if err != nil || secrets.AccessKeyID == "" || secrets.SecretAccessKey == "" {
		return nil, &Error{Problem: "there are no credentials for the store at " + where.Host,
			Hint: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE to a profile in ~/.aws/credentials"}
	}
	o := &minio.Options{Creds: keys, Secure: where.Scheme == "https",
		Region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), profile["region"])}
	if endpoint != "" { // AWS is asked for the region of a bucket, other stores have one
		o.BucketLookup, o.Region = minio.BucketLookupPath, cmp.Or(o.Region, "us-east-1")
	}
	transport, err := minio.DefaultTransport(o.Secure)
	if err != nil {
		return nil, err
	}
	transport.ResponseHeaderTimeout, o.Transport = patience, transport
	api, err := minio.NewCore(where.Host, o)
	return &Client{api, where.Host, secrets}, err
}

// usual is the client of all callers.
var usual = sync.OnceValues(connect)

// Find returns the location that name names, and the client of its store.
func Find(name string) (*Client, Location, error) {
	l, err := Parse(name)
	if err != nil {
		return nil, l, err
	}
	c, err := usual()
	return c, l, err
}

// Check returns an error if the bucket can't be used.
func (c *Client) Check(ctx context.Context, l Location) error {
	there, err := c.api.BucketExists(ctx, l.Bucket)
	if err == nil && !there {
		err = minio.ErrorResponse{Code: "NoSuchBucket"}
	}
	return c.failure(l, err)
}

// Object is what a store says about an object. SHA256 is the checksum of the file that
// Put uploaded; empty: another program uploaded it.
type Object struct {
	Bytes  int64
	ETag   string
	SHA256 string
}

// sumKey is the key of the SHA-256 in the metadata of an object. Unlike the ETag, which
// depends on encryption and on how the object was uploaded, it can be compared with a
// file.
const sumKey = "Sha256"

// Stat describes an object.
func (c *Client) Stat(ctx context.Context, l Location) (Object, error) {
	info, err := c.api.StatObject(ctx, l.Bucket, l.Key, minio.StatObjectOptions{})
	return Object{info.Size, info.ETag, info.UserMetadata[sumKey]}, c.failure(l, err)
}

// slowest is the speed in bytes per second below which an upload fails.
const slowest = 64 << 10

// Put uploads a file and verifies that the store has it. If the object already has
// the same bytes, Put leaves it as it is. If it has other bytes and replace is not
// set, Put returns an error that wraps fs.ErrExist.
func (c *Client) Put(ctx context.Context, path string, to Location, replace bool) (Object, error) {
	f, err := os.Open(path)
	if err != nil {
		return Object{}, err
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return Object{}, err
	}
	sum := hex.EncodeToString(h.Sum(nil))
	there, err := c.Stat(ctx, to)
	if err == nil && there.Bytes == size && there.SHA256 == sum {
		return there, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Object{}, err
	}
	taken := err == nil && !replace
	if !taken {
		opts := minio.PutObjectOptions{
			ContentType:  cmp.Or(mime.TypeByExtension(filepath.Ext(path)), "application/octet-stream"),
			UserMetadata: map[string]string{sumKey: sum}, PartSize: 256 << 20,
			DisableContentSha256: size == 0, // an empty body has no chunks to sign
		}
		if !replace {
			opts.SetMatchETagExcept("*") // another program may create it in the meantime
		}
		sending, cancel := context.WithTimeout(ctx, patience+time.Duration(size/slowest)*time.Second)
		defer cancel()
		_, err = c.api.Client.PutObject(sending, to.Bucket, to.Key, f, size, opts)
		err = c.failure(to, err)
		taken = errors.Is(err, errChanged) // or the store has it, but its answer was lost
		if err != nil && !taken {
			return Object{}, err
		}
		there, err = c.Stat(ctx, to)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = &Error{Problem: fmt.Sprintf("the store took %s, and does not have it", to), Hint: "check the rules of the bucket"}
	case err != nil || there.Bytes == size && there.SHA256 == sum:
	case taken:
		err = &Error{Problem: to.String() + " exists, with other content", Err: fs.ErrExist,
			Hint: "choose another name, such as one for each shard; --force replaces it"}
	default:
		err = NotUploaded(to)
	}
	return there, err
}

// NotUploaded returns the error for an object that another program has replaced.
func NotUploaded(l Location) error {
	return &Error{Problem: l.String() + " is not what was uploaded", Hint: "look for another program that writes there"}
}
