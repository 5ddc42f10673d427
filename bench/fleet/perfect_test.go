package fleet

import (
	"bytes"
	"compress/bzip2"
	"hash/crc32"
	"io"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// perfect is a client that loses nothing and can decode every form of a reply.
// Tests compare its results with the truth. It is not a scanner: it asks one
// question at a time and believes every answer.
type perfect struct {
	t   testing.TB
	ask func(server uint64, request []byte) [][]byte // all datagrams of the answer
}

// inProcess returns a function that queries a responder without a socket.
func inProcess(m *model) func(server uint64, request []byte) [][]byte {
	r := newResponder(m, 1)
	const client = 127<<40 | 1<<16 | 5000
	return func(server uint64, request []byte) (ds [][]byte) {
		r.out.Reset()
		r.Respond(time.Second, client, server, request)
		for i := range r.out.List {
			ds = append(ds, bytes.Clone(r.out.Bytes(&r.out.List[i])))
		}
		return ds
	}
}

// scan returns a Result of a server's answers, or nil if nothing came.
func (p *perfect) scan(addr netip.AddrPort, asked scanner.Questions) *scanner.Result {
	r := &scanner.Result{Addr: addr, Asked: asked, PlayersAnnounced: -1, RulesAnnounced: -1}
	came := false
	for q := range wire.Question(wire.NumQuestions) {
		if !asked.Has(q) {
			continue
		}
		msgs, bare, some := p.messages(udp.Pack(addr), q)
		came = came || some
		r.Err[q] = wire.ErrTimeout
		for _, msg := range msgs {
			p.decode(r, q, msg)
			if bare {
				r.Unchallenged |= 1 << q
			}
		}
	}
	whole := r.Err == [wire.NumQuestions]wire.Error{}
	switch {
	case whole:
		r.Status = scanner.StatusOK
	case r.HasInfo || r.HasPlayers || r.HasRules:
		r.Status = scanner.StatusPartial
	case came:
		r.Status = scanner.StatusError
	default:
		return nil
	}
	return r
}

// messages returns the complete messages that answer q. bare reports whether they
// answer a request without a challenge, and came whether any datagram came.
func (p *perfect) messages(server uint64, q wire.Question) (msgs [][]byte, bare, came bool) {
	c := wire.NoChallenge
	for range 4 {
		ds := p.ask(server, wire.AppendRequest(nil, q, c))
		if len(ds) == 0 && c == wire.NoChallenge {
			ds = p.ask(server, wire.AppendRequest(nil, wire.QuestionChallenge, 0)) // some give a challenge only to this request
		}
		if len(ds) == 0 {
			return nil, false, came
		}
		came = true
		next, err := wire.DecodeChallenge(ds[0])
		if err != nil {
			return p.join(ds), c == wire.NoChallenge, true
		}
		c = next
	}
	p.t.Fatalf("%v: a fifth challenge", udp.Unpack(server))
	return nil, false, true
}

// join returns the complete messages in ds, whose fragments must be in order.
func (p *perfect) join(ds [][]byte) (msgs [][]byte) {
	if wire.IsSingle(ds[0]) {
		return ds
	}
	layout, packed := wire.ShowLayout(ds[0])
	var first, f wire.Fragment
	var msg []byte
	for i, d := range ds {
		if err := f.Decode(d, layout, packed); err != nil {
			p.t.Fatalf("fragment %d (%v): %v", i, layout, err)
		}
		if i == 0 {
			first = f
		}
		if f.ID != first.ID || int(f.Total) != len(ds) || int(f.Number) != i {
			p.t.Fatalf("fragment %d of %d has number %d of %d", i, len(ds), f.Number, f.Total)
		}
		msg = append(msg, f.Payload...)
	}
	if packed {
		msg = p.inflate(msg, first.DeclaredSize, first.CRC)
	}
	return [][]byte{msg}
}

// inflate decompresses z with package compress/bzip2, and checks the size and the
// CRC-32 of the result.
func (p *perfect) inflate(z []byte, size, crc uint32) []byte {
	msg, err := io.ReadAll(bzip2.NewReader(bytes.NewReader(z)))
	if err != nil || len(msg) != int(size) || crc32.ChecksumIEEE(msg) != crc {
		p.t.Fatalf("bzip2: %v, %d bytes of %d", err, len(msg), size)
	}
	return msg
}

// decode adds the contents of a message to r.
func (p *perfect) decode(r *scanner.Result, q wire.Question, msg []byte) {
	var err error
	switch wire.KindOf(msg) {
	case wire.KindGoldSource, wire.KindInfo:
		address, has := r.Info.Address, r.Info.Has&wire.HasAddress
		err = r.Info.Decode(msg)
		if has != 0 {
			r.Info.Address, r.Info.Has = address, r.Info.Has|has
		}
		r.HasInfo = true
	case wire.KindPlayers:
		err = decodePlayers(r, msg)
	case wire.KindRules:
		err = decodeRules(r, msg)
	default:
		err = wire.ErrUnexpected
	}
	code, _ := err.(wire.Error)
	if code == 0 || q == wire.QuestionRules {
		if q == wire.QuestionPlayers && len(r.Players) > 0 {
			r.Hashes[q] = xxhash.Sum64(msg)
		}
	}
	if r.Err[q] = code; code == 0 {
		r.Notes |= wire.HeaderNotes(msg)
		if q == wire.QuestionInfo {
			r.Notes |= r.Info.Notes
		}
	}
}

func decodePlayers(r *scanner.Result, msg []byte) error {
	hint := wire.ShipUnknown
	if id, ok := r.Info.AppID(); ok {
		hint = wire.ShipNo
		if wire.IsShip(id) {
			hint = wire.ShipYes
		}
	}
	var ps wire.Players
	if err := ps.Reset(msg, hint); err != nil {
		return err
	}
	for ps.Next() {
		r.Players = append(r.Players, *ps.Player())
	}
	r.HasPlayers = true
	r.Notes |= ps.Notes()
	if ps.Announced() != ps.Count() {
		r.PlayersAnnounced = ps.Announced()
	}
	return ps.Err()
}

func decodeRules(r *scanner.Result, msg []byte) error {
	var rs wire.Rules
	if err := rs.Reset(msg); err != nil {
		return err
	}
	names := make(map[string]bool)
	for rs.Next() {
		rule := *rs.Rule()
		if names[string(rule.Name)] {
			r.Notes |= wire.NoteRulesDuplicate
		}
		names[string(rule.Name)] = true
		r.Rules = append(r.Rules, rule)
	}
	r.HasRules = true
	r.Notes |= rs.Notes()
	if rs.Announced() != rs.Count() {
		r.RulesAnnounced = rs.Announced()
	}
	return rs.Err()
}

// plainKinds returns the kinds that a client without defences can query: the honest
// kinds except PlayersOnly, and the hostile kinds that send only well-formed
// messages.
func plainKinds() []Kind {
	answering := slices.DeleteFunc(HonestKinds(), func(k Kind) bool { return k == PlayersOnly })
	return append(answering, Huge, Unterminated, Flood64K, Ghosts, EndlessRules, Escapes)
}

// interpret sets the game and flags of r if the model knows the server's game.
func interpret(cfg Config, addr netip.AddrPort, r *scanner.Result) {
	if n, _ := cfg.Nature(addr); n.Game != "" {
		new(scanner.Interpreter).Interpret(r)
	}
}

// TestTruthIsWhatIsSent decodes the replies of about 1,800 servers, of all plain kinds
// except Games, and compares them with the truth, record by record.
func TestTruthIsWhatIsSent(t *testing.T) {
	var honest, hostile []Kind
	for _, k := range plainKinds() {
		if k.Hostile() {
			hostile = append(hostile, k)
		} else if k != Games { // see TestMeaningIsWhatIsSent
			honest = append(honest, k)
		}
	}
	cfg := Config{
		Network: netip.MustParsePrefix("127.3.0.0/22"), Ports: []uint16{27015, 27016},
		Seed: 7, Hostile: 0.1, Kinds: honest, HostileKinds: hostile, Alive: 0.9,
	}
	kinds := compareTruth(t, cfg, scanner.AskAll, scanner.AskPlayers|scanner.AskRules)
	for _, k := range append(honest, hostile...) {
		if kinds[k] == 0 {
			t.Errorf("no %v among %v", k, kinds)
		}
	}
}

// compareTruth fails the test if what a server of a fleet sends differs from the
// truth, for any of the sets of questions. It returns the number of servers of each
// kind.
func compareTruth(t *testing.T, cfg Config, questions ...scanner.Questions) map[Kind]int {
	t.Helper()
	m, err := newModel(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := &perfect{t: t, ask: inProcess(m)}
	kinds := make(map[Kind]int)
	for addr := range cfg.All() {
		for _, asked := range questions {
			want := cfg.Truth(addr, asked)
			got := p.scan(addr, asked)
			if (got == nil) != (want == nil) {
				t.Fatalf("%v asked %b: got %v, want %v", addr, asked, got, want)
			}
			if got == nil {
				continue
			}
			interpret(cfg, addr, got)
			want.Flags &^= TimingFlags
			g, w := record.Append(nil, "", got), record.Append(nil, "", want)
			if !bytes.Equal(g, w) {
				n, _ := cfg.Nature(addr)
				t.Fatalf("%v, a %v asked %b:\nsent  %s\ntruth %s", addr, n.Kind, asked, g, w)
			}
		}
		if n, ok := cfg.Nature(addr); ok {
			kinds[n.Kind]++
		}
	}
	return kinds
}
