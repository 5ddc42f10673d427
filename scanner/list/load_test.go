package list

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

// TestStrict checks that Load returns the first invalid line of a strict list as an
// error. In input order Load does not read standard input, because that can be read
// only once. There, All yields the targets before the invalid line, and Err returns
// the error.
func TestStrict(t *testing.T) {
	const list = "8.0.0.1:1\n8.0.0.2:1 tag\nbad line\n8.0.0.3:1\nworse\n"
	file := writeFile(t, "list.txt", list)
	tests := []struct {
		name  string
		cfg   Config
		load  bool // Load returns the error
		given int
	}{
		{"random", Config{Args: []string{file}}, true, 0},
		{"random, from a pipe", Config{Stdin: strings.NewReader(list)}, true, 0},
		{"input", Config{InOrder: true, Args: []string{"8.0.0.9:1", file}}, true, 0},
		{"input, from a pipe", Config{InOrder: true, Stdin: strings.NewReader(list)}, false, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.cfg.Strict = true
			test.cfg.Invalid = func(v Invalid) { t.Errorf("reported too: %v", v) }
			l := mustOpen(t, test.cfg)
			err := l.Load(t.Context())
			if (err != nil) != test.load {
				t.Errorf("Load: %v", err)
			}
			if got := texts(l.From(0)); len(got) != test.given {
				t.Errorf("%q", got)
			}
			var bad Invalid
			if !errors.As(l.Err(), &bad) || bad.Line != 3 || bad.Text != "bad line" || bad.Err != faultAddress {
				t.Errorf("%v", l.Err())
			}
		})
	}
	for _, inOrder := range []bool{false, true} {
		l := mustOpen(t, Config{InOrder: inOrder, Strict: true, Args: []string{writeFile(t, "good.txt", "8.0.0.1:1\n# bad line\n")}})
		if got := texts(l.From(0)); len(got) != 1 || l.Err() != nil {
			t.Errorf("%v, a good list: %q, %v", inOrder, got, l.Err())
		}
	}
}

// names is a Config.Resolve that knows the host names of these tests.
func names(_ context.Context, host string) ([]netip.Addr, error) {
	known := map[string][]netip.Addr{
		"one.example":  {netip.MustParseAddr("8.0.0.1")},
		"two.example":  {netip.MustParseAddr("8.0.0.2"), netip.MustParseAddr("::ffff:8.0.0.3"), netip.MustParseAddr("2001:db8::1")},
		"six.example":  {netip.MustParseAddr("2001:db8::1")},
		"home.example": {netip.MustParseAddr("127.0.0.1")},
	}
	if addrs, ok := known[host]; ok {
		return addrs, nil
	}
	return nil, errors.New("no such host")
}

func TestResolve(t *testing.T) {
	const list = "one.example:5 a\n8.0.0.7:7\ntwo.example\n8.0.0.2:27015\nsix.example\nnone.example:1\n" +
		"home.example\none.example:0\none.example:5\n::1\n1.2.3.999\nnot a name!\n"
	want := []string{"8.0.0.1:5 a", "8.0.0.7:7", "8.0.0.2:27015", "8.0.0.3:27015"}
	wantBad := []string{
		"5 six.example the name has no IPv4 address",
		"6 none.example:1 looking up the host name failed: no such host",
		"8 one.example:0 the port is not a number from 1 to 65535",
		"11 1.2.3.999 a number of the IPv4 address is above 255",
		"12 not a name! looking up the host name failed: no such host",
	}
	for _, inOrder := range []bool{false, true} {
		var bad []string
		var lookups atomic.Int32
		l := mustOpen(t, Config{InOrder: inOrder, Stdin: strings.NewReader(list),
			Resolve: func(ctx context.Context, host string) ([]netip.Addr, error) {
				lookups.Add(1)
				return names(ctx, host)
			},
			Invalid: func(v Invalid) { bad = append(bad, fmt.Sprint(v.Line, " ", v.Text, " ", v.Err)) }})
		got := texts(l.From(0))
		if !inOrder {
			slices.Sort(got)
		}
		sorted := slices.Clone(want)
		if !inOrder {
			slices.Sort(sorted)
		}
		if !slices.Equal(got, sorted) {
			t.Errorf("%v: %q", inOrder, got)
		}
		slices.SortStableFunc(bad, func(a, b string) int { return lineOf(a) - lineOf(b) })
		wantBad[4] = bad[4]
		if !slices.Equal(bad, wantBad) {
			t.Errorf("%v:\n%s", inOrder, strings.Join(bad, "\n"))
		}
		s := l.Stats()
		if s.Given != 4 || s.Duplicate != 2 || s.Excluded != 1 || s.Invalid != 5 || s.Unscannable != 1 || s.Read != 13 || lookups.Load() != 7 {
			t.Errorf("%v: %+v, %d lookups", inOrder, s, lookups.Load())
		}
	}
}

