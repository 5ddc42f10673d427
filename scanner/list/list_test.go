package list

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/a2sscan/a2sscan/scanner/target"
)

func mustPorts(t testing.TB, list string) []uint16 {
	t.Helper()
	if list == "" {
		return nil
	}
	p, err := ParsePorts(list)
	check(t, err)
	return p
}

func mustOpen(t testing.TB, cfg Config) *List {
	t.Helper()
	l, err := Open(cfg)
	check(t, err)
	return l
}

func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	check(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// text returns a target as a line of a list.
func text(t target.Target) string {
	if t.Tag == "" {
		return t.Addr.String()
	}
	return t.Addr.String() + " " + t.Tag
}

func texts(seq iter.Seq[target.Target]) (out []string) {
	for t := range seq {
		out = append(out, text(t))
	}
	return out
}

// TestLine reads one line per test case. A case with neither targets nor a fault is
// a line that is skipped, excluded or unscannable.
func TestLine(t *testing.T) {
	tests := []struct {
		line  string
		ports string
		want  []string
		fault fault
		ipv6  uint64
	}{
		{line: "1.2.3.4:27015", want: []string{"1.2.3.4:27015"}},
		{line: "  \t1.2.3.4:1  \r", want: []string{"1.2.3.4:1"}},
		{line: "1.2.3.4", want: []string{"1.2.3.4:27015"}},
		{line: "1.2.3.4", ports: "5,1-2", want: []string{"1.2.3.4:5", "1.2.3.4:1", "1.2.3.4:2"}},
		{line: "1.2.3.4:9 x", ports: "5", want: []string{"1.2.3.4:9 x"}},
		{line: "1.2.3.4/31 lan", ports: "5", want: []string{"1.2.3.4:5 lan", "1.2.3.5:5 lan"}},
		{line: "1.2.3.4/32", ports: "5", want: []string{"1.2.3.4:5"}},
		{line: "1.2.3.4:1 tag", want: []string{"1.2.3.4:1 tag"}},
		{line: "1.2.3.4:1,tag", want: []string{"1.2.3.4:1 tag"}},
		{line: "1.2.3.4:1\t a b,c \t", want: []string{"1.2.3.4:1 a b,c"}},
		{line: "1.2.3.4:1,", want: []string{"1.2.3.4:1"}},
		{line: "1.2.3.4:1 # no comment", want: []string{"1.2.3.4:1 # no comment"}},
		{line: "1.2.3.4:1 \x1b[31m\xff\x00", want: []string{"1.2.3.4:1 \x1b[31m\xff\x00"}},
		{line: "1.2.3.4:5-7", want: []string{"1.2.3.4:5", "1.2.3.4:6", "1.2.3.4:7"}},
		{line: "1.2.3.4:9,5-6,9 x", want: []string{"1.2.3.4:9 x", "1.2.3.4:5 x", "1.2.3.4:6 x"}},
		{line: "1.2.3.4:1,2,two", want: []string{"1.2.3.4:1 2,two"}},
		{line: "1.2.3.4:1,271828", want: []string{"1.2.3.4:1 271828"}},
		{line: "1.2.3.4-1.2.3.5:6,8 x", ports: "5",
			want: []string{"1.2.3.4:6 x", "1.2.3.5:6 x", "1.2.3.4:8 x", "1.2.3.5:8 x"}},
		{line: "1.2.3.4 - 1.2.3.5:6 x", want: []string{"1.2.3.4:6 x", "1.2.3.5:6 x"}},
		{line: "1.2.3.4:1 - 1.2.3.5", want: []string{"1.2.3.4:1 - 1.2.3.5"}},
		{line: "1.2.3.4/31:6-7", want: []string{"1.2.3.4:6", "1.2.3.5:6", "1.2.3.4:7", "1.2.3.5:7"}},
		{line: "255.255.255.254-255.255.255.255:6"},
		{line: " \t\r"},
		{line: "  # 1.2.3.4:1"},

		{line: "1.2.3.4:0"}, // can't be queried
		{line: "1.2.3.4 27016", fault: faultStrayPort},
		{line: "1.2.3.4:5 a\r1.2.3.5:5 b\r1.2.3.6:5\r", fault: faultLineEnds},
		{line: "1.2.3.4:5\r1.2.3.5:5", fault: faultLineEnds},
		{line: "1.2.3.4:5 a\rb", want: []string{"1.2.3.4:5 a\rb"}},
		{line: "1.2.3.4, 27016", want: []string{"1.2.3.4:27016"}}, // columns
		{line: "1.2.3.4 27016", ports: "5", want: []string{"1.2.3.4:5 27016"}},
		{line: "1.2.3.4:5 27016", want: []string{"1.2.3.4:5 27016"}},
		{line: "1.2.3.4 0", want: []string{"1.2.3.4:27015 0"}},
		{line: "1.2.3.4 65536", want: []string{"1.2.3.4:27015 65536"}},
		{line: "1.2.3.4 27016 eu", fault: faultStrayPort},
		{line: "1.2.3.4,27016,udp,1", want: []string{"1.2.3.4:27016"}}, // columns
		{line: "1.2.3.4\t27016;eu", fault: faultStrayPort},
		{line: "1.2.3.4 64 slots", want: []string{"1.2.3.4:27015 64 slots"}},
		{line: "1.2.3.4:65536", fault: faultPort},
		{line: "1.2.3.4:18446744073709551617", fault: faultPort},
		{line: "1.2.3.4:", fault: faultPort},
		{line: "1.2.3.4:+1", fault: faultPort},
		{line: "1.2.3.4:27015x", fault: faultPort},
		{line: "1.2.3.4:27015/24", ports: "5", fault: faultPort},
		{line: "1.2.3.4:027015", fault: faultLeadingZero},
		{line: "1.2.3.256:1", fault: faultOctet},
		{line: "010.0.0.1", fault: faultLeadingZero},
		{line: "1.2.3.4.5", fault: faultAddress},
		{line: "1.2..4:1", fault: faultAddress},
		{line: "16909060", fault: faultAddress},
		{line: "example.com:27015", fault: faultAddress},
		{line: "1.2.3.4\x00:27015", fault: faultAddress},
		{line: "\xef\xbc\x91.2.3.4:1", fault: faultAddress},
		{line: "[2001:db8::1]:27015", ipv6: 1},
		{line: "fe80::1%eth0", ipv6: 1},
		{line: "::ffff:1.2.3.4", ipv6: 1},
		{line: "2001:db8::/32", ipv6: 1},
		{line: "1.2.3.0/24", fault: faultNoPorts},
		{line: "1.2.3.0/", ports: "5", fault: faultNetwork},
		{line: "1.2.3.0/-1", ports: "5", fault: faultNetwork},
		{line: "1.2.3.0/024", ports: "5", fault: faultLeadingZero},
		{line: "1.2.3.0/24x", ports: "5", fault: faultNetwork},
		{line: "1.2.3.0/24:", ports: "5", fault: faultPort},
		{line: "1.2.3.0/24:0", ports: "5", fault: faultPort},
		{line: "1.2.3.4:5,70000", fault: faultPorts},
		{line: "1.2.3.4:5,07", fault: faultPorts},
		{line: "1.2.3.4:7-5", fault: faultPorts},
		{line: "1.2.3.4:1-2-3", fault: faultPorts},
		{line: "1.2.3.4-1.2.3.3:5", fault: faultRange},
		{line: "1.2.3.4-1.2.3", ports: "5", fault: faultAddress},
		{line: "1.2.3.4-1.2.3.9/30", ports: "5", fault: faultAddress},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%q %s", test.line, test.ports), func(t *testing.T) {
			var bad []Invalid
			l := mustOpen(t, Config{InOrder: true,
				Stdin:   strings.NewReader(test.line + "\n"),
				Ports:   mustPorts(t, test.ports),
				Invalid: func(v Invalid) { bad = append(bad, v) },
			})
			if got := texts(l.From(0)); !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
			switch {
			case test.fault == "" && len(bad) > 0:
				t.Errorf("invalid: %v", bad)
			case test.fault != "" && (len(bad) != 1 || bad[0].Err != test.fault):
				t.Errorf("invalid: %v, want %v", bad, test.fault)
			}
			s := l.Stats()
			if s.Invalid != uint64(len(bad)) || s.Given != uint64(len(test.want)) || s.Unscannable < test.ipv6 {
				t.Errorf("stats: %+v", s)
			}
			if got := l.cfg.Exclusions.ipv6.targets.Load(); got != test.ipv6 {
				t.Errorf("%d IPv6 addresses", got)
			}
		})
	}
}

