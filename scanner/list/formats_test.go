package list

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// longRecord is longer than sniffLen.
var longRecord = `{"schema":1,"ip":"1.0.0.1","port":5,"x":"` + strings.Repeat("x", 5000) + `"}` + "\n"

// lists holds lists in every format. want is the targets that a list yields, and
// invalid is its invalid lines, both separated by '|'.
var lists = []struct {
	name, format, text string
	want               string
	invalid            string // line, fault, text
}{
	{"text", "text", "# c\n1.0.0.1:5 eu\n1.0.0.2:6-7\nbad\n", "1.0.0.1:5 eu|1.0.0.2:6|1.0.0.2:7",
		"4 not an IPv4 address: bad"},
	{"no end of line", "text", "1.0.0.1:5\n1.0.0.2:6", "1.0.0.1:5|1.0.0.2:6", ""},
	{"census", "NDJSON", `{"schema":1,"scan":"x","ip":"1.0.0.1","port":5,"tag":"e\"u ä","info":{"port":9,"name":"}\"{"}}` + "\n" +
		`{"schema":1,"scan":"x","ip":"1.0.0.2","port":6,"tag":"\uFFFDx","tag_hex":"ff78","players":[{"name":"[\\"}],"rules":{"ip":"9.9.9.9"}}` + "\n\n" +
		`{"schema":1,"ip":"1.0.0.3","port":70000}` + "\n" +
		`{"schema":1,"ip":"1.0.0.3"` + "\n" +
		`{"name":"somebody"}` + "\n",
		"1.0.0.1:5 e\"u ä|1.0.0.2:6 \xffx",
		"4 the port is not a number from 1 to 65535: 1.0.0.3:70000|5 the line is not a JSON object: {\"schema\":1,\"ip\":\"1.0.0.3\"|" +
			`6 no address found: {"name":"somebody"}`},
	{"a long record after an empty line", "NDJSON", "\n" + longRecord, "1.0.0.1:5", ""},
	{"a long record after a comment", "NDJSON", "# c\n" + longRecord, "1.0.0.1:5", ""},
	{"CSV after a long comment", "CSV", strings.Repeat("# a licence\n", 500) + "ip,port\n1.0.0.1,5\n", "1.0.0.1:5", ""},
	{"other JSON", "NDJSON", `{"addr":"1.0.0.1:5","gameport":9}` + "\n" +
		` { "port" : "6" , "ip" : "1.0.0.2" } ` + "\n" +
		`{"address":"1.0.0.3:7","port":9,"tag":null}` + "\n" +
		`{"ip":"1.0.0.4","port":9,"query_port":8}` + "\n" +
		`{"ip":"1.0.0.5"}` + "\n" + `{"ip":"2001:db8::1","port":5}` + "\n",
		"1.0.0.1:5|1.0.0.2:6|1.0.0.3:7|1.0.0.4:8|1.0.0.5:27015", ""},
	{"CSV", "CSV", "\xef\xbb\xbf\"name\",IP,Port,Tag\r\n\"a, \"\"b\"\"\",1.0.0.1,5,eu\r\nx, 1.0.0.2 ,6\r\ny\r\n\"z,1.0.0.3,7\r\n",
		"1.0.0.1:5 eu|1.0.0.2:6", "4 no address found: y|5 a quoted field has no closing quote on its line: \"z,1.0.0.3,7"},
	{"CSV of endpoints", "CSV", "# list\nendpoint\n1.0.0.1:5\n1.0.0.2:6\n", "1.0.0.1:5|1.0.0.2:6", ""},
	{"CSV of ip:port", "CSV", "id,ip:port\n1,1.0.0.1:5\n2,1.0.0.2:x\n", "1.0.0.1:5",
		"3 the port is not a number from 1 to 65535: 1.0.0.2:x"},
	{"CSV without names", "CSV", "a server,12,1.0.0.1:5,x\nanother,13,1.0.0.2:6,y\nodd,14,z\n",
		"1.0.0.1:5|1.0.0.2:6", "3 not an IPv4 address: z"},
	{"CSV of address and port", "CSV", "1.0.0.1,5,x\n1.0.0.2,6,y\n", "1.0.0.1:5|1.0.0.2:6", ""},
	{"quoted CSV", "CSV", "\"1.0.0.1:5\",\"a\"\n\"1.0.0.2:6\",\"b\"\n", "1.0.0.1:5|1.0.0.2:6", ""},
	{"an empty port column beside another port", "CSV", "ip,port,gameport\n1.0.0.1,5,6\n1.0.0.2,,6\n",
		"1.0.0.1:5", "3 the port is missing, and another column looks like a port: rename that column to port, or use --port: 1.0.0.2"},
	{"CSV with semicolons", "CSV with semicolons", "name;host;query_port;port\na;1.0.0.1;5;9\nb;1.0.0.2;6;9\n", "1.0.0.1:5 a|1.0.0.2:6 b", ""},
	{"TSV", "TSV", "name\taddress\tport\na\t1.0.0.1\t5\n\"q\"\t1.0.0.2\t6\n\t1.0.0.3\t7\n", "1.0.0.1:5 a|1.0.0.2:6 q|1.0.0.3:7", ""},
	{"TSV without names", "TSV", "a b, c\t1.0.0.1\t5\nd\t1.0.0.2\t6\n", "1.0.0.1:5|1.0.0.2:6", ""},
	{"semicolons", "text", "1.0.0.1:5;\n1.0.0.2:6;eu;x\n1.0.0.3:7,9; a\n1.0.0.4:8 b\n", "1.0.0.1:5|1.0.0.2:6 eu;x|1.0.0.3:7 a|1.0.0.3:9 a|1.0.0.4:8 b", ""},
	{"commas in tags", "text", "1.0.0.1:5,eu,1.0.0.9:9\n1.0.0.2 a b, 1.0.0.9\n", "1.0.0.1:5 eu,1.0.0.9:9|1.0.0.2:27015 a b, 1.0.0.9", ""},
}