func lineOf(s string) (n int) {
	fmt.Sscan(s, &n)
	return n
}

// TestResolveArgument checks that host names among the arguments are looked up in
// both orders, and that host names in lists are looked up only if OnlyArgs is not
// set.
func TestResolveArgument(t *testing.T) {
	file := writeFile(t, "names.txt", "one.example:5\n")
	for _, test := range []struct {
		name string
		cfg  Config
		want []string
		bad  int
	}{
		{"input order", Config{InOrder: true}, []string{"8.0.0.2:9", "8.0.0.3:9", "8.0.0.8:8", "8.0.0.1:5"}, 0},
		{"random order", Config{}, []string{"8.0.0.1:5", "8.0.0.2:9", "8.0.0.3:9", "8.0.0.8:8"}, 0},
		{"only arguments", Config{InOrder: true, OnlyArgs: true}, []string{"8.0.0.2:9", "8.0.0.3:9", "8.0.0.8:8"}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			bad := 0
			test.cfg.Args = []string{"two.example:9", "8.0.0.8:8", file}
			test.cfg.Resolve, test.cfg.Invalid = names, func(Invalid) { bad++ }
			got := texts(mustOpen(t, test.cfg).From(0))
			if !test.cfg.InOrder {
				slices.Sort(got)
			}
			if !slices.Equal(got, test.want) || bad != test.bad {
				t.Errorf("%q, %d bad lines", got, bad)
			}
		})
	}
	if _, err := Open(Config{Args: []string{"two.example:9"}}); err == nil {
		t.Error("a name without Resolve")
	}
}

// TestResolveArgumentFails checks that Load returns an error, and no target is
// yielded, if a host name among the arguments is not found. It may be a mistyped
// file name.
func TestResolveArgumentFails(t *testing.T) {
	for arg, want := range map[string]string{
		"none.example":   "none.example: no such file, and looking up the host name failed: no such host",
		"none.example:7": "none.example:7: no such file, and looking up the host name failed: no such host",
		"six.example":    "six.example: no such file, and the name has no IPv4 address",
	} {
		for _, inOrder := range []bool{false, true} {
			l := mustOpen(t, Config{InOrder: inOrder, Args: []string{"8.0.0.8:8", arg}, Resolve: names, OnlyArgs: true})
			err := l.Load(t.Context())
			if _, ok := errors.AsType[*ArgError](err); !ok || err.Error() != want {
				t.Errorf("%s, %v: %v", arg, inOrder, err)
			}
			if got := texts(l.From(0)); len(got) > 0 {
				t.Errorf("%s, %v: gave out %q", arg, inOrder, got)
			}
		}
	}
	_, err := Open(Config{Args: []string{"one.example:0"}, Resolve: names})
	if !errors.Is(err, faultPort) {
		t.Errorf("port 0: %v", err)
	}
}

// TestHostArg checks which arguments are taken for host names. Arguments that
// look like file names, such as servers.txt, are not.
func TestHostArg(t *testing.T) {
	for arg, want := range map[string]bool{
		"play.example.com": true, "play.example.com:27016": true, "localhost": true, "box:1": true, "a_b.example": true,
		"servers.txt": false, "SERVERS.CSV": false, "census.ndjson.zst": false, "list.gz": false,
		"nights/list": false, "1.2.3": false, "1.2.3.4:5": false, "": false, "-x": false, ".hidden": false, "a b": false, "::1": false,
	} {
		if got := isHostArg(arg); got != want {
			t.Errorf("%q: %v", arg, got)
		}
	}
}

// TestResolveEnough checks, for text and CSV, that the targets queued behind a host
// name are not yielded once Config.Max is reached or the caller has stopped All.
func TestResolveEnough(t *testing.T) {
	for _, list := range []string{
		"two.example:1\none.example:2\n8.0.0.7:7\n",
		"ip,port\ntwo.example,1\none.example,2\n8.0.0.7,7\n",
	} {
		l := mustOpen(t, Config{InOrder: true, Stdin: strings.NewReader(list), Resolve: names, Max: 1})
		if got := texts(l.From(0)); len(got) != 1 || l.Stats().Given != 1 {
			t.Errorf("%q, given %d, want 1 target", got, l.Stats().Given)
		}
		l = mustOpen(t, Config{InOrder: true, Stdin: strings.NewReader(list), Resolve: names})
		for range l.From(0) {
			break
		}
		if l.Stats().Given != 1 {
			t.Errorf("given %d, want 1", l.Stats().Given)
		}
	}
}

