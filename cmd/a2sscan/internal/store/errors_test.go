package store

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"
)

// TestClosed: a store that closes the connection gives one error, whatever the
// transport was doing then.
func TestClosed(t *testing.T) {
	c := &Client{endpoint: "127.0.0.1:1"}
	for _, cause := range []error{
		fmt.Errorf("net/http: HTTP/1.x transport connection broken: %w", &net.OpError{Op: "write", Net: "tcp", Err: net.ErrClosed}),
		&net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE},
		&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET},
		io.EOF,
		errors.New("Connection closed by foreign host http://127.0.0.1:1/. Retry again."),
	} {
		err := c.failure(Location{}, &url.Error{Op: "Put", URL: "http://127.0.0.1:1/", Err: cause})
		if !strings.HasSuffix(err.Error(), "closed the connection") || !IsPassing(err) {
			t.Errorf("%v: %v", cause, err)
		}
	}
}