func compressed(t testing.TB, kind string, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, part := range parts {
		var w io.WriteCloser
		switch kind {
		case "gzip":
			w = gzip.NewWriter(&b)
		case "zstd":
			w, _ = zstd.NewWriter(&b)
		default:
			b.WriteString(part)
			continue
		}
		if _, err := io.WriteString(w, part); err != nil {
			t.Fatal(err)
		}
		check(t, w.Close())
	}
	return b.Bytes()
}

func halves(s string) []string { return []string{s[:len(s)/2], s[len(s)/2:]} }

// opened reads a list to its end, and returns it with its targets and a description
// of each invalid line.
func opened(t testing.TB, cfg Config) (l *List, got, bad []string) {
	t.Helper()
	cfg.Invalid = func(v Invalid) { bad = append(bad, fmt.Sprintf("%d %v: %s", v.Line, v.Err, v.Text)) }
	l = mustOpen(t, cfg)
	return l, texts(l.From(0)), bad
}

// TestFormats reads every format with every compression, as a file and as standard
// input, in both orders.
func TestFormats(t *testing.T) {
	for _, list := range lists {
		for _, kind := range []string{"", "gzip", "zstd"} {
			t.Run(list.name+" "+kind, func(t *testing.T) {
				data := compressed(t, kind, halves(list.text)...)
				file := writeFile(t, "list", string(data))
				want, invalid := strings.Split(list.want, "|"), []string(nil)
				if list.invalid != "" {
					invalid = strings.Split(list.invalid, "|")
				}
				for _, inOrder := range []bool{true, false} {
					for _, arg := range []string{file, "-"} {
						l, got, bad := opened(t, Config{Args: []string{arg}, Stdin: bytes.NewReader(data), InOrder: inOrder})
						if !inOrder {
							slices.Sort(got)
						}
						if !slices.Equal(got, want) || !slices.Equal(bad, invalid) || l.Err() != nil {
							t.Errorf("%q, invalid %q, %v\nwant %q, %q", got, bad, l.Err(), want, invalid)
						}
						in := l.Inputs()[0]
						if in.Format != list.format || in.Compression != kind || in.Bytes != int64(len(data)) {
							t.Errorf("%+v", in)
						}
					}
				}
			})
		}
	}
}

