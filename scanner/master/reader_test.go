package master_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/a2sscan/a2sscan/scanner/master"
)

const atAddress = `{"response":{"success":true,"servers":[{"addr":"203.0.113.7:27015","gmsindex":-1,` +
	`"steamid":"5","appid":440,"gamedir":"tf","region":255,"secure":true,"lan":false,"gameport":27015,"specport":0}]}}`

func TestSniff(t *testing.T) {
	tests := []struct {
		name, first string
		want        master.Kind
	}{
		{"pages", header + "\xCB\x00\x71\x07\x69\x87", master.KindPages},
		{"the first bytes of pages", header[:3], master.KindPages},
		{"another message", "\xFF\xFF\xFF\xFFI\x11", master.KindText},
		{"GetServerList", `{"response":{"servers":[{"addr":"1.2.3.4:5","gameport":5}]}}`, master.KindWeb},
		{"GetServerList, spread out", "\xEF\xBB\xBF\r\n{\n\t\"response\": {\n\t\t\"servers\": [\n", master.KindWeb},
		{"an array of servers", `[{"addr":"1.2.3.4:5"}]`, master.KindWeb},
		{"an array, spread out", "[\n  {\n    \"addr\": \"1.2.3.4:5\"", master.KindWeb},
		{"an empty array", "[ ]", master.KindWeb},
		{"half an array", "[", master.KindText},
		{"IPv6", "[::1]:27015\n", master.KindText},
		{"nothing found", `{"response":{}}`, master.KindWeb},
		{"GetServersAtAddress", atAddress, master.KindAtAddress},
		{"GetServersAtAddress without success", `{"response":{"servers":[{"addr":"1.2.3.4:5","gmsindex":-1`, master.KindAtAddress},
		{"GetServersAtAddress, refused", `{"response":{"success":false,"message":"no"}}`, master.KindAtAddress},
		{"a census", `{"schema":1,"scan":"x","ip":"1.2.3.4","port":5,"master":{"appid":1}}`, master.KindText},
		{"lines of elements", `{"addr":"1.2.3.4:5","appid":440}` + "\n" + `{"ip"`, master.KindLines},
		{"lines with a game folder", `{"addr":"1.2.3.4:5","gamedir":"tf"}`, master.KindLines},
		{"lines of addresses", `{"addr":"1.2.3.4:5"}`, master.KindText},
		{"an empty object", `{}`, master.KindText},
		{"text", "203.0.113.7:27015\n", master.KindText},
		{"text with a tag", "# {\"response\"\n", master.KindText},
		{"nothing", "", master.KindText},
		{"white space", " \n", master.KindText},
		{"HTML", "<html>", master.KindText},
		{"UTF-16", "\xFF\xFE1\x00", master.KindText},
	}
	for _, test := range tests {
		if got := master.Sniff([]byte(test.first)); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// read returns all servers of a list, and checks their number in Stats.
func read(t testing.TB, in io.Reader) (servers []master.Server, r *master.Reader) {
	t.Helper()
	r, err := master.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
		servers = append(servers, *r.Server())
	}
	if r.Next() {
		t.Error("a server after the last")
	}
	if n := r.Stats().Servers; n != uint64(len(servers)) {
		t.Errorf("%d servers counted, %d read", n, len(servers))
	}
	return servers, r
}

func addrs(servers []master.Server) string {
	var texts []string
	for i := range servers {
		texts = append(texts, servers[i].Addr.String())
	}
	return strings.Join(texts, " ")
}

// TestReader checks lists of every Kind. It reads short lists also in small pieces.
func TestReader(t *testing.T) {
	const (
		a, b = "\xCB\x00\x71\x07\x69\x87", "\x01\x02\x03\x04\x00\x50"
		end  = "\x00\x00\x00\x00\x00\x00"
		ab   = "203.0.113.7:27015 1.2.3.4:80"
	)
	junk := `,"junk":"` + strings.Repeat("x", 9<<20) + `"}`
	long := `{"ip":"9.9.9.9","port":9,"addr":"9.9.9.9:9"` + junk + "\n"
	tests := []struct {
		name, list string
		kind       master.Kind
		want       string
		err        error
		stats      master.ReadStats // without Servers
	}{
		{"pages", header + a + header + b + end, master.KindPages, ab, nil, master.ReadStats{Pages: 2}},
		{"lists of pages", header + a + end + header + b + end, master.KindPages, ab, nil, master.ReadStats{Pages: 2}},
		{"no terminator", header + a + b, master.KindPages, ab, nil, master.ReadStats{Pages: 1}},
		{"empty pages", header + header + end + header, master.KindPages, "", nil, master.ReadStats{Pages: 3}},
		{"a page cut off between others", header + a + b[:4] + header + b + end, master.KindPages, ab, nil, master.ReadStats{Pages: 2, Truncated: 1}},
		{"cut off after a byte", header + a + b[:1] + header + b, master.KindPages, ab, nil, master.ReadStats{Pages: 2, Truncated: 1}},
		{"cut off at the end", header + a + b + a[:5], master.KindPages, ab, master.ErrTruncated, master.ReadStats{Pages: 1, Truncated: 1}},
		{"cut off in a header", header + a + b + header[:4], master.KindPages, ab, master.ErrTruncated, master.ReadStats{Pages: 1, Truncated: 1}},
		{"bytes behind the terminator", header + a + end + "hello" + header + b, master.KindPages, ab, nil, master.ReadStats{Pages: 2, Stray: 5}},
		{"bytes at the end", header + a + b + end + "good bye, this is the end", master.KindPages, ab, nil, master.ReadStats{Pages: 1, Stray: 25}},
		{"no servers", header + end, master.KindPages, "", nil, master.ReadStats{Pages: 1}},
		{"unscannable", header + "\x00\x00\x00\x00\x69\x87" + "\x01\x02\x03\x04\x00\x00" + end, master.KindPages, "0.0.0.0:27015 1.2.3.4:0", nil, master.ReadStats{Pages: 1}},

		{"an answer", `{"response":{"servers":[{"addr":"203.0.113.7:27015"},{"addr":"1.2.3.4:80"}]}}`, master.KindWeb, ab, nil, master.ReadStats{}},
		{"two answers", `{"response":{"servers":[{"addr":"203.0.113.7:27015"}]}}` + "\n" + `{"response":{}}{"response":{"servers":[{"addr":"1.2.3.4:80"}]}} `, master.KindWeb, ab, nil, master.ReadStats{}},
		{"other keys", "\xEF\xBB\xBF" + `{"response":{"x":[1,{"servers":2}],"servers":[{"addr":"203.0.113.7:27015","y":{"addr":"9.9.9.9:9"}},{"addr":"1.2.3.4:80"}],"z":{}},"w":[]}`, master.KindWeb, ab, nil, master.ReadStats{}},
		{"nothing found", `{"response":{}}`, master.KindWeb, "", nil, master.ReadStats{}},
		{"no list", `{"response":{"servers":[]}}`, master.KindWeb, "", nil, master.ReadStats{}},
		{"entries that are none", `{"response":{"servers":[{"addr":"203.0.113.7:27015","players":"many"},{},[],5,{"addr":"x"},{"addr":"1.2.3.4"},{"addr":"1.2.3.4:80"}]}}`, master.KindWeb, ab, nil, master.ReadStats{Invalid: 5, Odd: 1}},
		{"an answer cut off", `{"response":{"servers":[{"addr":"203.0.113.7:27015"},{"addr":"1.2.3.4:80"},{"ad`, master.KindWeb, ab, master.ErrTruncated, master.ReadStats{}},
		{"cut off behind the servers", `{"response":{"servers":[{"addr":"203.0.113.7:27015"},{"addr":"1.2.3.4:80"}]`, master.KindWeb, ab, master.ErrTruncated, master.ReadStats{}},
		{"an answer that is none", `{"response":{"servers":[{"addr":"203.0.113.7:27015"},{"addr":"1.2.3.4:80"},{]}}`, master.KindWeb, ab, master.ErrMalformed, master.ReadStats{}},
		{"servers that are no list", `{"response":{"servers":{"addr":"1.2.3.4:80"}}}`, master.KindWeb, "", master.ErrMalformed, master.ReadStats{}},
		{"no response", `{"response":null}`, master.KindWeb, "", master.ErrMalformed, master.ReadStats{}},
		{"something else behind it", `{"response":{"servers":[{"addr":"203.0.113.7:27015"},{"addr":"1.2.3.4:80"}]}} [1]`, master.KindWeb, ab, master.ErrMalformed, master.ReadStats{}},
		{"too large an entry", `{"response":{"servers":[{"addr":"203.0.113.7:27015"},{"addr":"1.2.3.4:80"},` + strings.TrimSpace(long) + `]}}`, master.KindWeb, ab, master.ErrTooLarge, master.ReadStats{}},

		{"a large answer", `{"response":{"servers":[{"addr":"203.0.113.7:27015"` + junk[:6<<20] + `"},{"addr":"1.2.3.4:80"` + junk[:6<<20] + `"}]}}`, master.KindWeb, ab, nil, master.ReadStats{}},

		{"an array", "[\n {\"addr\":\"203.0.113.7:27015\"},\n {},{\"addr\":\"1.2.3.4:80\"} ]\n", master.KindWeb, ab, nil, master.ReadStats{Invalid: 1}},
		{"an empty array", "\xEF\xBB\xBF[]", master.KindWeb, "", nil, master.ReadStats{}},
		{"an array cut off", `[{"addr":"203.0.113.7:27015"},{"addr":"1.2.3.4:80"},`, master.KindWeb, ab, master.ErrTruncated, master.ReadStats{}},
		{"something else behind an array", `[{"addr":"203.0.113.7:27015"},{"addr":"1.2.3.4:80"}]}`, master.KindWeb, ab, master.ErrMalformed, master.ReadStats{}},

		{"at an address", atAddress, master.KindAtAddress, "203.0.113.7:27015", nil, master.ReadStats{}},
		{"refused", `{"response":{"success":false,"message":"no"}}`, master.KindAtAddress, "", master.ErrMalformed, master.ReadStats{}},

		{"elements", `{"addr":"203.0.113.7:27015","players":3,"appid":440}` + "\r\n\n" + `{"addr":"1.2.3.4:80"}` + "\n", master.KindLines, ab, nil, master.ReadStats{}},
		{"lines that are none", `{"addr":"203.0.113.7:27015","appid":440}` + "\n" + `{"name":"x"}` + "\nhello\n{\"addr\":\n[]\n" + `{"addr":"::1"}` + "\n" + `{"addr":"1.2.3.4:70000"}` + "\n" + `{"addr":"1.2.3.4:80","map":[1]}`, master.KindLines, ab, nil, master.ReadStats{Invalid: 6, Odd: 1}},
		{"a truncated tail", `{"addr":"203.0.113.7:27015","appid":440}` + "\n" + `{"addr":"1.2.3.4:80"}` + "\n" + `{"addr":"1.2.`, master.KindLines, ab, nil, master.ReadStats{Invalid: 1}},
		{"too long a line", `{"addr":"203.0.113.7:27015","appid":440}` + "\n" + long + `{"addr":"1.2.3.4:80"}`, master.KindLines, ab, nil, master.ReadStats{Invalid: 1}},
		{"too long a last line", `{"addr":"203.0.113.7:27015","appid":440}` + "\n" + `{"addr":"1.2.3.4:80"}` + "\n" + strings.TrimSpace(long), master.KindLines, ab, nil, master.ReadStats{Invalid: 1}},
		{"a census", `{"schema":1,"ip":"203.0.113.7","port":27015,"master":{"appid":440}}` + "\n", master.KindText, "", nil, master.ReadStats{}},

		{"text", "203.0.113.7:27015\n", master.KindText, "", nil, master.ReadStats{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			readers := []io.Reader{strings.NewReader(test.list)}
			if len(test.list) < 1<<16 {
				readers = append(readers, iotest.OneByteReader(strings.NewReader(test.list)),
					iotest.HalfReader(strings.NewReader(test.list)), iotest.DataErrReader(strings.NewReader(test.list)))
			}
			for _, in := range readers {
				servers, r := read(t, in)
				if r.Kind() != test.kind || addrs(servers) != test.want || !errors.Is(r.Err(), test.err) || test.err == nil && r.Err() != nil {
					t.Errorf("%v: %s, %v", r.Kind(), addrs(servers), r.Err())
				}
				stats := r.Stats()
				stats.Servers = 0
				if stats != test.stats {
					t.Errorf("%+v, want %+v", stats, test.stats)
				}
			}
		})
	}
}

// TestReaderInvalid checks that invalid entries are reported with their numbers,
// and that the errors are printable.
func TestReaderInvalid(t *testing.T) {
	tests := []struct {
		list string
		want string
	}{
		{`{"response":{"servers":[{"addr":"1.2.3.4:5"},{"name":"x"},{"addr":"\u001b[31m:5"}]}}`,
			`2 has no address|3 not an IPv4 address with a port: "\x1b[31m:5"`},
		{`{"addr":"1.2.3.4:5","appid":440}` + "\n\nnonsense\n" + `{"name":"x"}` + "\n" + `{"addr":"\u202e:5"}`,
			`3 the line is not a complete JSON object|4 has no address|5 not an IPv4 address with a port: "\u202e:5"`},
	}
	for _, test := range tests {
		r, err := master.NewReader(strings.NewReader(test.list))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		r.Invalid = func(v master.Invalid) { got = append(got, fmt.Sprint(v.Item, " ", v.Err)) }
		for r.Next() {
		}
		if strings.Join(got, "|") != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestReaderErrors checks that Err returns an error of the io.Reader, and that Next
// has reported servers before that error.
func TestReaderErrors(t *testing.T) {
	for _, list := range []string{
		header + "\xCB\x00\x71\x07\x69\x87",
		`{"response":{"servers":[{"addr":"203.0.113.7:27015"},`,
		`{"addr":"203.0.113.7:27015","appid":440}` + "\n",
	} {
		// The Reader reads ahead, so it may not reach all servers before the error.
		in := io.MultiReader(strings.NewReader(list+list+list+list), iotest.ErrReader(os.ErrPermission))
		servers, r := read(t, in)
		if strings.HasPrefix(list, `{"resp`) {
			if len(servers) == 0 || r.Err() == nil {
				t.Errorf("%d servers, %v", len(servers), r.Err())
			}
			continue
		}
		if len(servers) == 0 || !errors.Is(r.Err(), os.ErrPermission) {
			t.Errorf("%.10q: %d servers, %v", list, len(servers), r.Err())
		}
	}
	if _, err := master.NewReader(iotest.ErrReader(os.ErrPermission)); err != os.ErrPermission {
		t.Error(err)
	}
}

// TestReaderUnread checks that Unread returns text unchanged.
func TestReaderUnread(t *testing.T) {
	const list = "\xEF\xBB\xBF203.0.113.7:27015 tag\n# more\n"
	r, err := master.NewReader(iotest.OneByteReader(strings.NewReader(list)))
	if err != nil || r.Kind() != master.KindText {
		t.Fatal(err, r.Kind())
	}
	if b, err := io.ReadAll(r.Unread()); err != nil || string(b) != list {
		t.Errorf("%q, %v", b, err)
	}
}

// TestReaderLazy checks that NewReader detects the Kind from the first bytes of a
// pipe, without waiting for more or for the end.
func TestReaderLazy(t *testing.T) {
	for _, first := range []string{"203.0.113.7:27015\n", header + "\xCB\x00\x71\x07\x69\x87", `{"schema":1,"ip":`, `{"addr":"1.2.3.4:5","appid":440}` + "\n", `{"response":{"success":`} {
		in, out := io.Pipe()
		go out.Write([]byte(first))
		r, err := master.NewReader(in)
		if want := master.Sniff([]byte(first)); err != nil || r.Kind() != want {
			t.Errorf("%v, %v, want %v", r.Kind(), err, want)
		}
		in.Close()
		out.Close()
	}
}

// full returns a server with all fields set and a hostile name.
func full() master.Server {
	return master.Server{
		Addr: addr("203.0.113.7:27015"), Has: 1<<19 - 1,
		Name: "a \"b\" \\ \x1b[31m\u202e\u009b\U000E0001 中🔥\n", Map: "cp_dustbowl", GameDir: "tf", Product: "tf", Version: "1",
		GameType: "cp", OS: "l", SteamID: 1<<64 - 1, AppID: 1<<32 - 1, GamePort: 27016, SpecPort: 27020, Region: -1,
		Players: 12, MaxPlayers: 24, Bots: 1, GMSIndex: -1, Secure: true, Dedicated: true, LAN: true,
	}
}

// TestAppendLine checks the NDJSON line of a server.
func TestAppendLine(t *testing.T) {
	s := full()
	const want = `{"schema":1,"ip":"203.0.113.7","port":27015,"master":{` +
		`"name":"a \"b\" \\ \u001b[31m\u202e\u009b\udb40\udc01 中🔥\u000a","map":"cp_dustbowl","folder":"tf","product":"tf",` +
		`"app_id":4294967295,"players":12,"max_players":24,"bots":1,"dedicated":true,"os":"l","vac":true,"version":"1","region":-1,` +
		`"game_port":27016,"sourcetv_port":27020,"steam_id":"18446744073709551615","keywords":"cp","lan":true,"gms_index":-1}}` + "\n"
	line := s.AppendLine(nil)
	if string(line) != want {
		t.Errorf("%s, want %s", line, want)
	}
	bare := master.Server{Addr: s.Addr}
	if got := string(bare.AppendLine(nil)); got != `{"schema":1,"ip":"203.0.113.7","port":27015}`+"\n" {
		t.Error(got)
	}
}

func TestUnscannable(t *testing.T) {
	tests := []struct {
		addr string
		want master.Reason
		say  string
	}{
		{"203.0.113.7:27015", master.Scannable, ""},
		{"169.254.0.1:27015", master.Relay, "relays"},
		{"169.255.0.1:27015", master.Scannable, ""},
		{"0.0.0.0:27015", master.NoAddress, "0.0.0.0"},
		{"1.2.3.4:0", master.NoPort, "port 0"},
	}
	for _, test := range tests {
		s := master.Server{Addr: addr(test.addr)}
		if got := s.Unscannable(); got != test.want || !strings.Contains(got.String(), test.say) || (test.say == "") != (got.String() == "") {
			t.Errorf("%s: %v", test.addr, got)
		}
	}
}

// FuzzReader checks that a Reader returns no more servers than fit into the input,
// that AppendLine keeps their addresses and names, and that pages made from their
// addresses contain the same number of servers.
func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"addr":"1.2.3.4:5","appid":440,"name":"\u001b\ud800"}`))
	f.Add([]byte(atAddress))
	f.Add([]byte(`{"response":{"servers":[{"addr":"1.2.3.4:5","name":"x"},{}]}}{"response":{}}`))
	f.Add([]byte(header + "\xCB\x00\x71\x07\x69\x87" + header[:3] + header + "\x00\x00\x00\x00\x00\x00xx" + header))
	f.Add([]byte(strings.Repeat("[", 100)))
	f.Fuzz(func(t *testing.T, b []byte) {
		servers, r := read(t, bytes.NewReader(b))
		if len(servers)*addrSize(r.Kind()) > len(b) {
			t.Fatalf("%d servers in %d bytes", len(servers), len(b))
		}
		for i := range servers {
			checkLine(t, &servers[i])
		}
		var list []netip.AddrPort
		for i := range servers {
			if servers[i].Addr != addr("0.0.0.0:0") && servers[i].Addr != addr("255.255.255.255:26122") {
				list = append(list, servers[i].Addr)
			}
		}
		pages := master.AppendPage(nil, list, true)
		if bytes.Contains(pages[len(header):], []byte(header)) {
			return // the bytes of a header begin another page; no real list contains them in its addresses
		}
		third, r3 := read(t, bytes.NewReader(pages))
		if len(third) != len(list) || r3.Err() != nil {
			t.Errorf("%q: %d servers, then %d, %v", b, len(list), len(third), r3.Err())
		}
	})
}

// checkLine fails the test if encoding/json decodes the line of a server to another
// address or name.
func checkLine(t *testing.T, s *master.Server) {
	t.Helper()
	var line struct {
		IP     string
		Port   uint16
		Master struct{ Name string }
	}
	if err := json.Unmarshal(s.AppendLine(nil), &line); err != nil {
		t.Fatal(err)
	}
	if line.IP != s.Addr.Addr().String() || line.Port != s.Addr.Port() || line.Master.Name != s.Name {
		t.Errorf("%+v became %+v", *s, line)
	}
}

// addrSize returns the length in bytes of the shortest entry in a list of kind k.
func addrSize(k master.Kind) int {
	if k == master.KindPages {
		return 6
	}
	return len(`{"addr":"1.1.1.1:1"}`)
}