// TestFile reads a file with byte order marks, CRLF line ends, control characters,
// lines that are too long, and no newline at its end. The arguments name the file
// twice.
func TestFile(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	path := writeFile(t, "list.txt", "\xef\xbb\xbf1.0.0.1:1\r\n\r\n# comment\n"+
		"bad \x1b]0;title\a\xe2\x80\xae\xff\n"+ // line 4
		"1.0.0.2:2 "+long[:maxLine-11]+"\n"+ // the longest line that is valid
		"1.0.0.3:3 "+long[:maxLine-10]+"\n"+ // line 6
		"#"+long+long+"\n"+
		long+long+long+"\n"+ // line 8
		"\xef\xbb\xbf1.0.0.4:4\n"+ // of a file that was appended
		"1.0.0.5:5")
	var bad []string
	l := mustOpen(t, Config{InOrder: true,
		Args: []string{path, path},
		Invalid: func(v Invalid) {
			bad = append(bad, fmt.Sprintf("%d %.44s %v", v.Line, v.Text, v.Err))
			if v.File != show([]byte(path)) {
				t.Errorf("file %q, want %q", v.File, path)
			}
		},
	})
	want := []string{"1.0.0.1:1", "1.0.0.2:2 " + long[:maxLine-11], "1.0.0.4:4", "1.0.0.5:5"}
	if got := texts(l.From(0)); !slices.Equal(got, want) {
		t.Errorf("%.40q", got)
	}
	want = []string{
		`4 bad \x1b]0;title\a\u202e\xff not an IPv4 address`,
		`6 1.0.0.3:3 ` + long[:34] + ` the line is too long: at most 64 KiB, or 9 MiB for JSON`,
		`8 ` + long[:44] + ` the line is too long: at most 64 KiB, or 9 MiB for JSON`,
	}
	want = append(want, want...)
	if !slices.Equal(bad, want) {
		t.Errorf("invalid:\n%s\nwant:\n%s", strings.Join(bad, "\n"), strings.Join(want, "\n"))
	}
	if s := l.Stats(); s != (Stats{Read: 14, Invalid: 6, Duplicate: 4, Given: 4}) {
		t.Errorf("stats: %+v", s)
	}
	if l.Err() != nil {
		t.Error(l.Err())
	}
}