// TestTruncated cuts a census at every fourth byte, and at every byte near the end
// of a record. The list must yield the complete records before the cut, in order,
// and report that data is missing.
func TestTruncated(t *testing.T) {
	var parts, want []string
	for i := range 6 {
		want = append(want, fmt.Sprintf("1.0.0.%d:5", i))
		parts = append(parts, fmt.Sprintf(`{"schema":1,"ip":"1.0.0.%d","port":5,"info":{"name":"%d"}}`+"\n", i, i))
	}
	for _, kind := range []string{"", "gzip", "zstd"} {
		whole := compressed(t, kind, parts...)
		ends := map[int]int{} // n by the size of the first n records
		for i := range parts {
			ends[len(compressed(t, kind, parts[:i+1]...))] = i + 1
		}
		for cut := 5; cut < len(whole); cut++ {
			// Far from the end of a record, every fourth byte is enough.
			if cut%4 > 0 && ends[cut-1]+ends[cut]+ends[cut+1] == 0 {
				continue
			}
			l, got, bad := opened(t, Config{InOrder: true, Stdin: bytes.NewReader(whole[:cut])})
			if !slices.Equal(got, want[:min(len(got), len(want))]) || l.Err() != nil {
				t.Fatalf("%s cut at %d: %q, %q, %v", kind, cut, got, bad, l.Err())
			}
			n, clean := ends[cut]
			if truncated := l.Inputs()[0].Truncated; truncated != (kind != "" && !clean) {
				t.Errorf("%s cut at %d: truncated %v", kind, cut, truncated)
			}
			switch {
			case clean && (len(got) != n || len(bad) > 0):
				t.Errorf("%s cut at %d, between records: %q, %q", kind, cut, got, bad)
			case !clean && (len(bad) != 1 || !strings.Contains(bad[0], faultTruncated.Error())):
				// If the data is not compressed, a cut just before an end of line
				// can't be detected.
				if kind != "" || ends[cut+1] != len(got) {
					t.Errorf("%s cut at %d: %q", kind, cut, bad)
				}
			}
		}
	}
}

// TestTruncatedText checks that no target is read from the last line of a
// compressed list that was cut off inside a port number.
func TestTruncatedText(t *testing.T) {
	for _, text := range []string{"1.0.0.1:27015\n1.0.0.2:27015\n", "n,ip,port\na,1.0.0.1,27015\nb,1.0.0.2,27015\n"} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		io.WriteString(z, text[:len(text)-4])
		z.Flush()
		_, got, bad := opened(t, Config{Stdin: &b})
		if !slices.Equal(got, []string{"1.0.0.1:27015"}) || len(bad) != 1 || !strings.Contains(bad[0], faultTruncated.Error()) {
			t.Errorf("%q, %q", got, bad)
		}
	}
}

