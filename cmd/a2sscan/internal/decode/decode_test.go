package decode

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/wire"
)

// The tests in this file write their own captures, with these byte orders.

var (
	be = binary.BigEndian
	le = binary.LittleEndian
)

const (
	server = "\x0a\x00\x00\x01"
	client = "\x0a\x00\x00\x02"
)

// udp returns a UDP datagram with its header.
func udp(from, to uint16, payload string) string {
	b := be.AppendUint16(be.AppendUint16(nil, from), to)
	b = be.AppendUint16(b, uint16(8+len(payload)))
	return string(b) + "\x00\x00" + payload
}

// ipv4 returns an IPv4 packet with part of a UDP datagram. flags includes the
// fragment offset.
func ipv4(src, dst string, flags uint16, part string) string {
	b := be.AppendUint16([]byte{0x45, 0}, uint16(20+len(part)))
	b = be.AppendUint16(be.AppendUint16(b, 77), flags)
	return string(b) + "\x40\x11\x00\x00" + src + dst + part
}

// reply returns a packet from the server, and request returns a packet to the
// server.
func reply(payload string) string { return ipv4(server, client, 0, udp(27015, 40000, payload)) }
func request(payload string) string {
	return ipv4(client, server, 0, udp(40000, 27015, payload))
}

// links are link types that can carry IPv4, each with its number and a header.
var links = []struct {
	name   string
	number uint16
	header string
}{
	{"Ethernet", 1, "\x01\x02\x03\x04\x05\x06\x01\x02\x03\x04\x05\x07\x08\x00"},
	{"VLAN", 1, "\x01\x02\x03\x04\x05\x06\x01\x02\x03\x04\x05\x07\x81\x00\x00\x05\x08\x00"},
	{"two VLANs", 1, "\x01\x02\x03\x04\x05\x06\x01\x02\x03\x04\x05\x07\x88\xa8\x00\x05\x81\x00\x00\x06\x08\x00"},
	{"cooked", 113, "\x00\x00\x00\x01\x00\x06\x01\x02\x03\x04\x05\x06\x00\x00\x08\x00"},
	{"cooked, second version", 276, "\x08\x00\x00\x00\x00\x00\x00\x02\x00\x01\x00\x06\x01\x02\x03\x04\x05\x06\x00\x00"},
	{"raw", 101, ""},
	{"IPv4", 228, ""},
	{"raw, as BSDs number it", 12, ""},
	{"null", 0, "\x02\x00\x00\x00"},
	{"loopback", 108, "\x00\x00\x00\x02"},
}

// pcapFile returns a pcap file with these packets.
func pcapFile(order binary.AppendByteOrder, link uint16, packets ...string) []byte {
	b := order.AppendUint32(nil, 0xA1B2C3D4)
	b = order.AppendUint16(order.AppendUint16(b, 2), 4)
	b = append(b, make([]byte, 8)...)
	b = order.AppendUint32(order.AppendUint32(b, 65535), uint32(link))
	for i, p := range packets {
		b = order.AppendUint32(order.AppendUint32(b, uint32(i)), 0)
		b = order.AppendUint32(order.AppendUint32(b, uint32(len(p))), uint32(len(p)))
		b = append(b, p...)
	}
	return b
}

// pcapngFile returns a pcapng file with these packets. Packet i is from an
// interface with the link type links[i].
func pcapngFile(links []uint16, packets ...string) []byte {
	block := func(kind uint32, body []byte) []byte {
		for len(body)%4 != 0 {
			body = append(body, 0)
		}
		n := uint32(12 + len(body))
		b := append(le.AppendUint32(le.AppendUint32(nil, kind), n), body...)
		return le.AppendUint32(b, n)
	}
	section := le.AppendUint32(le.AppendUint32(nil, 0x1A2B3C4D), 1)
	b := block(0x0A0D0D0A, append(section, bytes.Repeat([]byte{0xFF}, 8)...))
	for _, link := range links {
		b = append(b, block(1, append(le.AppendUint16(nil, link), 0, 0, 0, 0, 0, 0))...)
	}
	for i, p := range packets {
		body := le.AppendUint32(nil, uint32(i))
		body = append(body, make([]byte, 8)...)
		body = le.AppendUint32(le.AppendUint32(body, uint32(len(p))), uint32(len(p)))
		b = append(b, block(6, append(body, p...))...)
	}
	return b
}

const (
	infoRequest = "\xff\xff\xff\xffTSource Engine Query\x00"
	noPlayers   = "\xff\xff\xff\xffD\x00"
	oneRule     = "\xff\xff\xff\xffE\x01\x00a\x00" + "1\x00"
)

