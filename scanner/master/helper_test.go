package master_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// The simulated masters of these tests answer in memory, so that synctest can
// provide the clock.

// simulated returns a master for a fleet of 1024 places.
func simulated(t testing.TB, c fleet.MasterConfig) *fleet.Master {
	t.Helper()
	if !c.Fleet.Network.IsValid() {
		c.Fleet = fleet.Config{Network: netip.MustParsePrefix("127.42.0.0/23"), Ports: []uint16{27015, 27016}, Alive: 0.5}
	}
	m, err := fleet.NewMaster(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// dialMaster returns a UDPConfig.Dial that connects to the simulated master. A
// message written to a pipe is read as one message, like a datagram; the channel
// serves as the socket's buffer.
func dialMaster(m *fleet.Master) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		replies := make(chan []byte, 64)
		go func() {
			defer close(replies)
			buf := make([]byte, 2048)
			for {
				n, err := theirs.Read(buf)
				if err != nil {
					return
				}
				for _, datagram := range m.Reply(buf[:n]) {
					replies <- datagram
				}
			}
		}()
		go func() {
			defer theirs.Close()
			for datagram := range replies {
				if len(datagram) > 0 { // a pipe can't transport an empty one
					theirs.Write(datagram)
				}
			}
		}()
		return ours, nil
	}
}

// transport is the Transport of a WebConfig; it passes requests to the handler.
type transport struct{ http.Handler }

func (h transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.Handler == nil {
		return nil, net.ErrClosed
	}
	in, out := io.Pipe()
	w := &pipeWriter{head: make(chan *http.Response, 1), body: in, out: out, header: make(http.Header)}
	go func() {
		h.ServeHTTP(w, r)
		w.WriteHeader(http.StatusOK)
		out.Close()
	}()
	select {
	case response := <-w.head:
		response.Request = r
		return response, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// pipeWriter is a ResponseWriter whose body is read while it is being written.
type pipeWriter struct {
	head   chan *http.Response
	header http.Header
	body   io.ReadCloser
	out    *io.PipeWriter
	wrote  bool
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(code int) {
	if !w.wrote {
		w.wrote = true
		w.head <- &http.Response{StatusCode: code, Status: http.StatusText(code), Header: w.header, Body: w.body}
	}
}

func (w *pipeWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.out.Write(p)
}

// secret is the key of the tests.
const secret = "0123456789ABCDEF0123456789ABCDEF"

func testKey(t testing.TB) master.Key {
	t.Helper()
	k, err := master.ParseKey([]byte(secret + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// collect is a handle that records the addresses, and fails on a duplicate.
type collected map[netip.AddrPort]bool

func (c collected) handle(t testing.TB) func(*master.Server) error {
	return func(s *master.Server) error {
		if c[s.Addr] {
			t.Errorf("%v twice", s.Addr)
		}
		c[s.Addr] = true
		return nil
	}
}

// sameAs fails unless exactly the places of the fleet were collected.
func (c collected) sameAs(t testing.TB, m *fleet.Master) {
	t.Helper()
	n := 0
	for a := range m.Fleet.All() {
		n++
		if !c[a] {
			t.Fatalf("%v is missing, and %d of %d are there", a, len(c), n)
		}
	}
	if len(c) != n {
		t.Errorf("%d addresses, want %d", len(c), n)
	}
}

// wantError fails unless the error contains all of the words, is one printable line,
// and does not contain the key.
func wantError(t testing.TB, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	if strings.ContainsAny(err.Error(), "\n\r\x1b") {
		t.Errorf("%q is not one line", err)
	}
}
