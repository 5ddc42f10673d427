package store

import (
	"context"
	"io"
	"os"
	"regexp"
	"strings"

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

// censusName matches the names of census files.
var censusName = regexp.MustCompile(`\.(ndjson|jsonl|json)(\.gz|\.zst)?$`)

// Names replaces each prefix among the names with the names of the census files
// below it.
func Names(names []string) ([]string, error) {
	return expand(names, func(key string) bool { return isList(key) && censusName.MatchString(key) })
}

// Lists is Names for lists of targets, which may have any suffix.
func Lists(names []string) ([]string, error) { return expand(names, isList) }

// isList reports whether an object may be a list: it is not a folder, not hidden,
// and not a file that a scan writes beside a census.
func isList(key string) bool {
	base := key[strings.LastIndexByte(key, '/')+1:]
	return base != "" && base[0] != '.' && !strings.HasSuffix(base, ".summary.json") && !strings.HasSuffix(base, ".stats.json")
}

func expand(names []string, wanted func(key string) bool) (all []string, err error) {
	for _, name := range names {
		found := []string{name}
		if IsURL(name) {
			var l Location
			var c *Client
			if l, err = Parse(name); err == nil && l.IsPrefix() {
				if c, err = Usual(); err == nil {
					found, err = c.Below(context.Background(), l, wanted)
				}
			}
		}
		if err != nil {
			return nil, &sink.Error{Op: "open", Path: Shown(name), Err: err, Hint: Advice(err)}
		}
		all = append(all, found...)
	}
	return all, nil
}

// object reads an object. If the connection breaks, it requests the rest. It fails
// if the object was replaced in the meantime.
type object struct {
	client *Client
	at     Location
	body   io.ReadCloser // nil: the rest is not requested yet
	etag   string        // of the object that was opened
	offset int64         // of the next byte to read
	size   int64
	failed int // connections in a row that brought no byte
}

// Open opens an object for reading.
func (c *Client) Open(l Location) (io.ReadCloser, error) {
	if l.IsPrefix() {
		return nil, &Error{Problem: "is a prefix and no object", Hint: nameHint}
	}
	o := &object{client: c, at: l}
	if err := o.request(); err != nil {
		return nil, err
	}
	return o, nil
}

// request requests the object from the offset on.
func (o *object) request() error {
	var opts minio.GetObjectOptions
	if o.etag != "" {
		if err := opts.SetMatchETag(o.etag); err != nil {
			return err
		}
	}
	if o.offset > 0 {
		if err := opts.SetRange(o.offset, 0); err != nil {
			return err
		}
	}
	body, info, _, err := o.client.api.GetObject(context.Background(), o.at.Bucket, o.at.Key, opts)
	if err != nil {
		return o.client.failure(o.at, err)
	}
	if o.body = body; o.etag == "" {
		o.etag, o.size = info.ETag, info.Size
	}
	return nil
}

// Read reads the next bytes. It gives up after several connections in a row that
// brought no byte.
func (o *object) Read(p []byte) (int, error) {
	for {
		if o.body == nil {
			if err := o.request(); err != nil {
				return 0, err
			}
		}
		n, err := o.body.Read(p)
		o.offset += int64(n)
		switch {
		case n > 0 || err == nil:
			o.failed = 0
			return n, nil
		case o.offset >= o.size:
			return 0, io.EOF
		}
		o.Close()
		if o.failed++; o.failed > 4 {
			return 0, o.client.failure(o.at, err)
		}
	}
}

// Close ends the transfer.
func (o *object) Close() error {
	if o.body != nil {
		o.body.Close()
		o.body = nil
	}
	return nil
}