const overIPv6 = " (use IPv4 addresses; only Xash3D and CoD4X are known to answer over IPv6 as well)"

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	file := writeFile(t, "list.txt", "")
	tests := []struct {
		arg  string
		want string
	}{
		{"1.2.3.0/24", "1.2.3.0/24: a network needs ports (name the ports, such as --port 27015 or --port 27015-27020)"},
		{"1.2.3.0/33", "1.2.3.0/33: the prefix length is not a number from 0 to 32"},
		{"1.2.3.4:0", "1.2.3.4:0: the port is not a number from 1 to 65535"},
		{"1.2.3.4:70000", "1.2.3.4:70000: the port is not a number from 1 to 65535"},
		{"999.1.1.1", "999.1.1.1: a number of the IPv4 address is above 255"},
		{"010.0.0.1", "010.0.0.1: numbers must not begin with 0"},
		{"1.2.3", "1.2.3: not an IPv4 address"},
		{"::1", "::1: IPv6 addresses are not supported" + overIPv6},
		{"[::1]:27015", "[::1]:27015: IPv6 addresses are not supported" + overIPv6},
		{"example.com:27015", "example.com:27015: no such file, and not an IPv4 address or network"},
		{"list.txt", "list.txt: no such file, and not an IPv4 address or network"},
		{"https://example.com/list", "https://example.com/list: the target is a URL (save the list to a file, and name that file)"},
		{"a\x1b[2Jb", `a\x1b[2Jb: no such file, and not an IPv4 address or network`},
		{"", `"": a target is empty`},
		{dir, show([]byte(dir)) + ": is a directory (name the files in the directory)"},
		{file + "/x", show([]byte(file+"/x")) + ": can't be read: not a directory"},
	}
	for _, test := range tests {
		_, err := Open(Config{Args: []string{"1.2.3.4:5", test.arg}})
		var arg *ArgError
		if !errors.As(err, &arg) || err.Error() != test.want {
			t.Errorf("%q:\n     %v\nwant %v", test.arg, err, test.want)
		}
	}
}

