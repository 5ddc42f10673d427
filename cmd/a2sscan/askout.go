package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/a2sscan/a2sscan/sink/record"
)

// write prints record and verdict.
func (k *asking) write(v *verdict) {
	var b strings.Builder
	if n := len(k.log.events) + k.tap.lost - shownEvents; n > 0 {
		fmt.Fprintf(&b, "  … %s more\n", console.Plural(n, "datagram"))
	}
	b.WriteString("\nrecord:\n")
	for _, line := range pretty(record.Append(nil, "", k.result), k.log.width) {
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(&b, "\nverdict: %s\n", strings.ReplaceAll(v.Word, "_", " "))
	k.list(&b, v.Text)
	if len(v.Hints) > 0 {
		b.WriteString("\nworth knowing:\n")
		k.list(&b, v.Hints)
	}
	io.WriteString(k.app.out, b.String())
}

// list writes sentences, each behind a dash.
func (k *asking) list(b *strings.Builder, sentences []string) {
	for _, s := range sentences {
		for _, line := range console.Wrap("- "+s, k.log.width, 2) {
			b.WriteString(line + "\n")
		}
	}
}

// askedJSON is what --json prints.
type askedJSON struct {
	Schema int    `json:"schema"`
	Addr   string `json:"addr"`
	*verdict
	Record    json.RawMessage `json:"record"`
	Datagrams []datagramJSON  `json:"datagrams"`
	LeftOut   int             `json:"datagrams_left_out"` // beyond what is kept of a flood
}

type datagramJSON struct {
	Millis float64 `json:"ms"` // since the first
	Sent   bool    `json:"sent"`
	Addr   string  `json:"addr"` // the other end
	Bytes  int     `json:"bytes"`
	What   string  `json:"what"` // in words, which may change
	Hex    string  `json:"hex"`
}

func (k *asking) writeJSON(v *verdict) {
	j := askedJSON{
		Schema: 1, Addr: k.target.String(), verdict: v, LeftOut: k.tap.lost,
		Record: record.Append(nil, "", k.result),
	}
	for i := range k.log.events {
		e := &k.log.events[i]
		j.Datagrams = append(j.Datagrams, datagramJSON{
			ms(k.log.since(e)), e.sent, e.addr.String(), len(e.data),
			k.log.what[i], hex.EncodeToString(e.data),
		})
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(&j) // of types that can be written
	line := []byte(strings.TrimSuffix(b.String(), "\n"))
	if isTerminal(k.app.out.w) {
		line = console.Visible(line)
	}
	k.app.out.Write(append(line, '\n')) // an error is the output's, which run says
}
