package flagvalue

import (
	"errors"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink"
)

// Rotation is the value of a flag for the size or the time after which a part of a
// census ends: 1G, 256M, 1h. The zero value means that the census is one file.
type Rotation struct {
	size  int64 // bytes
	every time.Duration
}

// These are the minimum size in bytes and the minimum duration of a part. Smaller
// parts would have only a few records each.
const (
	minPartSize = 100_000
	minPartTime = time.Second
)

// Set parses a duration, or a number followed by k, M, G or T, which are powers of
// 1000.
func (r *Rotation) Set(s string) error {
	if every, err := time.ParseDuration(s); err == nil && every >= minPartTime {
		*r = Rotation{every: every}
		return nil
	}
	n, err := scaled(s)
	if err != nil || n < minPartSize || n > 1e15 {
		return errors.New("want a size from 100k such as 256M or 1G, or a time from 1s such as 1h")
	}
	*r = Rotation{size: int64(n)}
	return nil
}

func (r *Rotation) String() string {
	switch {
	case r.every > 0:
		return r.every.String()
	case r.size > 0:
		return console.Bytes(uint64(r.size))
	}
	return ""
}

func (r *Rotation) Type() string { return "SIZE|TIME" }

// On reports whether the census is divided into parts.
func (r *Rotation) On() bool { return *r != Rotation{} }

// Size returns the number of bytes after which a part ends; 0: no limit.
func (r *Rotation) Size() int64 { return r.size }

// Plan returns how to divide the census of a scan that began at start.
func (r *Rotation) Plan(start time.Time) *sink.Rotation {
	return &sink.Rotation{Start: start, Size: r.size, Every: r.every}
}
