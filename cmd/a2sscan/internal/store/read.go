package store

import (
	"context"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/a2sscan/a2sscan/sink"
)

// Open opens a local file or an object for reading; "-" and "" are standard input, which
// stays open.
func Open(name string) (io.ReadCloser, error) {
	switch {
	case name == "-" || name == "":
		return io.NopCloser(os.Stdin), nil
	case !IsURL(name):
		return os.Open(name)
	}
	c, l, err := Find(name)
	if err != nil {
		return nil, err
	}
	return c.Open(l)
}

// Source opens census files, both local ones and objects in a store.
func Source() sink.Source { return sink.Source{File: Open} }

// censusName matches the names of census files.
var censusName = regexp.MustCompile(`\.(ndjson|jsonl|json)(\.gz|\.zst)?$`)

// Below returns the name itself or, if it is a prefix, the names of the files below it,
// in order: the census files or, if lists is set, all that may be lists of targets. It
// is an error if there are none. It leaves out folders, hidden files, and what a scan
// writes beside a census.
func Below(name string, lists bool) (names []string, err error) {
	if !IsURL(name) {
		return []string{name}, nil
	}
	c, l, err := Find(name)
	if err != nil || !l.IsPrefix() {
		return []string{name}, err
	}
	ctx, cancel := context.WithCancel(context.Background()) // ends a listing that is not read to its end
	defer cancel()
	for o := range c.api.Client.ListObjects(ctx, l.Bucket, minio.ListObjectsOptions{Prefix: l.Key, Recursive: true}) {
		if o.Err != nil {
			return nil, c.failure(l, o.Err)
		}
		base := o.Key[strings.LastIndexByte(o.Key, '/')+1:]
		beside := strings.HasSuffix(base, ".summary.json") || strings.HasSuffix(base, ".stats.json")
		if base != "" && base[0] != '.' && !beside && (lists || censusName.MatchString(base)) {
			names = append(names, Location{l.Bucket, o.Key}.String())
		}
	}
	if len(names) == 0 {
		return nil, &Error{Problem: "there is nothing to read below it", Err: fs.ErrNotExist,
			Hint: "check the prefix; census files end in .ndjson, .ndjson.zst or .ndjson.gz"}
	}
	return names, nil
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
		_ = opts.SetMatchETag(o.etag) // it refuses only an empty one
	}
	if o.offset > 0 {
		_ = opts.SetRange(o.offset, 0) // it refuses only a negative one
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