// readFile reads a capture and returns the datagrams from servers as text, and the
// counts.
func readFile(t *testing.T, file []byte) (string, pcapStats) {
	t.Helper()
	in := bufio.NewReader(bytes.NewReader(file))
	if detect(in) != pcapFormat {
		t.Fatal("the capture is not recognised")
	}
	all, stats, err := readPcap(in)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, s := range all {
		words = append(words, fmt.Sprintf("%v %q", s.addr, s.datagrams))
	}
	return strings.Join(words, " "), stats
}

func TestPcapLinks(t *testing.T) {
	want := fmt.Sprintf("10.0.0.1:27015 %q", []string{noPlayers, oneRule})
	var numbers []uint16
	var packets []string
	for _, l := range links {
		numbers = append(numbers, l.number)
		packets = append(packets, l.header+reply(noPlayers))
		for _, order := range []binary.AppendByteOrder{be, le} {
			file := pcapFile(order, l.number, l.header+request(infoRequest), l.header+reply(noPlayers), l.header+reply(oneRule))
			if got, _ := readFile(t, file); got != want {
				t.Errorf("%s: %s, want %s", l.name, got, want)
			}
		}
	}
	got, _ := readFile(t, pcapngFile(numbers, packets...))
	want = fmt.Sprintf("10.0.0.1:27015 %q", bytesOf(noPlayers, len(links)))
	if got != want {
		t.Errorf("pcapng: %s, want %s", got, want)
	}
}

func bytesOf(s string, n int) (all []string) {
	for range n {
		all = append(all, s)
	}
	return all
}

// TestPcapSide: readPcap returns only the datagrams from servers, in the order of
// the capture.
func TestPcapSide(t *testing.T) {
	odd := "\xff\xff\xff\xffZ"
	other := ipv4("\x0a\x00\x00\x03", client, 0, udp(27016, 40000, noPlayers))
	got, stats := readFile(t, pcapFile(le, 101,
		reply(odd), // skipped: no request came before it, and A2S has no such reply
		other,
		request(infoRequest),
		reply(odd),
		reply("\x01\x00\x00\x00a game"),
		reply("\xfe\xff\xff\xff\x01"),
		request(rulesRequest()),
		"\x45", "", "\x60"+strings.Repeat("\x00", 60),
	))
	want := fmt.Sprintf("10.0.0.3:27016 %q 10.0.0.1:27015 %q",
		[]string{noPlayers}, []string{odd, "\xfe\xff\xff\xff\x01"})
	if got != want || stats.Packets != 10 || stats.Replies != 3 {
		t.Errorf("%s, want %s; %d packets, %d replies", got, want, stats.Packets, stats.Replies)
	}
}

func rulesRequest() string { return string(wire.AppendRequest(nil, wire.QuestionRules, 7)) }

// TestPcapLeftOut: readPcap counts IPv4 fragments and IPv6 packets, and reads the others.
func TestPcapLeftOut(t *testing.T) {
	whole := udp(27015, 40000, "\xff\xff\xff\xffE\x01\x00name\x00"+strings.Repeat("x", 3000)+"\x00")
	const more = 0x2000
	six := "\x60" + strings.Repeat("\x00", 60)
	for _, l := range links {
		packets := []string{
			ipv4(server, client, more, whole[:1480]),
			ipv4(server, client, more|1480/8, whole[1480:2960]),
			ipv4(server, client, 2960/8, whole[2960:]),
			reply(noPlayers),
		}
		for i := range packets {
			packets[i] = l.header + packets[i]
		}
		packets = append(packets, strings.NewReplacer("\x08\x00", "\x86\xdd").Replace(l.header)+six)
		got, stats := readFile(t, pcapFile(be, l.number, packets...))
		if got != fmt.Sprintf("10.0.0.1:27015 %q", []string{noPlayers}) || stats.Fragments != 3 || stats.IPv6 != 1 || stats.Cut != 0 {
			t.Errorf("%s: %.200s, %+v", l.name, got, stats)
		}
	}
}