// TestUTF16 reads lists that begin with a UTF-16 byte order mark, with and without
// compression.
func TestUTF16(t *testing.T) {
	const text = "1.0.0.1:5 tag\r\n1.0.0.2:5 \u65e5\U0001f3ae\n"
	want := []string{"1.0.0.1:5 tag", "1.0.0.2:5 \u65e5\U0001f3ae"}
	for name, order := range map[string]binary.AppendByteOrder{
		"little": binary.LittleEndian, "big": binary.BigEndian,
	} {
		list := order.AppendUint16(nil, 0xfeff)
		for _, c := range utf16.Encode([]rune(text)) {
			list = order.AppendUint16(list, c)
		}
		for _, kind := range []string{"", "gzip", "zstd"} {
			for _, o := range []bool{true, false} {
				packed := compressed(t, kind, string(list))
				l := mustOpen(t, Config{InOrder: o, Stdin: bytes.NewReader(packed)})
				got := texts(l.From(0))
				slices.Sort(got)
				if s := l.Stats(); !slices.Equal(got, want) || s.Invalid > 0 || l.Err() != nil {
					t.Errorf("%s %s %v: %q, %+v, %v", name, kind, o, got, s, l.Err())
				}
			}
		}
	}
	// A list that begins with only the first byte of a byte order mark is not
	// UTF-16. If a UTF-16 list ends inside a character, its last line is invalid. A
	// byte order mark alone is an empty list.
	for list, want := range map[string]uint64{"\xff": 1, "\xff\xff1.0.0.1:5\n": 1, "\xff\xfe1\x00.": 1, "\xfe\xff": 0} {
		l := mustOpen(t, Config{InOrder: true, Stdin: strings.NewReader(list)})
		if got := texts(l.From(0)); len(got) > 0 || l.Stats().Invalid != want || l.Err() != nil {
			t.Errorf("%q: %q, %+v, %v", list, got, l.Stats(), l.Err())
		}
	}
}

func TestOtherCompressions(t *testing.T) {
	for head, name := range map[string]string{
		"BZh91AY&SY": "bzip2", "\xfd7zXZ\x00": "xz", "PK\x03\x04\x14": "zip", "\x04\x22\x4d\x18\x60": "lz4",
	} {
		l, got, _ := opened(t, Config{Stdin: strings.NewReader(head)})
		if err := l.Err(); err == nil || !strings.Contains(err.Error(), "compressed with "+name) || got != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := compressed(t, "gzip", "1.0.0.1:5\n")
	broken[len(broken)-5] ^= 1
	l, _, _ := opened(t, Config{Stdin: bytes.NewReader(broken)})
	if err := l.Err(); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a wrong checksum: %v", err)
	}
	skippable := append([]byte("\x52\x2a\x4d\x18\x02\x00\x00\x00xx"), compressed(t, "zstd", "1.0.0.1:5\n")...)
	if _, got, _ := opened(t, Config{Stdin: bytes.NewReader(skippable)}); len(got) != 1 {
		t.Errorf("a frame to be skipped: %q", got)
	}
	// "P" may begin a name.
	if _, _, bad := opened(t, Config{Stdin: strings.NewReader("PK\nPQRST\n")}); len(bad) != 2 {
		t.Errorf("%q", bad)
	}
}

// TestLongLines checks the maximum length of a JSON record and of a CSV row.
func TestLongLines(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: other tests run the same goroutines, and go test without -short runs it")
	}
	record := func(size int) string {
		s := `{"ip":"1.0.0.1","port":5,"x":"`
		return s + strings.Repeat("x", size-len(s)-3) + "\"}\n"
	}
	tests := []struct {
		name, text   string
		given, fault int
	}{
		{"a record of 9 MiB", record(maxJSONLine) + record(100), 1, 0},
		{"a larger one", record(maxJSONLine+1) + record(100), 1, 1},
		{"a much larger one", record(4*maxJSONLine) + record(100), 1, 1},
		{"a row of 64 KiB", "n,ip\n" + strings.Repeat("x", maxLine-len(",1.0.0.1\n")) + ",1.0.0.1\ny,1.0.0.1\n", 1, 0},
		{"a larger row", "n,ip\n" + strings.Repeat("x", maxLine) + ",1.0.0.1\ny,1.0.0.1\n", 1, 1},
	}
	for _, test := range tests {
		for _, kind := range []string{"", "zstd"} {
			data := compressed(t, kind, test.text)
			_, got, bad := opened(t, Config{InOrder: true, Stdin: bytes.NewReader(data)})
			if len(got) != test.given || len(bad) != test.fault {
				t.Errorf("%s: %q, %.300q", test.name, got, bad)
			}
			if test.fault > 0 && !strings.Contains(strings.Join(bad, ""), "too long") {
				t.Errorf("%s: %.300q", test.name, bad)
			}
		}
	}
}