// TestResolvePort checks that a host name is not queried at the default port if its row or
// its tag has a port.
func TestResolvePort(t *testing.T) {
	for list, want := range map[string]fault{
		"one.example 27016\n":                         faultStrayPort,
		"steam://connect/one.example 27016\n":         faultStrayPort,
		`{"host":"one.example","steam_port":27016}`:   faultPortColumn,
		"host,steam_port\none.example,27016\n":        faultPortColumn,
		"one.example:5 27016\n":                       "",
		`{"host":"one.example:5","steam_port":27016}`: "",
	} {
		var bad []error
		l := mustOpen(t, Config{Stdin: strings.NewReader(list), Resolve: names, Invalid: func(v Invalid) { bad = append(bad, v.Err) }})
		if got := texts(l.From(0)); len(bad)+len(got) != 1 || (len(bad) > 0) != (want != "") || len(bad) > 0 && bad[0] != want {
			t.Errorf("%q: %q, invalid: %v, want %q", list, got, bad, want)
		}
	}
}

// TestResolveBounded checks that maxLookups host names are looked up at the same
// time, and that their targets are yielded in the order of the names.
func TestResolveBounded(t *testing.T) {
	var list strings.Builder
	const n = 3000
	for i := range n {
		fmt.Fprintf(&list, "h%d.example:1\n", i)
	}
	synctest.Test(t, func(t *testing.T) {
		var now atomic.Int64
		answer := make(chan struct{})
		l := mustOpen(t, Config{InOrder: true, Stdin: strings.NewReader(list.String()),
			Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
				now.Add(1)
				<-answer
				var i uint32
				fmt.Sscanf(host, "h%d.example", &i)
				return []netip.Addr{addrOf(0x08000000 + i)}, nil
			}})
		go func() {
			synctest.Wait()
			if at := now.Load(); at != maxLookups {
				t.Errorf("%d lookups at once, want %d", at, maxLookups)
			}
			close(answer)
		}()
		i := uint32(0)
		for tg := range l.From(0) {
			if ipOf(tg.Addr.Addr()) != 0x08000000+i {
				t.Fatalf("%v is number %d", tg.Addr, i)
			}
			i++
		}
		if i != n {
			t.Errorf("%d targets", i)
		}
	})
}

// TestInputs checks what Inputs reports about a file and standard input, and that
// SHA256 stays empty if a list was not read to its end.
func TestInputs(t *testing.T) {
	one := "8.0.0.1:1\nbad\n8.0.0.2:1\n8.0.0.2:1\n"
	two := strings.Repeat("8.0.0.3:1 and much more\n", 100_000)
	file := writeFile(t, "one.txt", one)
	sum := func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
	for _, inOrder := range []bool{false, true} {
		l := mustOpen(t, Config{InOrder: inOrder, Args: []string{"9.9.9.9:9", file, "-"}, Stdin: iotest.HalfReader(strings.NewReader(two))})
		texts(l.From(0))
		want := []Input{
			{Name: show([]byte(file)), Format: "text", Bytes: int64(len(one)), SHA256: sum(one), Targets: 3, Invalid: 1},
			{Name: "standard input", Format: "text", Bytes: int64(len(two)), SHA256: sum(two), Targets: 100_000},
		}
		if got := l.Inputs(); !slices.Equal(got, want) {
			t.Errorf("%v: %+v\nwant %+v", inOrder, got, want)
		}
	}
	l := mustOpen(t, Config{InOrder: true, Args: []string{file}, Max: 1})
	texts(l.From(0))
	if got := l.Inputs()[0]; got.SHA256 != "" {
		t.Errorf("the sum of a list that was not read to its end: %+v", got)
	}
}

// TestLoadCancel cancels Load while it waits for input, reads, or looks up a host
// name.
func TestLoadCancel(t *testing.T) {
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	l := mustOpen(t, Config{Stdin: r})
	go func() {
		io.WriteString(w, "8.0.0.1:1\n")
		cancel() // while Load waits for more
	}()
	if err := l.Load(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("while waiting: %v", err)
	}
	if got := texts(l.From(0)); got != nil || !errors.Is(l.Err(), context.Canceled) {
		t.Errorf("after that: %q, %v", got, l.Err())
	}
	ctx, cancel = context.WithCancel(t.Context())
	l = mustOpen(t, Config{Stdin: endless{cancel, new(int)}})
	if err := l.Load(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("while reading: %v", err)
	}
	l = mustOpen(t, Config{Stdin: strings.NewReader("slow.example\n"),
		Resolve: func(ctx context.Context, _ string) ([]netip.Addr, error) { <-ctx.Done(); return nil, ctx.Err() }})
	ctx, cancel = context.WithCancel(t.Context())
	context.AfterFunc(ctx, func() {})
	go cancel()
	if err := l.Load(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("during a lookup: %v", err)
	}
}

