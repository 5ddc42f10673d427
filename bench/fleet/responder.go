package fleet

import (
	"bytes"
	"hash/crc32"
	"sync"
	"time"

	"github.com/dsnet/compress/bzip2"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/wire"
)

// Stats are the statistics of a fleet. The counters only grow.
type Stats = loopback.Stats

// responder answers the queries to one port. It has no socket and no clock: it adds
// its answers to an Outbox. Only one goroutine at a time may use it.
type responder struct {
	m       *model
	out     loopback.Outbox // answers not yet sent
	c       content         // content of the most recently queried server
	msg     []byte
	splitID uint32
	// Random numbers for those parts of answers that a server's nature does not determine.
	junk random.Stream
	// Pairs of a client and a server of kind Rechallenge whose first challenge the client
	// has used up.
	used  map[usedKey]bool
	stats Stats
}

type usedKey struct{ server, client uint64 }

func newResponder(m *model, port uint16) *responder {
	return &responder{
		m: m, junk: random.Stream(random.Hash(m.Seed, streamJunk, m.seedPort(port))),
		used: map[usedKey]bool{},
	}
}

type query struct {
	now      time.Duration
	client   uint64 // packed address of the sender
	question wire.Question
	request  wire.Request
	fate     *Fate // the event that changed the server, or nil
}

// Out returns the outbox for the answers, and the counters.
func (p *responder) Out() (*loopback.Outbox, *Stats) { return &p.out, &p.stats }

// Has reports whether the packed address and port belong to the fleet.
func (p *responder) Has(server uint64) bool { return p.m.has(server) }

// Respond adds the server's answer to the outbox, if there is an answer. The addresses
// client and server are packed.
func (p *responder) Respond(now time.Duration, client, server uint64, datagram []byte) {
	p.stats.Queries++
	n, fate, ok := p.m.now(server, now)
	trailing := false // the request has the additional NUL
	if n.kind == TrailingNUL {
		short, cut := bytes.CutSuffix(datagram, []byte{0})
		if r, err := wire.DecodeRequest(short); cut && err == nil && r.Kind != wire.KindInfoRequest {
			datagram, trailing = short, true
		}
	}
	request, err := wire.DecodeRequest(datagram)
	question, known := QuestionOf(request.Kind)
	q := query{now, client, question, request, fate}
	first := len(p.out.List)
	switch {
	case err != nil:
		p.stats.Malformed++
	case request.Kind == wire.KindPingRequest && ok && kinds[n.kind].pings && (trailing || n.kind != TrailingNUL):
		p.send(&n, wire.AppendText(nil, wire.KindPing, nil))
	case request.Kind == wire.KindChallengeRequest && ok && n.kind == GetChallenge:
		give, _ := p.challenge(&n, &q)
		p.send(&n, wire.AppendChallenge(nil, give))
	case !known:
		p.stats.Malformed++
	case !ok, n.kind == Silent, n.kind == PlayersOnly && question != wire.QuestionPlayers,
		n.kind == TrailingNUL && question != wire.QuestionInfo && !trailing:
		p.stats.Nobody++
	default:
		p.answer(&n, &q)
	}
	delay := n.delay
	if n.kind == EdgeCache && question == wire.QuestionRules {
		delay += edgeDelay
	}
	for i := range p.out.List[first:] {
		d := &p.out.List[first+i]
		d.To, d.Delay = client, delay
	}
}

// QuestionOf returns the question that a kind of request asks. It returns false for any
// other kind of message, such as a ping. The type bytes of the questions follow each other.
func QuestionOf(k wire.Kind) (wire.Question, bool) {
	q := wire.Question(k - wire.KindInfoRequest)
	return q, q < wire.NumQuestions
}

// answer replies to a query: with a challenge if the query needs a valid challenge and
// lacks it, otherwise with the requested data.
func (p *responder) answer(n *nature, q *query) {
	if n.challenged.Has(q.question) {
		c, ok := p.challenge(n, q)
		switch {
		case ok:
		case n.kind == GetChallenge:
			return
		case (n.kind == OwnChallenge || n.kind == ShortChallenge) && q.request.HasChallenge:
			// Such servers send a challenge only in answer to a request without one.
			return
		default:
			at := len(p.out.Data)
			p.out.Data = wire.AppendChallenge(p.out.Data, c)
			p.out.Add(n.addr, at)
			return
		}
	}
	if n.kind == InfoOnly && q.question != wire.QuestionInfo {
		return
	}
	p.c.fill(n, 1<<q.question)
	if q.fate != nil {
		q.fate.apply(&p.c, q.now-q.fate.end)
	}
	if n.kind.Hostile() && p.misbehave(n, q.question) {
		return
	}
	p.say(n, q.question)
	if n.kind == InfoFlood && q.question == wire.QuestionInfo {
		p.out.Again(floodAnswers - 1)
	}
}

// say answers q with the data in p.c.
func (p *responder) say(n *nature, q wire.Question) {
	if n.kind == Both && q == wire.QuestionInfo {
		p.msg = wire.AppendInfo(p.msg[:0], &p.c.gold)
		p.send(n, p.msg)
	}
	if n.kind == Packed && q == wire.QuestionRules {
		p.sendPacked(n, packedRules(packedSet(n)))
		return
	}
	p.msg = p.c.appendMessage(p.msg[:0], q)
	if n.splits(len(p.msg)) {
		p.sendSplit(n, wire.Fragment{ID: p.nextID(n)}, p.msg)
		return
	}
	p.send(n, p.msg)
}