func TestStdin(t *testing.T) {
	const list = "1.0.0.1:1\n"
	tests := []struct {
		name string
		cfg  Config
		want string // the expected error
	}{
		{"no arguments", Config{Stdin: strings.NewReader(list)}, ""},
		{"dash", Config{Args: []string{"-"}, Stdin: strings.NewReader(list)}, ""},
		{"terminal", Config{Stdin: strings.NewReader(list), StdinIsTerminal: true}, "no targets (name a file"},
		{"terminal that is asked for", Config{Args: []string{"-"}, Stdin: strings.NewReader(list), StdinIsTerminal: true}, ""},
		{"nothing", Config{}, "no targets (name a file"},
		{"nothing for dash", Config{Args: []string{"-"}}, "-: there is no standard input"},
		{"twice", Config{Args: []string{"-", "-"}, Stdin: strings.NewReader(list)}, "-: standard input is named twice"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.cfg.InOrder = true
			l, err := Open(test.cfg)
			if test.want != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.want) {
					t.Errorf("error %v, want %q", err, test.want)
				}
				return
			}
			check(t, err)
			if got := texts(l.From(0)); !slices.Equal(got, []string{"1.0.0.1:1"}) {
				t.Errorf("%q", got)
			}
		})
	}
}

// openFiles returns how many times this process has path open. It skips the test if
// there is no /proc.
func openFiles(t *testing.T, path string) (n int) {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("SKIPPED, OPEN FILES WERE NOT COUNTED: only Linux tells in /proc which are open")
	}
	for _, fd := range fds {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && to == path {
			n++
		}
	}
	return n
}

func TestStop(t *testing.T) {
	path := writeFile(t, "list.txt", "1.0.0.1:1\n1.0.0.2:1\n1.0.0.3:1\n")
	l := mustOpen(t, Config{InOrder: true, Args: []string{path, path}})
	if n := openFiles(t, path); n != 0 {
		t.Errorf("open before All: %d", n)
	}
	for range l.From(0) {
		if n := openFiles(t, path); n != 1 {
			t.Errorf("open while reading: %d", n)
		}
		break
	}
	if n := openFiles(t, path); n != 0 {
		t.Errorf("open after All: %d", n)
	}
	if got := texts(l.From(0)); got != nil {
		t.Errorf("a second All gives %q", got)
	}
	if s := l.Stats(); s != (Stats{Read: 1, Given: 1}) || l.Err() != nil {
		t.Errorf("stats: %+v, %v", s, l.Err())
	}
}