// TestSlowPipe checks that lists of NDJSON, text and CSV from a pipe yield the
// target of each line before the next line is written.
func TestSlowPipe(t *testing.T) {
	for _, lines := range [][]string{
		{`{"ip":"1.0.0.1","port":5}`, `{"ip":"1.0.0.2","port":5}`},
		{"1.0.0.1:5", "1.0.0.2:5"},
		{"a,1.0.0.1:5", "b,1.0.0.2:5"},
	} {
		r, w, err := os.Pipe()
		check(t, err)
		l := mustOpen(t, Config{InOrder: true, Stdin: r})
		io.WriteString(w, lines[0]+"\n")
		n := 0
		for range l.From(0) {
			if n++; n == len(lines) {
				break
			}
			io.WriteString(w, lines[n]+"\n")
		}
		w.Close()
		if n != 2 {
			t.Errorf("%q: %d targets", lines, n)
		}
		r.Close()
	}
}

// TestRows checks that the keys of Entry.Row are those of NDJSON.
func TestRows(t *testing.T) {
	rows := Format{Name: "rows", Sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte("rows")) }, Read: func(r io.Reader, yield func(Entry) bool) error {
		for i, row := range []string{`{"addr":"1.0.0.1:5"}`, `{"addr":"1.0.0.2:5","gameport":5,"steam_query_port":6,"ports":{"x":7}}`, `{"addr":"1.0.0.3:5","raw":{"qport":6}}`, `{`} {
			if !yield(Entry{Line: i + 1, Row: []byte(row), Master: []byte(row)}) {
				break
			}
		}
		return nil
	}}
	l := mustOpen(t, Config{InOrder: true, Stdin: strings.NewReader("rows\n"), Formats: []Format{rows}, KeepMaster: true})
	var got []string
	for tg := range l.From(0) {
		got = append(got, tg.Addr.String()+" "+tg.Master)
	}
	want := []string{`1.0.0.1:5 {"addr":"1.0.0.1:5"}`, `1.0.0.2:6 {"addr":"1.0.0.2:5","gameport":5,"steam_query_port":6,"ports":{"x":7}}`}
	if s := l.Stats(); !slices.Equal(got, want) || s.Invalid != 2 {
		t.Errorf("%q, %+v", got, s)
	}
}

