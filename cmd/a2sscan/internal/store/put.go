package store

import (
	"context"
	"crypto/md5" // the checksum that every store compares; SHA-256 goes with it
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

// Arrived is a file that a store has confirmed to have.
type Arrived struct {
	Name   string // base name, without a folder
	Bytes  int64
	SHA256 string
}

// MaxObject is the maximum length in bytes of a file that can be uploaded. Stores
// accept no more in a single request.
const MaxObject = 5 << 30

// sums are the length and the checksums of a file.
type sums struct {
	size   int64
	md5    []byte
	sha256 []byte
}

// sumsOf reads a file to its end and then rewinds it.
func sumsOf(f *os.File) (s sums, err error) {
	m, h := md5.New(), sha256.New()
	if s.size, err = io.Copy(io.MultiWriter(m, h), f); err != nil {
		return s, err
	}
	s.md5, s.sha256 = m.Sum(nil), h.Sum(nil)
	_, err = f.Seek(0, io.SeekStart)
	return s, err
}

// matches reports whether an object has the length and checksum of the file. known
// is false if the store returned no checksum to compare.
func (s *sums) matches(o *minio.ObjectInfo) (same, known bool) {
	if o.Size != s.size {
		return false, true
	}
	if o.ChecksumSHA256 != "" && !strings.Contains(o.ChecksumSHA256, "-") {
		return o.ChecksumSHA256 == base64.StdEncoding.EncodeToString(s.sha256), true
	}
	if tag, err := hex.DecodeString(o.ETag); err == nil && len(tag) == md5.Size && o.ETag == hex.EncodeToString(s.md5) {
		return true, true
	}
	return false, false // the ETag of an encrypted object is not its MD5
}

// Put uploads a file and verifies that the store has it. If the object already has
// the same bytes, Put leaves it as it is. If it has other bytes and replace is not
// set, Put returns an error that wraps fs.ErrExist.
func (c *Client) Put(ctx context.Context, path string, to Location, replace bool) (Arrived, error) {
	f, err := os.Open(path)
	if err != nil {
		return Arrived{}, err
	}
	defer f.Close()
	s, err := sumsOf(f)
	if err != nil {
		return Arrived{}, err
	}
	done := Arrived{Name: to.Base(), Bytes: s.size, SHA256: hex.EncodeToString(s.sha256)}
	if s.size > MaxObject {
		return Arrived{}, &Error{Problem: fmt.Sprintf("%s has more than 5 GiB, which no store takes at once", path), final: true,
			Hint: "make smaller files"}
	}
	there, same, err := c.compare(ctx, to, &s)
	switch {
	case err != nil || same:
		return done, err
	case there && !replace:
		return Arrived{}, exists(to)
	}
	if err := c.send(ctx, f, to, &s, replace); err != nil {
		return Arrived{}, err
	}
	switch there, same, err = c.compare(ctx, to, &s); {
	case err != nil || same:
		return done, err
	case !there:
		return done, &Error{Problem: "the store took " + to.String() + ", and does not have it", Hint: "check the rules of the bucket"}
	}
	return done, &Error{Problem: to.String() + " is not what was uploaded: its checksum differs", Hint: "look for another program that writes there"}
}

// exists returns the error for an object that must not be overwritten.
func exists(to Location) *Error {
	return &Error{Problem: to.String() + " exists, with other content", Err: fs.ErrExist, final: true,
		Hint: "choose another name, such as one for each shard; --force replaces it"}
}

// compare reports whether the store has an object of that name, and whether it has the
// length and the checksum of the file.
func (c *Client) compare(ctx context.Context, to Location, s *sums) (there, same bool, err error) {
	info, err := c.stat(ctx, to)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	same, known := s.matches(&info)
	if !known {
		same, err = c.readBack(ctx, to, s)
	}
	return true, same, err
}

// readBack downloads an object and reports whether it has the length and SHA-256 of
// the file.
func (c *Client) readBack(ctx context.Context, to Location, s *sums) (bool, error) {
	o, err := c.Open(to)
	if err != nil {
		return false, err
	}
	defer o.Close()
	defer context.AfterFunc(ctx, func() { o.Close() })()
	h := sha256.New()
	n, err := io.Copy(h, o)
	return err == nil && n == s.size && string(h.Sum(nil)) == string(s.sha256), err
}

// send uploads the file. Without replace, a store that supports conditional
// requests does not overwrite an object that another program has created in the
// meantime.
func (c *Client) send(ctx context.Context, f *os.File, to Location, s *sums, replace bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	body := &steady{in: f, stall: c.stall}
	body.timer = time.AfterFunc(c.stall, func() { cancel(context.DeadlineExceeded) })
	defer body.timer.Stop()
	opts := minio.PutObjectOptions{
		ContentType: contentType(to.Key), DisableContentSha256: true, // the header has the SHA-256 of the file
		UserMetadata: map[string]string{"X-Amz-Checksum-Sha256": base64.StdEncoding.EncodeToString(s.sha256)},
	}
	if !replace {
		opts.SetMatchETagExcept("*")
	}
	_, err := c.api.PutObject(ctx, to.Bucket, to.Key, body, s.size,
		base64.StdEncoding.EncodeToString(s.md5), hex.EncodeToString(s.sha256), opts)
	if err != nil && context.Cause(ctx) == context.DeadlineExceeded {
		err = context.DeadlineExceeded
	}
	if err = c.failure(to, err); errors.Is(err, errChanged) {
		return nil // another program was faster; Put compares the objects
	}
	return err
}

// steady reads a file that is being uploaded. Its timer cancels an upload that
// makes no progress: after each read, the next read or the store's response may
// take no longer than stall.
type steady struct {
	in    io.Reader
	stall time.Duration
	timer *time.Timer
}

func (s *steady) Read(p []byte) (int, error) {
	s.timer.Reset(s.stall)
	return s.in.Read(p)
}

// contentType returns the media type for the suffix of an object's name.
func contentType(key string) string {
	for end, kind := range map[string]string{
		".zst": "application/zstd", ".gz": "application/gzip", ".json": "application/json", ".html": "text/html; charset=utf-8",
		".ndjson": "application/x-ndjson", ".csv": "text/csv", ".parquet": "application/vnd.apache.parquet",
	} {
		if strings.HasSuffix(key, end) {
			return kind
		}
	}
	return "application/octet-stream"
}
