package transcript

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Text returns the verdict, the datagrams and the record as text. datagrams is what
// the Transcript wrote.
func (s *Session) Text(v *Verdict, datagrams string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "verdict: %s\n", strings.ReplaceAll(v.Word, "_", " "))
	s.list(&b, v.Text)
	if len(v.Hints) > 0 {
		b.WriteString("\nworth knowing:\n")
		s.list(&b, v.Hints)
	}
	fmt.Fprintf(&b, "\ndatagrams, with a timeout of %v and %s:\n%s", s.Timeout, retries(s.Retries), datagrams)
	if n := len(s.Log.events) + s.Tap.dropped - shownEvents; n > 0 {
		fmt.Fprintf(&b, "  … %s more %s\n", console.Grouped(uint64(n)), console.Things(n, "datagram"))
	}
	b.WriteString("\nrecord:\n")
	for _, line := range pretty(record.Append(nil, "", s.Result), s.Log.width) {
		b.WriteString(line + "\n")
	}
	return b.String()
}

func retries(n int) string {
	if n == 1 {
		return "1 retry"
	}
	return fmt.Sprintf("%d retries", n)
}

// list writes sentences as a list with dashes.
func (s *Session) list(b *strings.Builder, sentences []string) {
	for _, sentence := range sentences {
		for _, line := range console.Wrap("- "+sentence, s.Log.width, 2) {
			b.WriteString(line + "\n")
		}
	}
}

// sessionJSON is the session as a JSON object, for programs.
type sessionJSON struct {
	Schema int    `json:"schema"`
	Addr   string `json:"addr"`
	*Verdict
	Record    json.RawMessage `json:"record"`
	Datagrams []datagramJSON  `json:"datagrams"`
	LeftOut   int             `json:"datagrams_left_out"` // datagrams beyond the limits of the tap
}

type datagramJSON struct {
	Millis float64 `json:"ms"` // since the first datagram
	Sent   bool    `json:"sent"`
	Addr   string  `json:"addr"` // the other end
	Bytes  int     `json:"bytes"`
	What   string  `json:"what"` // description; its wording may change
	Hex    string  `json:"hex"`
}

// JSON returns the session as one line of JSON without a newline.
func (s *Session) JSON(v *Verdict) []byte {
	j := sessionJSON{
		Schema: 1, Addr: s.target().String(), Verdict: v, LeftOut: s.Tap.dropped,
		Record: record.Append(nil, "", s.Result),
	}
	for i := range s.Log.events {
		e := &s.Log.events[i]
		j.Datagrams = append(j.Datagrams, datagramJSON{
			ms(s.Log.since(e)), e.sent, e.addr.String(), len(e.data),
			s.Log.what[i], hex.EncodeToString(e.data),
		})
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(&j) // every type in it can be encoded
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
