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

// The simulated masters of these tests answer in memory, so that the tests can use
// the clock of synctest.

// simulated returns a simulated master. If c.Fleet is empty, the list has 1024
// addresses.
func simulated(t testing.TB, c fleet.MasterConfig) *fleet.Master {
	t.Helper()
	if !c.Fleet.Network.IsValid() {
		c.Fleet = fleet.Config{Network: netip.MustParsePrefix("127.42.0.0/23"), Ports: []uint16{27015, 27016}, Alive: 0.5}
	}
	m, err := fleet.NewMaster(c)
	check(t, err)
	return m
}

// dialMaster returns a UDPConfig.Dial that connects to the simulated master.
// net.Pipe keeps the boundaries of messages, as UDP does; the channel replaces the
// socket's receive buffer.
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
				if len(datagram) > 0 { // TestFetchUDPFaults expects one foreign datagram per page, not two
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

// secret is the Web API key in these tests.
const secret = "0123456789ABCDEF0123456789ABCDEF"

func testKey(t testing.TB) master.Key {
	t.Helper()
	k, err := master.ParseKey([]byte(secret + "\n"))
	check(t, err)
	return k
}

// collected is the set of addresses that handle has received. handle fails the test
// if an address is passed twice.
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

// filter parses a filter that is known to be right.
func filter(s string) master.Filter {
	f, err := master.ParseFilter(s)
	if err != nil {
		panic(err)
	}
	return f
}

// sameAs fails the test if c is not exactly the set of addresses of the fleet.
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

// wantError fails the test if the error does not contain all of the words, or if it
// contains a line break or an escape character.
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

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
