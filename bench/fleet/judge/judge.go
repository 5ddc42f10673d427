// Package judge compares a census of simulated servers with the truth about them.
package judge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// Report counts the results of comparing a census of a fleet with the truth.
// Servers is the sum of AsTheyAre, Less, Wrong and Missing.
type Report struct {
	Servers int // addresses and ports that answer
	// Records that equal those of a perfect scan, or differ only because of timing.
	AsTheyAre int
	// Records that lack something but give the reason; the rest is correct.
	Less int
	// Records with a false statement, or that lack something without a reason.
	Wrong    int
	Missing  int // addresses and ports that answer but have no record
	Twice    int // further records of an address and port that already had a record
	Invented int // records of addresses and ports that never answer

	Examples []string // descriptions of some differences, the worst first; safe for a terminal
}

const maxExamples = 20

// Compare compares a census of the fleet with the truth. Each call of next returns a
// record of the census as a line of JSON, or io.EOF after the last record, as
// sink.Reader.Next does. The scan asked the questions in asked.
//
// Compare ignores what depends on the clock, on the input or on the network path: times,
// counts, and the keys scan, tag and raw. It returns an error and an empty Report if the
// census can't be read.
func Compare(c fleet.Config, asked wire.Questions, next func() ([]byte, error)) (Report, error) {
	truth, err := fleet.NewCensus(c)
	if err != nil {
		return Report{}, err
	}
	j := judge{
		truth: truth, fleet: c, asked: asked, seen: map[netip.AddrPort]bool{}, reader: record.NewReader(),
	}
	for n := 1; ; n++ {
		line, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		var rec *record.Record
		if err == nil {
			rec, err = j.reader.Read(line)
		}
		if err == nil && !rec.Addr.IsValid() {
			err = errors.New("the record has no address")
		}
		if err != nil {
			return Report{}, fmt.Errorf("record %d: %w", n, err)
		}
		// A record without a reply says nothing about the server.
		if rec.Status != scanner.StatusNoReply && rec.Status != scanner.StatusUnreachable {
			j.record(line, rec)
		}
	}
	for addr := range c.All() {
		if truth.Expect(addr, asked).Result == nil {
			continue
		}
		j.Servers++
		if !j.seen[addr] {
			j.Missing++
			j.example(&j.lacks, addr, "no record")
		}
	}
	j.Examples = append(j.lies, j.lacks...)
	j.Examples = j.Examples[:min(len(j.Examples), maxExamples)]
	return j.Report, nil
}

type judge struct {
	Report
	truth  *fleet.Census
	fleet  fleet.Config
	asked  wire.Questions
	seen   map[netip.AddrPort]bool
	lies   []string // examples of false statements
	lacks  []string // examples of what is missing
	reader *record.Reader
	enc    record.Encoder
}

func (j *judge) example(list *[]string, addr netip.AddrPort, format string, args ...any) {
	if len(*list) >= maxExamples {
		return
	}
	kind := "no server"
	if n, ok := j.fleet.Nature(addr); ok {
		kind = n.Kind.String()
	}
	text := fmt.Sprintf(format, args...)
	*list = append(*list, fmt.Sprintf("%v (%s): %s", addr, kind, text))
}

func (j *judge) record(line []byte, rec *record.Record) {
	if j.seen[rec.Addr] {
		j.Twice++
		j.example(&j.lies, rec.Addr, "a second record")
		return
	}
	j.seen[rec.Addr] = true
	e := j.truth.Expect(rec.Addr, j.asked)
	if e.Result == nil {
		j.Invented++
		j.example(&j.lies, rec.Addr, "the server never answers, but has a record")
		return
	}
	why := j.unread(line, rec)
	if hash, want := rec.PlayersHash, e.Result.PlayersHash; why == "" && hash != 0 && want != 0 && hash != want {
		why = "hashes.players is not the hash of the PLAYER reply"
	}
	if why == "" && e.Meaning {
		why = j.wrongMeaning(&rec.Result)
		// Compute the Expect again, because wrongMeaning has reused its memory.
		e = j.truth.Expect(rec.Addr, j.asked)
	}
	if why != "" {
		j.Wrong++
		j.example(&j.lies, rec.Addr, "%s", why)
		return
	}
	j.answers(&rec.Result, &e)
}

