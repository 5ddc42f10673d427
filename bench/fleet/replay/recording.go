package replay

import (
	"errors"
	"fmt"
	"math"
	"net/netip"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// Recording is a census prepared to be served again: what each of its servers sent,
// and in answer to which question. Place assigns the servers addresses and ports on
// loopback, and Open serves them there.
//
// If a server's record has all its datagrams (raw), the server sends them byte for
// byte and in their order. For any other server the datagrams are rebuilt from the
// record, so that they make the same record again. A record does not show when a
// datagram came or which questions had been asked before. A Recording assumes that
// the scanner never repeated a question that was answered.
//
//   - A question gets challenges until its request has the last challenge that came
//     before its answer, but at most three.
//   - A server that gave new challenges without end gives the recorded challenges first
//     and then others, none of them twice.
//   - The datagrams that answer a question come together, and again each time it is
//     asked. Useless datagrams that came before them are sent first, each in answer to
//     a separate request.
//   - INFO drew everything that came before its answer and before any challenge:
//     nothing else had been asked.
//   - A question that was not answered then is never answered.
type Recording struct {
	servers []recorded
	data    []byte           // the datagrams, one after the other
	ends    []uint32         // the end of each datagram in data
	bursts  []uint32         // the end of each burst in ends
	rounds  []wire.Challenge // the challenges of all servers
	tags    map[int]string   // tags of the servers that have one, by index
	places  map[uint64]int   // index of the server at each packed address and port
	ports   []uint16         // ports of the servers
	drafter drafter

	Stats RecordingStats
}

// RecordingStats counts the parts of a Recording.
type RecordingStats struct {
	Raw         int // servers whose datagrams were recorded
	Remade      int // servers whose datagrams are rebuilt from their record
	Silent      int // servers that never answered, except those in Unreachable
	Unreachable int // servers that ICMP reported as unreachable
	Moved       int // servers that could not keep their host bits and port
	Bytes       int64
}

// The limits of a Recording. Add skips servers beyond them.
const (
	maxRecorded      = 1 << 30 // bytes of datagrams
	maxRecordedHosts = 1 << 22 // servers: some 120 bytes each
)

// The errors with which Add rejects a line that is a record.
var (
	ErrFull     = errors.New("more than 1 GiB of datagrams or 4,194,304 servers")
	ErrDropped  = errors.New("the record lacks a part that was too long for it, and its datagrams")
	ErrUnsent   = errors.New("nothing could be sent to the server, so it is unknown what the server answers")
	ErrDatagram = fmt.Errorf("raw: a datagram of more than %d bytes", loopback.MaxDatagram)
)

// recorded is a server of a Recording.
type recorded struct {
	original uint64 // packed; 0: the record names no address
	place    uint64 // packed
	rounds   extent // a part of Recording.rounds
	says     [wire.NumQuestions]saying
	given    uint32 // challenges given so far by a server that accepts none
	gone     bool   // unreachable
}

// extent is a part of a slice.
type extent struct{ first, n uint32 }

// saying is what a server sends in answer to a question.
type saying struct {
	bursts extent // a part of Recording.bursts
	next   uint32 // index of the next burst
	manner manner
	needs  uint16 // mannerChallenged: number of the first round that is accepted, from 1
}

// manner is the way in which a server accepts challenges for a question.
type manner uint8

const (
	mannerBare       manner = iota // it ignores the challenge
	mannerChallenged               // it demands one of its own challenges
	mannerNever                    // it accepts none
)

// NewRecording returns a Recording without servers.
func NewRecording() *Recording {
	return &Recording{tags: map[int]string{}, drafter: newDrafter()}
}

// Len returns the number of servers, including silent ones.
func (rec *Recording) Len() int { return len(rec.servers) }

// Ports returns the ports of the servers. Place must have been called.
func (rec *Recording) Ports() []uint16 { return rec.ports }

// Add adds the server that line, a record of the census as JSON, describes. If it
// returns an error, it has not added the server: the server can't be replayed or,
// with ErrFull, the Recording has no room for it.
func (rec *Recording) Add(line []byte) error {
	if len(rec.servers) >= maxRecordedHosts {
		return ErrFull
	}
	_, r, err := record.Parse(line)
	raw := err == nil && len(r.Raw) > 0
	if !raw { // without raw, the rest of the record is needed
		if _, r, err = record.Read(line); err != nil && !errors.Is(err, record.ErrNoRaw) {
			return err
		}
	}
	s := recorded{gone: r.Status == scanner.StatusUnreachable}
	if r.Addr.IsValid() && r.Addr.Addr().Is4() {
		s.original = udp.Pack(r.Addr)
	}
	silent := s.gone || r.Status == scanner.StatusNoReply
	if err := rec.draft(r, raw, silent); err != nil {
		return err
	}
	if err := rec.keep(&s, &rec.drafter); err != nil {
		return err
	}
	rec.count(&s, raw, silent)
	if r.Tag != "" {
		rec.tags[len(rec.servers)] = r.Tag
	}
	rec.servers = append(rec.servers, s)
	return nil
}

// draft makes the drafter work out what a server sends.
func (rec *Recording) draft(r *scanner.Result, raw, silent bool) error {
	rec.drafter.reset()
	switch {
	case raw:
		return rec.drafter.fromRaw(r)
	case unsent(r):
		return ErrUnsent
	case silent:
		return nil
	case dropped(r):
		return ErrDropped
	}
	rec.drafter.fromRecord(r)
	return nil
}

func (rec *Recording) count(s *recorded, raw, silent bool) {
	switch {
	case s.gone:
		rec.Stats.Unreachable++
	case silent:
		rec.Stats.Silent++
	case raw:
		rec.Stats.Raw++
	default:
		rec.Stats.Remade++
	}
	rec.Stats.Bytes = int64(len(rec.data))
}

// dropped reports whether the record lacks an answer because it would have been too
// long with it.
func dropped(r *scanner.Result) bool {
	has := [wire.NumQuestions]bool{r.HasInfo, r.HasPlayers, r.HasRules}
	for q := range wire.Question(wire.NumQuestions) {
		if r.Asked.Has(q) && !has[q] && r.Err[q] == 0 {
			return true
		}
	}
	return false
}

// unsent reports whether a question could not be sent and no question was answered.
func unsent(r *scanner.Result) bool {
	failed := false
	for _, e := range r.Err {
		failed = failed || e == wire.ErrSendFailed
	}
	return failed && r.Received == 0
}

// keep copies what a server sends into the memory that all servers share.
func (rec *Recording) keep(s *recorded, d *drafter) error {
	if len(rec.data)+d.size() > maxRecorded || len(rec.ends) > math.MaxInt32 {
		return ErrFull
	}
	s.rounds = extent{uint32(len(rec.rounds)), uint32(len(d.rounds))}
	rec.rounds = append(rec.rounds, d.rounds...)
	for q := range d.says {
		p := &d.says[q]
		s.says[q] = saying{
			bursts: extent{uint32(len(rec.bursts)), uint32(len(p.bursts))},
			manner: p.manner, needs: uint16(min(p.needs, math.MaxUint16)),
		}
		for _, burst := range p.bursts {
			for _, datagram := range burst {
				rec.data = append(rec.data, datagram...)
				rec.ends = append(rec.ends, uint32(len(rec.data)))
			}
			rec.bursts = append(rec.bursts, uint32(len(rec.ends)))
		}
	}
	return nil
}

// end returns the index at which entry i begins, which is the end of entry i-1.
func end(ends []uint32, i uint32) uint32 {
	if i == 0 {
		return 0
	}
	return ends[i-1]
}

// burst calls yield for each datagram of burst i.
func (rec *Recording) burst(i uint32, yield func(datagram []byte)) {
	for d := end(rec.bursts, i); d < rec.bursts[i]; d++ {
		yield(rec.data[end(rec.ends, d):rec.ends[d]:rec.ends[d]])
	}
}

// At returns the address and port of server i, and those at which it was recorded.
// The latter are invalid if the record has no address.
func (rec *Recording) At(i int) (place, original netip.AddrPort) {
	s := &rec.servers[i]
	if s.original != 0 {
		original = udp.Unpack(s.original)
	}
	return udp.Unpack(s.place), original
}