func (c *content) appendMessage(dst []byte, q wire.Question) []byte {
	switch q {
	case wire.QuestionInfo:
		return append(wire.AppendInfo(dst, &c.info), c.trailing...)
	case wire.QuestionPlayers:
		return wire.AppendPlayers(dst, c.playersAnnounced, c.players)
	}
	return append(wire.AppendRules(dst, c.rulesAnnounced, c.rules), c.cut...)
}

func (p *responder) send(n *nature, msg []byte) {
	at := len(p.out.Data)
	p.out.Data = append(p.out.Data, msg...)
	p.out.Add(n.addr, at)
}

// maxWhole is the maximum length of a reply that servers of real games send in one
// datagram.
const maxWhole = 1400

// splits reports whether the server splits a reply of length bytes.
func (n *nature) splits(length int) bool {
	switch n.kind {
	case Split, SplitNoSize, SplitGoldSource, OneSplitID:
		return length > n.fragment
	}
	return n.title != nil && length > maxWhole
}

// sendSplit sends data in fragments. In a compressed reply, fragment 0 uses eight of its
// bytes for the declared size and the checksum. The caller has set f.ID.
func (p *responder) sendSplit(n *nature, f wire.Fragment, data []byte) {
	const header = 4 + 4
	size, room := n.fragment, n.fragment
	if f.Compressed {
		room -= header
	}
	f.Layout, f.Size = n.layout, uint16(size)
	f.Total = uint8((size - room + len(data) + size - 1) / size)
	for ; len(data) > 0; room = size {
		f.Payload = data[:min(room, len(data))]
		data = data[len(f.Payload):]
		p.sendFragment(n, &f)
		f.Number++
	}
}

func (p *responder) sendFragment(n *nature, f *wire.Fragment) {
	at := len(p.out.Data)
	p.out.Data = wire.AppendFragment(p.out.Data, f)
	p.out.Add(n.addr, at)
}

// nextID returns the split ID of the next reply. The IDs of one server are close to
// each other (EC-119).
func (p *responder) nextID(n *nature) uint32 {
	if n.kind == OneSplitID {
		return uint32(n.hash) &^ wire.CompressedID
	}
	p.splitID++
	return (p.splitID + uint32(n.hash)) &^ wire.CompressedID
}

// The time for which a server gives out the same challenge. The server accepts a challenge
// for at most twice as long. An unmodified HLDS accepts a challenge for an hour (EC-14).
const (
	challengeLife = time.Hour
	shortLife     = 2500 * time.Millisecond // of servers of kind ShortChallenge
)

// challenge reports whether the query has a valid challenge. If not, its first result, give,
// is the challenge that the client needs.
func (p *responder) challenge(n *nature, q *query) (give wire.Challenge, ok bool) {
	given := func(c wire.Challenge) bool { return q.request.HasChallenge && q.request.Challenge == c }
	life := challengeLife
	switch n.kind {
	case EndlessChallenges:
		return random.Challenge(p.junk.Next()), false
	case OwnChallenge:
		give = p.m.challengeOf(n, q.client, uint64(q.question))
		return give, given(give)
	case Rechallenge: // the first challenge is valid once, the second always
		give = p.m.challengeOf(n, q.client, 0)
		next := p.m.challengeOf(n, q.client, 1)
		key := usedKey{n.addr, q.client}
		switch used := p.used[key]; {
		case given(next):
			return next, true
		case used:
			return next, false
		case !given(give):
			return give, false
		}
		p.used[key] = true
		return give, true
	case ShortChallenge:
		life = shortLife
	}
	// The challenge changes after each challengeLife or shortLife. The server also accepts
	// the previous challenge.
	epoch := uint64(q.now / life)
	give = p.m.challengeOf(n, q.client, epoch)
	return give, given(give) || epoch > 0 && given(p.m.challengeOf(n, q.client, epoch-1))
}

// challengeOf returns the challenge that a server gives to a client. Servers that have
// several challenges for a client number them. A challenge does not depend on the client's
// port (EC-15).
func (m *model) challengeOf(n *nature, client, number uint64) wire.Challenge {
	if n.quirks&quirkZero != 0 {
		return 0
	}
	return random.Challenge(random.Hash(n.hash, client>>16, number))
}

// packed is a compressed reply: bzip2 data, and the header fields of fragment 0.
type packed struct {
	data []byte
	size uint32 // declared size of the uncompressed reply
	crc  uint32 // CRC-32 (IEEE) of the uncompressed reply
}

func compress(msg []byte, level int) packed {
	var b bytes.Buffer
	w, err := bzip2.NewWriter(&b, &bzip2.WriterConfig{Level: level})
	if err == nil {
		_, err = w.Write(msg)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("fleet: can't compress with bzip2: " + err.Error()) // writing to memory can't fail
	}
	return packed{b.Bytes(), uint32(len(msg)), crc32.ChecksumIEEE(msg)}
}

var packedLists [packedSets]struct {
	once sync.Once
	packed
}

// packedRules returns packedLists[set]. The first call for a set compresses its rules.
func packedRules(set int) packed {
	l := &packedLists[set]
	l.once.Do(func() {
		var c content
		c.fillRules(&nature{kind: Packed, hash: uint64(set) << 40})
		l.packed = compress(c.appendMessage(nil, wire.QuestionRules), 1)
	})
	return l.packed
}

// sendPacked sends a compressed reply, in a single fragment if it fits (EC-109).
func (p *responder) sendPacked(n *nature, z packed) {
	p.sendSplit(n, wire.Fragment{
		Compressed: true, ID: p.nextID(n) | wire.CompressedID, DeclaredSize: z.size, CRC: z.crc,
	}, z.data)
}
