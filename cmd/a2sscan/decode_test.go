package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// TestDecodePcap decodes a capture of a request and two replies. The second reply
// is truncated.
func TestDecodePcap(t *testing.T) {
	le := binary.LittleEndian
	file := []byte("\xd4\xc3\xb2\xa1\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x65\x00\x00\x00")
	server, client := "\x0a\x00\x00\x01", "\x0a\x00\x00\x02"
	for _, p := range []struct{ from, to, ports, payload string }{
		{client, server, "\x9c\x40\x69\x87", "\xff\xff\xff\xffTSource Engine Query\x00"},
		{server, client, "\x69\x87\x9c\x40", "\xff\xff\xff\xffD\x00"},
		{server, client, "\x69\x87\x9c\x40", "\xff\xff\xff\xffE\x01\x00a\x001\x00"},
	} {
		n := byte(28 + len(p.payload))
		packet := "\x45\x00\x00" + string(n) + "\x00\x4d\x00\x00\x40\x11\x00\x00" + p.from + p.to +
			p.ports + "\x00" + string(n-20) + "\x00\x00" + p.payload
		file = le.AppendUint32(append(file, make([]byte, 8)...), uint32(len(packet)))
		file = append(le.AppendUint32(file, uint32(len(packet))), packet...)
	}
	var stdout, stderr bytes.Buffer
	out := filepath.Join(t.TempDir(), "out.ndjson")
	code := run([]string{"decode", "-o", out}, bytes.NewReader(file[:len(file)-2]), &stdout, &stderr)
	const want = `{"schema":1,"ip":"10.0.0.1","port":27015,"addr":"10.0.0.1:27015","status":"ok","received":1,"received_bytes":6,"players":[]}` + "\n"
	const numbers = "a2sscan: -: 2 packets, 1 replies, 0 cut short\n" +
		"a2sscan: -: truncated: its last packet is left out\n" +
		"a2sscan: 1 record from 1 datagram, 0 bad lines\n"
	got, err := os.ReadFile(out)
	if err != nil || code != console.ExitOK || string(got) != want || stderr.String() != numbers {
		t.Errorf("%v: %d %s%s", err, code, got, stderr.String())
	}
}
