package replay

import (
	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// drafter works out what a recorded server sends in answer to which question. It
// reuses its memory for the next server.
type drafter struct {
	rounds []wire.Challenge // the challenges in their order, none twice in a row
	says   [wire.NumQuestions]draft

	table  *reasm.Table
	unpack reasm.Unpacker
	buf    []byte
	plain  []byte
	takes  []taken
	open   map[uint32][]int // takes of incomplete groups, by split ID
	last   map[uint32]wire.Question
	made   []byte // memory for datagrams that the record does not contain
}

// draft is a saying in preparation.
type draft struct {
	bursts [][][]byte
	manner manner
	needs  int
}

// taken is what the drafter knows about one recorded datagram.
type taken struct {
	role   role
	answer wire.Question // roleAnswer: the question that it answers
	asked  wire.Question // the question in answer to which it came
	closes bool          // it completes the answer
	useful bool          // it is part of an answer that was completed
	group  uint32        // common to the fragments of one reply; 0: none
	before int           // challenges that came before it
}

type role uint8

const (
	roleJunk      role = iota // not an answer
	roleAnswer                // an answer or a part of one
	roleChallenge             // an 'A'
)

// source is the source address that the drafter gives its table for all datagrams.
const source = 1

func newDrafter() drafter {
	return drafter{
		table: reasm.New(reasm.Config{MaxGroups: 64}),
		open:  map[uint32][]int{},
		last:  map[uint32]wire.Question{},
	}
}

func (d *drafter) reset() {
	d.rounds = d.rounds[:0]
	d.says = [wire.NumQuestions]draft{}
	d.takes = d.takes[:0]
	d.made = nil
	d.table.Forget(source)
	clear(d.open)
	clear(d.last)
}

// size returns the total length of all datagrams of the draft, in bytes.
func (d *drafter) size() (n int) {
	for q := range d.says {
		for _, burst := range d.says[q].bursts {
			for _, datagram := range burst {
				n += len(datagram)
			}
		}
	}
	return n
}

// fromRaw drafts the replies of a server from the datagrams that it sent.
func (d *drafter) fromRaw(r *scanner.Result) error {
	for i, datagram := range r.Raw {
		if len(datagram) > loopback.MaxDatagram {
			return ErrDatagram
		}
		d.takes = append(d.takes, taken{before: len(d.rounds)})
		d.classify(i, datagram)
	}
	d.leftovers(r)
	d.attribute(r)
	for q := range wire.Question(wire.NumQuestions) {
		d.assemble(r, q)
	}
	return nil
}

// classify determines the role of datagram i.
func (d *drafter) classify(i int, datagram []byte) {
	t := &d.takes[i]
	switch {
	case wire.IsSplit(datagram):
		d.fragment(i, datagram)
		return
	case !wire.IsSingle(datagram):
		return
	}
	if c, err := wire.DecodeChallenge(datagram); err == nil {
		t.role = roleChallenge
		if n := len(d.rounds); n == 0 || d.rounds[n-1] != c {
			d.rounds = append(d.rounds, c)
		}
		return
	}
	if q, ok := answers(datagram); ok {
		t.role, t.answer, t.closes = roleAnswer, q, usable(datagram)
		t.useful = t.closes
	}
}

// answers returns the question that a message answers.
func answers(msg []byte) (wire.Question, bool) {
	switch wire.KindOf(msg) {
	case wire.KindInfo, wire.KindGoldSource:
		return wire.QuestionInfo, true
	case wire.KindPlayers:
		return wire.QuestionPlayers, true
	case wire.KindRules:
		return wire.QuestionRules, true
	}
	return 0, false
}

// usable reports whether a scanner would accept a message as an answer: it contains
// more than its type byte.
func usable(msg []byte) bool { return len(wire.Body(msg)) > 1 }

// fragment passes a fragment to the table. The question that a reply answers is
// known when the reply is complete.
func (d *drafter) fragment(i int, datagram []byte) {
	id, err := wire.SplitID(datagram)
	if err != nil {
		return
	}
	msg, outcome, err := d.table.Add(0, source, datagram, d.buf[:0])
	d.buf = msg[:0]
	if err != nil {
		return
	}
	d.takes[i].role = roleAnswer
	d.open[id] = append(d.open[id], i)
	switch outcome {
	case reasm.Packed:
		d.plain, err = d.unpack.Unpack(d.plain[:0], msg)
		if msg = d.plain; err != nil {
			return // leftovers finds the question
		}
	case reasm.Whole:
	default:
		return
	}
	if q, ok := answers(msg); ok {
		d.takes[i].closes = usable(msg)
		d.close(id, q, d.takes[i].closes)
	}
}

// close assigns all open fragments with a split ID to the question that they
// answer.
func (d *drafter) close(id uint32, q wire.Question, useful bool) {
	for _, i := range d.open[id] {
		t := &d.takes[i]
		t.answer, t.useful, t.group = q, useful, uint32(d.open[id][0])+1
	}
	d.last[id] = q
	delete(d.open, id)
}

// leftovers guesses which questions the fragments of incomplete replies answer.
func (d *drafter) leftovers(r *scanner.Result) {
	for id, takes := range d.open {
		q, ok := d.last[id]
		for _, i := range takes {
			if first, is := begins(r.Raw[i]); is {
				q, ok = first, true
			}
		}
		if !ok {
			q = failedFor(r, wire.ErrIncomplete, wire.ErrTooLarge, wire.ErrChecksum, wire.ErrMalformed)
		}
		d.close(id, q, false)
	}
}

// begins returns the question that a reply answers, if the datagram is the first
// fragment of a reply that is not compressed.
func begins(datagram []byte) (wire.Question, bool) {
	layout, packed := wire.ShowLayout(datagram)
	var f wire.Fragment
	if packed || f.Decode(datagram, layout, false) != nil || f.Number != 0 {
		return 0, false
	}
	return answers(f.Payload)
}

// failedFor returns the last question that failed for one of the reasons; earlier
// reasons take precedence. If no question did, it returns wire.QuestionRules.
func failedFor(r *scanner.Result, reasons ...wire.Error) wire.Question {
	for _, reason := range reasons {
		for q := wire.Question(wire.NumQuestions); q > 0; q-- {
			if r.Err[q-1] == reason {
				return q - 1
			}
		}
	}
	return wire.QuestionRules
}

// attribute determines the question to which each datagram was a reaction.
func (d *drafter) attribute(r *scanner.Result) {
	var closed scanner.Questions
	alone := d.aloneUntil(r)
	for i := range d.takes {
		t := &d.takes[i]
		switch {
		case i <= alone: // nothing else had been asked
			t.asked = wire.QuestionInfo
		case t.role == roleAnswer:
			t.asked = t.answer
		default:
			t.asked = meantFor(r, r.Raw[i], closed)
		}
		if t.closes {
			closed |= 1 << t.answer
		}
	}
}

// aloneUntil returns the index of the last datagram that came while only INFO had
// been asked, or -1 if there is none. A scanner asks nothing between an 'm' and its
// 'I' (EC-64).
func (d *drafter) aloneUntil(r *scanner.Result) int {
	if !r.Asked.Has(wire.QuestionInfo) {
		return -1
	}
	gold := -1
	for i := range d.takes {
		switch t := &d.takes[i]; {
		case t.before > 0 || t.role == roleChallenge:
			return gold
		case !t.closes || t.answer != wire.QuestionInfo:
		case wire.KindOf(r.Raw[i]) != wire.KindGoldSource:
			return i
		case gold < 0:
			gold = i
		}
	}
	if gold >= 0 {
		return gold
	}
	return len(d.takes) - 1
}

// meantFor guesses which question drew a datagram that is not an answer: an open
// question that failed with the matching error or, if there is none, the first open
// question.
func meantFor(r *scanner.Result, datagram []byte, closed scanner.Questions) wire.Question {
	reason := wire.ErrMalformed
	if wire.IsSingle(datagram) {
		switch wire.KindOf(datagram) {
		case wire.KindLimited:
			reason = wire.ErrRateLimited
		case wire.KindBanned:
			reason = wire.ErrBanned
		case wire.KindChallenge, 0:
		default:
			reason = wire.ErrUnexpected
		}
	}
	open := r.Asked &^ closed
	for _, qs := range [...]scanner.Questions{failed(r, reason) & open, open, r.Asked} {
		for q := range wire.Question(wire.NumQuestions) {
			if qs.Has(q) {
				return q
			}
		}
	}
	return wire.QuestionInfo
}

func failed(r *scanner.Result, reason wire.Error) (qs scanner.Questions) {
	for q, e := range r.Err {
		if e == reason {
			qs |= 1 << q
		}
	}
	return qs
}

// mostBefore is the maximum number of useless bursts before an answer: by default a
// question is asked three times.
const mostBefore = 2

// assemble drafts what the server sends in answer to q.
func (d *drafter) assemble(r *scanner.Result, q wire.Question) {
	p := &d.says[q]
	vain, answer, needs := d.collect(r, q)
	most := mostBefore
	if len(answer) == 0 {
		most = max(1, int(r.Sent))
	}
	p.bursts = merge(vain, most)
	if len(answer) > 0 {
		p.bursts = append(p.bursts, answer)
	}
	came := len(p.bursts) > 0
	switch {
	case r.Unchallenged.Has(q) || len(d.rounds) == 0:
	case !came && r.Err[q] == wire.ErrChallengeLoop:
		p.manner = mannerNever
	case !came:
		p.manner, p.needs = mannerChallenged, 1
	case needs > 0:
		p.manner, p.needs = mannerChallenged, needs
	}
}

// collect returns the datagrams that came in answer to q. vain holds the useless
// datagrams, each reply separately. answer holds the answer and everything that
// came after it. needs is the number of challenges that had come before.
func (d *drafter) collect(r *scanner.Result, q wire.Question) (vain [][][]byte, answer [][]byte, needs int) {
	groups := map[uint32]int{}
	answered, first := false, true
	for i := range d.takes {
		t := &d.takes[i]
		if t.role == roleChallenge || t.asked != q {
			continue
		}
		if first {
			first, needs = false, t.before
		}
		at, known := groups[t.group]
		switch {
		case answered || t.useful:
			answer = append(answer, r.Raw[i])
		case t.group != 0 && known:
			vain[at] = append(vain[at], r.Raw[i])
		default:
			groups[t.group] = len(vain)
			vain = append(vain, [][]byte{r.Raw[i]})
		}
		answered = answered || t.closes && t.answer == q
	}
	return vain, answer, needs
}

// merge combines neighbouring bursts until no more than most are left.
func merge(bursts [][][]byte, most int) (merged [][][]byte) {
	n := (len(bursts) + most - 1) / most
	for i, burst := range bursts {
		if i%n == 0 {
			merged = append(merged, burst)
			continue
		}
		last := &merged[len(merged)-1]
		*last = append(*last, burst...)
	}
	return merged
}