// endless is a list without an end. Its tenth Read calls stop.
type endless struct {
	stop func()
	n    *int
}

func (e endless) Read(p []byte) (int, error) {
	if *e.n++; *e.n == 10 {
		e.stop()
	}
	return copy(p, strings.Repeat("8.0.0.1:1\n", 100)), nil
}

// TestListed checks that Listed counts targets that are named one by one. It does
// not count those of a network, a range, or an address with several ports.
func TestListed(t *testing.T) {
	file := writeFile(t, "list.txt", "8.0.0.1:1\n8.0.0.2:1\n8.0.1.0/28:5\n8.0.1.0/28:5\n9.0.0.0/24:1\n")
	for _, test := range []struct {
		args         []string
		ports        string
		size, listed uint64
	}{
		{[]string{"8.0.0.1:1"}, "", 1, 1},
		{[]string{"8.0.0.1"}, "7", 1, 1},
		{[]string{"8.0.0.1"}, "7,8,9", 3, 0},
		{[]string{"8.0.0.0/28"}, "7", 16, 0},
		{[]string{"8.0.0.0/16"}, "7", 65536, 0},
		{[]string{"8.0.0.0/28", "8.1.0.0/16", "8.0.3.1-8.0.3.4", "8.4.0.1:7"}, "7", 65536 + 21, 1},
		// The file names the small network twice, and Listed subtracts its targets
		// twice.
		{[]string{file}, "", 18 + 256, 0},
	} {
		cfg := Config{Args: test.args}
		if test.ports != "" {
			ports, err := ParsePorts(test.ports)
			check(t, err)
			cfg.Ports = ports
		}
		l := mustOpen(t, cfg)
		check(t, l.Load(t.Context()))
		if size, _ := l.Size(); size != test.size || l.Listed() != test.listed {
			t.Errorf("%q: %d of %d, want %d of %d", test.args, l.Listed(), size, test.listed, test.size)
		}
	}
}

// closer counts its Close calls.
type closer struct {
	io.Reader
	closed *int
}

func (c closer) Close() error { *c.closed++; return nil }

// TestSources checks that a Source is opened and closed once even if its name is
// "-", and that standard input is not read if there is a Source but no argument.
func TestSources(t *testing.T) {
	for _, inOrder := range []bool{true, false} {
		opened, closed := 0, 0
		const list = "8.0.0.1:1 a tag\nnonsense\n8.0.0.2:1\n"
		bad := ""
		l, err := Open(Config{
			InOrder: inOrder,
			Stdin:   strings.NewReader("8.0.0.9:9\n"),
			Sources: []Source{{Name: stdin, Size: int64(len(list)), Open: func() (io.ReadCloser, error) {
				opened++
				return closer{strings.NewReader(list), &closed}, nil
			}}},
			Invalid: func(v Invalid) { bad = v.Error() },
		})
		check(t, err)
		got := map[string]bool{}
		for target := range l.From(0) {
			got[target.Addr.String()+target.Tag] = true
		}
		if len(got) != 2 || !got["8.0.0.1:1a tag"] || !got["8.0.0.2:1"] || opened != 1 || closed != 1 {
			t.Errorf("%v: %v, opened %d times, closed %d times", inOrder, got, opened, closed)
		}
		in := l.Inputs()
		if len(in) != 1 || in[0].Name != "-" || in[0].Targets != 2 || in[0].Invalid != 1 || in[0].Bytes != int64(len(list)) {
			t.Errorf("%v: %+v", inOrder, in)
		}
		if want := `-:2: not an IPv4 address: "nonsense"`; bad != want {
			t.Errorf("%s, want %s", bad, want)
		}
	}
}

// TestSourceFails checks that Err names a Source that can't be opened.
func TestSourceFails(t *testing.T) {
	l, err := Open(Config{Sources: []Source{{Name: "the master", Size: -1, Open: func() (io.ReadCloser, error) {
		return nil, errors.New("gone")
	}}}})
	check(t, err)
	for range l.From(0) {
		t.Error("a target")
	}
	if got := fmt.Sprint(l.Err()); got != "the master: can't be read: gone" {
		t.Errorf("%s", got)
	}
}
