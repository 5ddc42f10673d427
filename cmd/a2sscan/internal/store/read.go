package store

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/a2sscan/a2sscan/sink"
)

// Open opens a local file or an object for reading.
func Open(name string) (io.ReadCloser, error) {
	if !IsURL(name) {
		return os.Open(name)
	}
	l, err := Parse(name)
	if err != nil {
		return nil, err
	}
	c, err := Usual()
	if err != nil {
		return nil, err
	}
	return c.Open(l)
}

// Source opens census files, both local ones and objects in a store.
func Source() sink.Source { return sink.Source{File: Open} }

// Names replaces each prefix among the names with the names of the census files
// below it.
func Names(names []string) ([]string, error) { return expand(names, isCensus) }

// Lists is Names for lists of targets, which may have any suffix.
func Lists(names []string) ([]string, error) { return expand(names, isList) }

func expand(names []string, wanted func(key string) bool) (all []string, err error) {
	for _, name := range names {
		if !IsURL(name) {
			all = append(all, name)
			continue
		}
		found, err := below(name, wanted)
		if err != nil {
			return nil, &sink.Error{Op: "open", Path: Shown(name), Err: err, Hint: Advice(err)}
		}
		all = append(all, found...)
	}
	return all, nil
}

// below returns the objects below a prefix for which wanted returns true. If name
// is not a prefix, it returns name itself.
func below(name string, wanted func(key string) bool) ([]string, error) {
	l, err := Parse(name)
	if err != nil || !l.IsPrefix() {
		return []string{name}, err
	}
	c, err := Usual()
	if err != nil {
		return nil, err
	}
	return c.Below(context.Background(), l, wanted)
}

// Below returns the names of the objects below a prefix for which wanted returns
// true, in order. It is an error if there are none.
func (c *Client) Below(ctx context.Context, l Location, wanted func(key string) bool) (names []string, err error) {
	ctx, cancel := context.WithCancel(ctx) // ends a listing that is not read to its end
	defer cancel()
	err = Retry(ctx, tries, func() error {
		names = nil
		for o := range c.api.Client.ListObjects(ctx, l.Bucket, minio.ListObjectsOptions{Prefix: l.Key, Recursive: true}) {
			if o.Err != nil {
				return c.failure(l, o.Err)
			}
			if wanted(o.Key) {
				names = append(names, Location{l.Bucket, o.Key}.String())
			}
		}
		return nil
	})
	if err == nil && len(names) == 0 {
		return nil, &Error{Problem: "there is nothing to read below it", Err: os.ErrNotExist,
			Hint: "check the prefix; census files end in .ndjson, .ndjson.zst or .ndjson.gz"}
	}
	return names, err
}

// isCensus reports whether an object below a prefix is a census file, judging by
// its name.
func isCensus(key string) bool {
	name := strings.TrimSuffix(strings.TrimSuffix(key, ".zst"), ".gz")
	for _, end := range []string{".ndjson", ".jsonl", ".json"} {
		if strings.HasSuffix(name, end) {
			return isList(key)
		}
	}
	return false
}

// isList reports whether an object may be a list: it is not a folder, not hidden,
// and not a file that a scan writes beside a census.
func isList(key string) bool {
	base := key[strings.LastIndexByte(key, '/')+1:]
	return base != "" && base[0] != '.' && !strings.HasSuffix(base, ".summary.json") && !strings.HasSuffix(base, ".stats.json")
}

// stat returns the length and the checksums of an object.
func (c *Client) stat(ctx context.Context, l Location) (minio.ObjectInfo, error) {
	if err := c.check(); err != nil {
		return minio.ObjectInfo{}, err
	}
	info, err := c.api.StatObject(ctx, l.Bucket, l.Key, minio.StatObjectOptions{Checksum: true})
	return info, c.failure(l, err)
}

// Size returns the length of an object.
func (c *Client) Size(ctx context.Context, l Location) (n int64, err error) {
	err = Retry(ctx, tries, func() error {
		info, err := c.stat(ctx, l)
		n = info.Size
		return err
	})
	return n, err
}

// retries is the maximum number of consecutive requests for the rest of an object
// that bring no byte.
const retries = 4

// object reads an object. If the connection breaks, it requests the rest. It fails
// if the object was replaced in the meantime.
type object struct {
	client *Client
	at     Location
	ctx    context.Context
	cancel func()

	body   io.ReadCloser // nil: the rest is not requested yet
	etag   string        // of the object that was opened
	offset int64         // offset of the next byte to read
	size   int64
	failed int // consecutive requests that brought no byte
}

// Open opens an object for reading.
func (c *Client) Open(l Location) (io.ReadCloser, error) {
	if l.IsPrefix() {
		return nil, &Error{Problem: "is a prefix and no object", Hint: nameHint}
	}
	o := &object{client: c, at: l}
	o.ctx, o.cancel = context.WithCancel(context.Background())
	if err := Retry(o.ctx, tries, o.ask); err != nil {
		o.cancel()
		return nil, err
	}
	return o, nil
}

// ask requests the object from the offset on.
func (o *object) ask() error {
	if err := o.client.check(); err != nil {
		return err
	}
	var opts minio.GetObjectOptions
	if o.etag != "" {
		if err := opts.SetMatchETag(o.etag); err != nil {
			return err
		}
		if err := opts.SetRange(o.offset, 0); o.offset > 0 && err != nil {
			return err
		}
	}
	body, info, _, err := o.client.api.GetObject(o.ctx, o.at.Bucket, o.at.Key, opts)
	if err != nil {
		return o.client.failure(o.at, err)
	}
	if o.etag == "" {
		o.etag, o.size = info.ETag, info.Size
	}
	o.body = body
	return nil
}

// Read reads the next bytes. It gives up after several consecutive requests that
// brought no byte.
func (o *object) Read(p []byte) (int, error) {
	for {
		n, err := o.readOnce(p)
		o.offset += int64(n)
		if n > 0 {
			o.failed = 0
			return n, nil
		}
		if err == io.EOF && o.offset >= o.size {
			return 0, io.EOF
		}
		if err == nil {
			continue
		}
		o.drop()
		if err = o.client.failure(o.at, err); o.failed == retries || !IsPassing(err) {
			return 0, err
		}
		o.failed++
		time.Sleep(time.Duration(o.failed*o.failed) * 50 * time.Millisecond)
	}
}

// readOnce reads once from the body. If there is no body, it requests one first.
func (o *object) readOnce(p []byte) (int, error) {
	if o.body == nil {
		if o.size > 0 && o.offset == o.size {
			return 0, io.EOF
		}
		if err := o.ask(); err != nil {
			return 0, err
		}
	}
	body := o.body
	stalled := time.AfterFunc(o.client.stall, func() { body.Close() })
	n, err := body.Read(p)
	if !stalled.Stop() && n == 0 {
		err = context.DeadlineExceeded
	}
	if err == io.EOF && o.offset+int64(n) < o.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// drop closes the body, so that the next read requests another.
func (o *object) drop() {
	if o.body != nil {
		o.body.Close()
		o.body = nil
	}
}

// Close cancels the transfer.
func (o *object) Close() error {
	o.drop()
	o.cancel()
	return nil
}