// unread compares a record with a new encoding of what the Reader read of it. It describes
// the difference, such as an unknown key, or returns "".
func (j *judge) unread(line []byte, rec *record.Record) string {
	if rec.Has("geo") {
		return "" // geo does not come from the scan
	}
	want := j.enc.Append(nil, rec.Scan, &rec.Result)
	if bytes.Equal(line, want) {
		return ""
	}
	got := jsontext.Value(bytes.Clone(line))
	want = bytes.TrimSpace(want)
	if got.Compact() == nil && bytes.Equal(got, want) {
		return ""
	}
	return fmt.Sprintf("the record is %s, but encoding its Result again gives %s", short(got, want), short(want, got))
}

// wrongMeaning compares the keys game and flags of a record with the truth. The truth is
// what a perfect scan records if it asks only the questions that this record answers
// completely. wrongMeaning returns a description of what is wrong, or "".
func (j *judge) wrongMeaning(got *scanner.Result) string {
	var answered wire.Questions
	for q, has := range [wire.NumQuestions]bool{got.HasInfo, got.HasPlayers, got.HasRules} {
		if has && got.Err[q] == 0 {
			answered |= 1 << q
		}
	}
	want := j.truth.Expect(got.Addr, answered).Result
	if want == nil {
		return ""
	}
	g, w := j.append(&scanner.Result{Game: got.Game}), j.append(&scanner.Result{Game: want.Game})
	if !bytes.Equal(g, w) {
		return fmt.Sprintf("the value of the key \"game\" is %s, expected %s", short(g, w), short(w, g))
	}
	if (got.Flags^want.Flags)&^fleet.TimingFlags != 0 {
		return fmt.Sprintf("the flags are %v, expected %v", got.Flags.Words(), want.Flags.Words())
	}
	return ""
}

func (j *judge) append(r *scanner.Result) []byte { return j.enc.Append(nil, "", r) }

// answers compares the answers in a record with the answers that a perfect scan gets,
// and counts the record.
func (j *judge) answers(got *scanner.Result, e *fleet.Expect) {
	g, w := j.append(only(got)), j.append(only(e.Result))
	if bytes.Equal(g, w) {
		j.AsTheyAre++
		return
	}
	text := fmt.Sprintf("the record has %s, expected %s", short(g, w), short(w, g))
	why := j.fault(got, e)
	otherInfo := only(got)
	otherInfo.Info = e.Result.Info
	switch {
	case why != "":
		j.Wrong++
		j.example(&j.lies, got.Addr, "%s; %s", why, text)
	case len(slices.Concat(e.Allowed[:]...)) > 0:
		j.AsTheyAre++ // the errors of this server depend on timing
	case e.Else != nil && j.fleet.Loss > 0 && bytes.Equal(j.append(otherInfo), w):
		// The server sends two INFO replies, and the network may have lost one of them.
		j.AsTheyAre++
	default:
		j.Less++
		j.example(&j.lacks, got.Addr, "the record lacks part of the server's answers; %s", text)
	}
}

// only(r) is a Result that contains the answers in r, and nothing else of r.
func only(r *scanner.Result) *scanner.Result {
	return &scanner.Result{
		Addr: r.Addr, Status: r.Status, Err: r.Err, Notes: r.Notes, Message: r.Message, Unchallenged: r.Unchallenged,
		HasInfo: r.HasInfo, Info: r.Info, HasPing: r.HasPing, Ping: r.Ping,
		HasPlayers: r.HasPlayers, Players: r.Players, PlayersAnnounced: r.PlayersAnnounced,
		HasRules: r.HasRules, Rules: r.Rules, RulesAnnounced: r.RulesAnnounced,
	}
}

const shown = 70