// FuzzNDJSON checks that readNDJSON yields entries in the order of their lines and
// fails only because of an unknown schema. It also checks that object.parse accepts
// every JSON object, and finds the same "ip" as encoding/json.
func FuzzNDJSON(f *testing.F) {
	for _, list := range lists {
		f.Add([]byte(list.text))
	}
	f.Add([]byte(`{"ip":"1.2.3.4","port":5,"a":"\\\"","b":[{"c":"]"}],"tag":"\u00e4"}`))
	f.Add([]byte(`{"schema":0`))
	f.Fuzz(func(t *testing.T, b []byte) {
		last := 0
		err := readNDJSON(bytes.NewReader(b), func(e Entry) bool {
			if e.Line <= last || e.Fault == nil && len(e.Text) == 0 && !bytes.Contains(b, []byte(`""`)) {
				t.Fatalf("%q: %+v", b, e)
			}
			last = e.Line
			return true
		})
		if err != nil && strings.Contains(err.Error(), "a record of schema") {
			return // it ends the list
		}
		check(t, err)
		line, _, _ := bytes.Cut(b, []byte("\n"))
		var m map[string]json.RawMessage
		if json.Unmarshal(line, &m) != nil || m == nil || len(line) == 0 {
			return
		}
		var o object
		if err := o.parse(bytes.TrimSpace(line)); err != nil {
			t.Fatalf("%q is an object: %v", line, err)
		}
		var ip string
		same := 0 // keys that mean "ip"
		for key := range m {
			if newMember(key).name == "ip" {
				same++
			}
		}
		if json.Unmarshal(m["ip"], &ip) == nil && bytes.Count(line, []byte("\"ip\"")) == 1 && same == 1 && utf8.Valid(line) &&
			!bytes.ContainsAny(line, `\`) && o.values["ip"] != ip {
			t.Fatalf("%q: ip %q, want %q", line, o.values["ip"], ip)
		}
	})
}

// FuzzColumns checks that table.read yields entries in the order of their lines, and at
// most one for each field. It also checks that split divides a line without quotes at
// every separator and trims the fields.
func FuzzColumns(f *testing.F) {
	for _, list := range lists {
		f.Add([]byte(list.text), byte(','))
	}
	f.Fuzz(func(t *testing.T, b []byte, between byte) {
		if between != ',' && between != '\t' && between != ';' {
			return
		}
		sniffColumns(firstLine(b), rune(between))
		g := newTable(rune(between))
		lines := bytes.Split(b, []byte("\n"))
		last, entries := 0, 0 // of the line of the last entry
		err := g.read(bytes.NewReader(b), func(e Entry) bool {
			if e.Line < last || e.Line > len(lines) {
				t.Fatalf("%q: line %d after line %d", b, e.Line, last)
			}
			if e.Line > last {
				last, entries = e.Line, 0
			}
			if entries++; entries > bytes.Count(lines[e.Line-1], []byte{between})+1 {
				t.Fatalf("%q: %d entries in line %d", b, entries, e.Line)
			}
			return true
		})
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		line := lines[0]
		if bytes.IndexByte(line, '"') >= 0 {
			return
		}
		fields, err := g.split(line)
		want := strings.Split(strings.TrimSuffix(string(line), "\r"), string(between))
		if len(want) == 1 && want[0] == "" {
			return
		}
		if err != nil || len(fields) != len(want) {
			t.Fatalf("%q: %q, %v", line, fields, err)
		}
		for i := range want {
			if fields[i] != strings.TrimSpace(want[i]) {
				t.Fatalf("%q: field %q, want %q", line, fields[i], want[i])
			}
		}
	})
}

// FuzzDecompress checks that no data makes decompress or eachLine panic. It also
// checks that no line is longer than maxLine, and that eachLine does not report
// truncated data as an error.
func FuzzDecompress(f *testing.F) {
	for _, kind := range []string{"gzip", "zstd"} {
		whole := compressed(f, kind, "1.0.0.1:5\n1.0.0.2:6\n", "1.0.0.3:7\n")
		f.Add(whole)
		f.Add(whole[:len(whole)-3])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, _, err := decompress(bufio.NewReader(bytes.NewReader(b)))
		if err != nil {
			return
		}
		var read error
		n := 0
		for line := range eachLine(io.LimitReader(r, 1<<20), maxLine, &read) {
			if n++; len(line.text) > maxLine || line.number != n {
				t.Fatalf("line %d: %+v", n, line)
			}
		}
		if errors.Is(read, io.ErrUnexpectedEOF) || read == errTruncated {
			t.Fatalf("a truncated list is an error: %v", read)
		}
	})
}

// TestUnknownSchema checks that readNDJSON refuses a census with
// another schema. A list of another program may use the key "schema" for something
// else.
func TestUnknownSchema(t *testing.T) {
	const good = `{"schema":1,"ip":"192.0.2.1","port":1}` + "\n"
	for text, want := range map[string]string{
		good + good: "",
		good + `{"schema":2,"ip":"192.0.2.2","port":1}`:          "2",
		`{"schema":10,"ip":"192.0.2.2","port":1}`:                "10",
		`{"schema":"http://x/y","ip":"192.0.2.2","port":1}`:      "",
		`{"addr":"192.0.2.2:1","schema":2}`:                      "",
		`{"schema":99999999999999999999,"ip":"192.0.2.2","port"`: "",
		`{"schema":`: "",
	} {
		n := 0
		err := readNDJSON(strings.NewReader(text), func(Entry) bool { n++; return true })
		wanted := fmt.Sprintf("line %d is a record of schema %s,", n+1, want)
		if (err != nil) != (want != "") || err != nil && !strings.HasPrefix(err.Error(), wanted) {
			t.Errorf("%s: %v after %d entries, want schema %q", text, err, n, want)
		}
	}
}