// TestPcapDamaged: a length that no capture has ends the reading with an error, and a
// packet that ends anywhere does no harm.
func TestPcapDamaged(t *testing.T) {
	for name, file := range map[string][]byte{
		"pcap":            append(pcapFile(le, 101), make([]byte, 16)...),
		"pcapng":          append(pcapngFile([]uint16{101}), 6, 0, 0, 0, 0, 0, 0, 0),
		"pcapng, long":    append(pcapngFile([]uint16{101}), 6, 0, 0, 0, 0, 0, 0, 0x40),
		"pcapng, unequal": append(pcapngFile([]uint16{101}), 6, 0, 0, 0, 13, 0, 0, 0),
	} {
		if name == "pcap" {
			le.PutUint32(file[len(file)-8:], maxPacket+1)
		}
		if _, _, err := readPcap(bufio.NewReader(bytes.NewReader(file))); err != errCapture {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, l := range links {
		whole := l.header + reply(noPlayers)
		for n := range whole {
			if got, stats := readFile(t, pcapFile(le, l.number, whole[:n])); got != "" || stats.Packets != 1 {
				t.Errorf("%s, %d bytes: %s", l.name, n, got)
			}
		}
	}
}

// TestPcapCrafted: the memory that a capture takes is limited by its length, whatever its
// packets are.
func TestPcapCrafted(t *testing.T) {
	const n = 20_000
	address := func(i int) string { return string(be.AppendUint32(nil, 0x0B000000+uint32(i))) }
	many := func(packet func(i int) string) (packets []string) {
		for i := range n {
			packets = append(packets, packet(i))
		}
		return packets
	}
	for name, file := range map[string][]byte{
		"one server": pcapFile(le, 101, many(func(int) string { return reply(noPlayers) })...),
		"many servers": pcapFile(le, 101, many(func(i int) string {
			return ipv4(address(i), client, 0, udp(27015, 40000, noPlayers))
		})...),
		"requests": pcapFile(le, 101, many(func(i int) string {
			return ipv4(client, address(i), 0, udp(40000, 27015, infoRequest))
		})...),
		"interfaces":    pcapngFile(make([]uint16, n)),
		"a large block": append(pcapngFile([]uint16{101}), 6, 0, 0, 0, 0, 0, 0, 0xF0),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		all, stats, err := readPcap(bufio.NewReader(bytes.NewReader(file)))
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20+8*uint64(len(file)) {
			t.Errorf("%s: %d bytes for a file of %d, %v", name, took, len(file), err)
		}
		if (err != nil) != (name == "a large block") || len(all) > n || stats.Packets > n {
			t.Errorf("%s: %d servers, %+v, %v", name, len(all), stats, err)
		}
	}
}

// TestPcapCut: readPcap returns the complete packets of a truncated file, and
// counts packets whose end is missing.
func TestPcapCut(t *testing.T) {
	for name, file := range map[string][]byte{
		"pcap":   pcapFile(le, 101, reply(noPlayers), reply(oneRule)),
		"pcapng": pcapngFile([]uint16{101, 101}, reply(noPlayers), reply(oneRule)),
	} {
		all, stats := readFile(t, file)
		if stats.Truncated {
			t.Errorf("%s: a complete file counts as truncated", name)
		}
		got, stats := readFile(t, file[:len(file)-9])
		if !stats.Truncated || stats.Packets != 1 || !strings.HasPrefix(all, strings.TrimSuffix(got, "]")) {
			t.Errorf("%s: %s, %+v, of %s", name, got, stats, all)
		}
	}
	short := reply(oneRule)
	if got, stats := readFile(t, pcapFile(le, 101, short[:len(short)-2], reply(noPlayers))); stats.Cut != 1 ||
		got != fmt.Sprintf("10.0.0.1:27015 %q", []string{noPlayers}) {
		t.Errorf("%s, %d cut", got, stats.Cut)
	}
}

// TestRun decodes a capture of a request and two replies. The second reply is truncated.
func TestRun(t *testing.T) {
	file := pcapFile(le, 101, request(infoRequest), reply(noPlayers), reply(oneRule))
	var said bytes.Buffer
	path := filepath.Join(t.TempDir(), "out.ndjson")
	err := Run(console.New(&said), Options{Files: []string{"-"}}, bytes.NewReader(file[:len(file)-2]), sink.New(path, sink.Options{}))
	const want = `{"schema":1,"ip":"10.0.0.1","port":27015,"addr":"10.0.0.1:27015","status":"ok","received":1,"received_bytes":6,"players":[]}` + "\n"
	const numbers = "a2sscan: -: packets 2, truncated packets 0, replies 1\n" +
		"a2sscan: - is truncated, so decode skipped the last packet\n" +
		"a2sscan: decoded 1 record from 1 datagram, and skipped 0 bad lines\n"
	if got, unread := os.ReadFile(path); err != nil || unread != nil || string(got) != want || said.String() != numbers {
		t.Errorf("%v, %v: %s%s", err, unread, got, &said)
	}
}

// TestByteOrderMark: a byte order mark at the beginning of a file is no part of its content.
func TestByteOrderMark(t *testing.T) {
	for _, text := range []string{
		"10.0.0.1:27015 ffffffff4400\n",
		`{"schema":1,"ip":"10.0.0.1","port":27015,"addr":"10.0.0.1:27015","status":"ok","received":1,"received_bytes":6,"players":[],"raw":["/////0QA"]}` + "\n",
	} {
		var said bytes.Buffer
		path := filepath.Join(t.TempDir(), "out.ndjson")
		err := Run(console.New(&said), Options{Files: []string{"-"}}, strings.NewReader("\uFEFF"+text), sink.New(path, sink.Options{}))
		if got, _ := os.ReadFile(path); err != nil || !strings.Contains(string(got), `"addr":"10.0.0.1:27015"`) {
			t.Errorf("%q: %v, %s%s", text, err, got, &said)
		}
	}
}

// FuzzPcap: no file makes readPcap panic, or return more bytes than the file has or
// more replies than packets.
func FuzzPcap(f *testing.F) {
	for _, l := range links {
		f.Add(pcapFile(le, l.number, l.header+reply(noPlayers), l.header+reply(oneRule)))
	}
	f.Add(pcapngFile([]uint16{1, 101}, links[0].header+reply(noPlayers), reply(oneRule)))
	f.Fuzz(func(t *testing.T, file []byte) {
		all, stats, _ := readPcap(bufio.NewReader(bytes.NewReader(file))) // any error is fine
		size := 0
		for _, s := range all {
			for _, b := range s.datagrams {
				size += len(b)
			}
		}
		if size > len(file) || stats.Replies > stats.Packets {
			t.Errorf("%d replies, %d bytes of %d", stats.Replies, size, len(file))
		}
	})
}

func TestReadHex(t *testing.T) {
	long := strings.Repeat("41", maxHexLine)
	in := "# a comment\n" +
		"\n" +
		"ff ff 41\n" +
		"203.0.113.7:27015 FFFF 42 # named\r\n" +
		"203.0.113.7:27016 43\n" +
		"44\n" +
		"fff\n" +
		"zz\n" +
		"203.0.113.7 44\n" +
		"203.0.113.7:27015\n" +
		"[::1]:27015 44\n" +
		long + "\n" +
		"203.0.113.7:27015 45"
	var bad []string
	all, err := readHex(strings.NewReader(in), func(line int, text string, err error) {
		bad = append(bad, fmt.Sprintf("%d %v", line, err))
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all {
		got = append(got, fmt.Sprintf("%v %x", s.addr, s.datagrams))
	}
	wantGot := "invalid AddrPort [ffff41 44]|203.0.113.7:27015 [ffff42 45]|203.0.113.7:27016 [43]"
	if text := strings.Join(got, "|"); text != wantGot {
		t.Errorf("got  %s\nwant %s", text, wantGot)
	}
	wantBad := "7 the datagram is not hexadecimal|8 the datagram is not hexadecimal|9 the sender is not an ip:port|" +
		"10 no datagram follows the sender|11 the sender is not an ip:port|12 the line is longer than the longest datagram"
	if s := strings.Join(bad, "|"); s != wantBad {
		t.Errorf("bad lines: got  %s\nwant %s", s, wantBad)
	}
}

func FuzzReadHex(f *testing.F) {
	f.Add("127.0.0.1:1 ff ff # x\nff\n")
	f.Fuzz(func(t *testing.T, in string) {
		lines, last := 0, 0
		all, err := readHex(strings.NewReader(in), func(line int, _ string, _ error) {
			lines++
			if line <= last {
				t.Errorf("line %d after line %d", line, last)
			}
			last = line
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			lines += len(s.datagrams)
		}
		if have := strings.Count(in, "\n") + 1; lines > have {
			t.Errorf("%d lines from a text of %d", lines, have)
		}
	})
}

// endless yields the same record again and again, and counts the records. It ends if nobody
// stops reading.
type endless struct{ records int }

func (e *endless) Read(b []byte) (int, error) {
	const record = `{"schema":1,"status":"ok","received":1,"raw":["/////0UBAGEAMQA="]}` + "\n"
	if e.records > 1<<19 {
		return 0, io.EOF
	}
	n := 0
	for ; len(b)-n >= len(record); n += copy(b[n:], record) {
		e.records++
	}
	return n, nil
}

// TestReaderGone: decode stops when nobody reads its output any longer.
func TestReaderGone(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	in := &endless{}
	err = Run(console.New(io.Discard), Options{Files: []string{"-"}}, in, sink.New("-", sink.Options{Stdout: w}))
	if f := (*console.Failure)(nil); !errors.As(err, &f) || !f.ReaderGone || in.records > 1<<18 {
		t.Errorf("%v, after %d records", err, in.records)
	}
}