// short(v, other) is a part of v, escaped for a terminal. The part begins shortly before
// the first difference between v and other. If v is nil, it is "absent".
func short(v, other []byte) string {
	if v == nil {
		return "absent"
	}
	at := 0
	for at < len(v) && at < len(other) && v[at] == other[at] {
		at++
	}
	from := max(0, at-20)
	return strconv.QuoteToASCII(string(v[from:min(len(v), from+shown)]))
}

// excuses are the errors that are accepted for any server, because datagrams may be
// lost.
var excuses = []wire.Error{wire.ErrTimeout, wire.ErrIncomplete, wire.ErrUnreachable, wire.ErrSendFailed, wire.ErrExcluded}

// fault describes what is wrong with a record that differs from the record of a perfect
// scan. It returns "" if everything in the record is correct, and the record gives a
// reason for what it lacks.
func (j *judge) fault(g *scanner.Result, expect *fleet.Expect) string {
	w := only(expect.Result) // becomes a record with the errors of g that is correct
	failed := false
	for q := range wire.Question(wire.NumQuestions) {
		e := g.Err[q]
		failed = failed || e != 0
		switch {
		case e != 0 && !j.asked.Has(q):
			return fmt.Sprintf("the record has an error for the question %v, which the scan did not ask", q)
		case e != 0 && e != w.Err[q] && !slices.Contains(slices.Concat(expect.Allowed[q], excuses), e):
			return fmt.Sprintf("the question %v failed with the error %q, which this server can't cause", q, e)
		case e == 0 && w.Err[q] != 0 && j.asked.Has(q):
			return fmt.Sprintf("the question %v has no error, expected the error %v", q, w.Err[q])
		case e != 0:
			shorten(w, g, q)
		}
	}
	// The record must have no note that the truth lacks. If no question failed, the record
	// must also have all notes of the truth.
	switch {
	case (g.Status == scanner.StatusOK) == failed:
		return fmt.Sprintf("the status %v contradicts the record's errors (at least one question failed: %v)", g.Status, failed)
	case g.Unchallenged&^w.Unchallenged != 0:
		return "the key \"unchallenged\" names a question for which the server demands a challenge"
	case g.Notes&^w.Notes != 0:
		return "the record has unexpected notes"
	case !failed && g.Notes != w.Notes:
		return "the record lacks expected notes"
	}
	w.Status, w.Err, w.Unchallenged, w.Notes = g.Status, g.Err, g.Unchallenged, g.Notes
	record := j.append(only(g))
	if bytes.Equal(record, j.append(w)) {
		return ""
	}
	if expect.Else != nil {
		w.Info.Has &^= wire.HasAddress // expected if the reply in the GoldSource format was lost
		if bytes.Equal(record, j.append(w)) {
			return ""
		}
		w.Info = *expect.Else // expected if the reply in the Source format was lost
		if bytes.Equal(record, j.append(w)) {
			return ""
		}
	}
	return "the record differs from what the server sends"
}

// shorten reduces the answer to q in w to what g has of it. A failed answer may be
// incomplete, and may lack the announced count.
func shorten(w, g *scanner.Result, q wire.Question) {
	switch q {
	case wire.QuestionInfo:
		w.HasInfo = g.HasInfo
		w.Info.Has &= g.Info.Has
	case wire.QuestionPlayers:
		if g.PlayersAnnounced < 0 || w.PlayersAnnounced < 0 && g.PlayersAnnounced == len(w.Players) {
			w.PlayersAnnounced = g.PlayersAnnounced
		}
		w.HasPlayers, w.Players = g.HasPlayers, w.Players[:min(len(g.Players), len(w.Players))]
	case wire.QuestionRules:
		if g.RulesAnnounced < 0 || w.RulesAnnounced < 0 && g.RulesAnnounced == len(w.Rules) {
			w.RulesAnnounced = g.RulesAnnounced
		}
		w.HasRules, w.Rules = g.HasRules, w.Rules[:min(len(g.Rules), len(w.Rules))]
	}
}