func TestMax(t *testing.T) {
	file := writeFile(t, "list.txt", "1.0.0.1:1\n1.0.0.1:1\nbad\n1.0.0.2:1\n1.0.0.3:1\n")
	for _, args := range [][]string{{file}, {"1.0.0.0/30"}, {"1.0.0.1", "1.0.0.2", "1.0.0.3"}} {
		l := mustOpen(t, Config{InOrder: true, Args: args, Ports: mustPorts(t, "1"), Max: 2})
		if got := texts(l.From(0)); len(got) != 2 {
			t.Errorf("%q: %q", args, got)
		}
		if _, part, known := l.Progress(); part != 1 || !known {
			t.Errorf("%q: progress %v, %v", args, part, known)
		}
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("the disk is gone")
	l := mustOpen(t, Config{InOrder: true, Stdin: io.MultiReader(
		strings.NewReader("1.0.0.1:1\n1.0.0.2:2"), iotest.ErrReader(broken))})
	if got := texts(l.From(0)); !slices.Equal(got, []string{"1.0.0.1:1"}) {
		t.Errorf("%q: a line may be cut by the error", got)
	}
	want := "standard input: can't be read: the disk is gone"
	if err := l.Err(); !errors.Is(err, broken) || err.Error() != want {
		t.Errorf("%v, want %v", err, want)
	}
	long := strings.Repeat("x", 2*maxLine)
	l = mustOpen(t, Config{InOrder: true, Stdin: io.MultiReader(strings.NewReader(long), iotest.ErrReader(broken))})
	texts(l.From(0))
	if err := l.Err(); !errors.Is(err, broken) {
		t.Errorf("in a long line: %v", err)
	}
}

func TestVanishedFile(t *testing.T) {
	path := writeFile(t, "list.txt", "1.0.0.1:1\n")
	l := mustOpen(t, Config{InOrder: true, Args: []string{"1.0.0.9:9", path, "1.0.0.8:8"}})
	check(t, os.Remove(path))
	if got := texts(l.From(0)); !slices.Equal(got, []string{"1.0.0.9:9"}) {
		t.Errorf("%q", got)
	}
	if err := l.Err(); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestProgress(t *testing.T) {
	var list strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&list, "1.0.%d.%d:1\n", i/256, i%256)
	}
	file := writeFile(t, "list.txt", list.String())
	stdin, err := os.Open(file)
	check(t, err)
	defer stdin.Close()
	for _, args := range [][]string{{file}, {"2.0.0.0/19"}, {"-"}} {
		l := mustOpen(t, Config{InOrder: true, Args: args, Ports: mustPorts(t, "1,2"), Stdin: stdin})
		if _, part, known := l.Progress(); part != 0 || !known {
			t.Errorf("%q: %v, %v before", args, part, known)
		}
		last := 0.0
		for range l.From(0) {
			_, part, _ := l.Progress()
			// While a file is read, Progress advances in steps of many lines.
			if part < last-0.1 || part > last+0.1 || part > 1 {
				t.Fatalf("%q: from %v to %v", args, last, part)
			}
			last = part
		}
		if last < 0.9 {
			t.Errorf("%q: %v just before the end", args, last)
		}
		if _, part, known := l.Progress(); part != 1 || !known {
			t.Errorf("%q: %v, %v after", args, part, known)
		}
	}
	for _, args := range [][]string{{"-"}, {file, "2.0.0.0/19"}} {
		l := mustOpen(t, Config{InOrder: true, Args: args, Ports: mustPorts(t, "1"), Stdin: strings.NewReader("")})
		if _, _, known := l.Progress(); known {
			t.Errorf("%q: the length is known", args)
		}
	}
}

func TestPorts(t *testing.T) {
	tests := []struct{ list, want string }{
		{"27015", "27015"},
		{"27015,27016-27019", "27015,27016,27017,27018,27019"},
		{" 5 , 1 - 3 ", ""},
		{"5, 1-3 ,2,5", "5,1,2,3"},
		{"65535,1", "65535,1"},
		{"1-65535", "1-65535"},
		{"", ""},
		{"0", ""},
		{"70000", ""},
		{"3-1", ""},
		{"-1", ""},
		{"1-2-3", ""},
		{"01", ""},
	}
	for _, test := range tests {
		p, err := ParsePorts(test.list)
		if (err == nil) != (test.want != "") {
			t.Errorf("%q: %v", test.list, err)
		}
		got := strings.Trim(strings.ReplaceAll(fmt.Sprint(p), " ", ","), "[]")
		if err == nil && got != test.want && len(p) < 65535 {
			t.Errorf("%q: %s, want %s", test.list, got, test.want)
		}
	}
	if p := mustPorts(t, "1-65535"); len(p) != 65535 {
		t.Errorf("%d ports", len(p))
	}
}

func TestShow(t *testing.T) {
	tests := []struct{ text, want string }{
		{"plain text: \"é\" \\ 日本", "plain text: \"é\" \\ 日本"},
		{"\x00\t\r\n\x1b\x7f\"", `\x00\t\r\n\x1b\x7f"`},
		{"\u0085\u009b", `\u0085\u009b`},
		{"\u202e\u2066\u200b\ufeff", `\u202e\u2066\u200b\ufeff`},
		{"\xff\xc3", `\xff\xc3`},
		{"\ufffd", "\ufffd"},
		{strings.Repeat("é", maxShown/2), strings.Repeat("é", maxShown/2)},
		{"a" + strings.Repeat("é", maxShown), "a" + strings.Repeat("é", maxShown/2-1) + "…"},
	}
	for _, test := range tests {
		if got := show([]byte(test.text)); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
