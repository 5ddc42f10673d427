package scanner

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// answer holds what one server sent so far. Its messages are in chunks, which belong
// to a pool and never move, since a decoded message points into them. The fields
// that every datagram changes come first, so that they share few cache lines.
type answer struct {
	firstAt     time.Duration // first datagram received
	lastAt      time.Duration // last datagram received
	recvBytes   uint64
	received    uint32
	infoReplies uint32      // datagrams and reassembled replies
	conflicts   uint32      // fragments that contradicted an earlier one
	attempt     uint8       // number of the attempt after which the first datagram came
	partial     Questions   // messages that lack their end
	inCode      wire.Error  // the error of decoding in
	disputed    wire.Fields // fields in which another 'I' differs from in, and contradicts it
	hints       hints
	suspicion   suspicion
	trips       trips
	chunks      [][]byte
	challenges  challenges
	unpacking   unpacking

	info, players, rules, gold, text, pong []byte

	first   [4][]byte // the backing array of chunks: a server rarely needs more
	in      wire.Info // the 'I', or the 'm' while there is no 'I'
	pingRTT time.Duration
	raw     []byte // every datagram after its length, if the scan keeps them
}

// replies fills m with the messages of a and with what a has counted.
func (a *answer) replies(m *replies) {
	m.decoded, m.infoErr = nil, a.inCode
	if m.info = a.info; a.info == nil {
		m.info = a.gold
	} else if a.gold != nil {
		m.address = a.goldInfo().Address
	}
	if m.info != nil {
		m.decoded = &a.in
	}
	m.players, m.rules, m.text, m.pong = a.players, a.rules, a.text, a.pong
	m.partial = a.partial
	m.evidence.infoReplies, m.evidence.conflicts = int(a.infoReplies), int(a.conflicts)
}

// goldInfo decodes the 'm'.
func (a *answer) goldInfo() (in wire.Info) {
	_ = in.Decode(a.gold) // a truncated one has some fields
	return in
}

// place returns a pointer to the stored answer to q.
func (a *answer) place(q wire.Question) *[]byte {
	switch q {
	case wire.QuestionInfo:
		return &a.info
	case wire.QuestionPlayers:
		return &a.players
	}
	return &a.rules
}

// put stores a copy of msg, and points *place at it. It returns false if the byte
// budget has no room.
func (a *answer) put(pool *pool, place *[]byte, msg []byte) bool {
	chunk := a.chunkFor(pool, len(msg))
	if chunk == nil {
		return false
	}
	off := len(*chunk)
	*chunk = append(*chunk, msg...)
	*place = (*chunk)[off:len(*chunk):len(*chunk)]
	return true
}

// chunkFor returns a chunk with room for n bytes, or nil if the byte budget does not
// allow it.
func (a *answer) chunkFor(pool *pool, n int) *[]byte {
	for i := range a.chunks {
		if c := &a.chunks[i]; cap(*c)-len(*c) >= n {
			return c
		}
	}
	var chunk []byte
	if !pool.grow(&chunk, n) {
		return nil
	}
	if a.chunks == nil {
		a.chunks = a.first[:0]
	}
	a.chunks = append(a.chunks, chunk)
	return &a.chunks[len(a.chunks)-1]
}

// empty makes a ready for another server. It keeps the memory of raw and of the first
// chunks.
func (a *answer) empty() {
	first := a.first
	for i := range first {
		first[i] = first[i][:0]
	}
	*a = answer{first: first, raw: a.raw[:0]}
	for len(a.chunks) < len(first) && first[len(a.chunks)] != nil {
		a.chunks = a.first[:len(a.chunks)+1]
	}
}

// size returns how many bytes of the pool a holds.
func (a *answer) size() (n int) {
	for _, c := range a.chunks {
		n += cap(c)
	}
	return n + cap(a.raw)
}

// maxRaw is the maximum number of bytes that raw may hold for one server. A record is
// at most 8 MiB, base64 turns three bytes into four, and the rest of the record needs
// room.
const maxRaw = 4 << 20

// keepRaw stores a datagram as received, unless maxRaw or the byte budget is exceeded.
func (a *answer) keepRaw(pool *pool, datagram []byte) {
	n := 4 + len(datagram)
	if len(a.raw)+n > maxRaw || !pool.grow(&a.raw, n) {
		return
	}
	a.raw = binary.LittleEndian.AppendUint32(a.raw, uint32(len(datagram)))
	a.raw = append(a.raw, datagram...)
}

// eachRaw yields the datagrams that keepRaw kept.
func (a *answer) eachRaw(yield func([]byte)) {
	for b := a.raw; len(b) >= 4; {
		n := 4 + binary.LittleEndian.Uint32(b)
		yield(b[4:n:n])
		b = b[n:]
	}
}

// delivery says what became of a datagram or of a reassembled message.
type delivery struct {
	kind  replyKind
	class class
	full  bool // it was not kept: the byte budget has no room
}

// deliver takes a complete message: it informs the session, and keeps the message if
// it is an answer. scratch is space for decoding.
func (a *answer) deliver(t *session, pool *pool, now time.Duration, msg []byte, scratch *wire.Info) delivery {
	switch k := wire.KindOf(msg); k {
	case wire.KindChallenge:
		return deliverChallenge(t, now, msg)
	case wire.KindInfo:
		return a.deliverInfo(t, pool, now, msg, scratch)
	case wire.KindGoldSource:
		return a.deliverGold(t, pool, now, msg, scratch)
	case wire.KindPlayers:
		return a.deliverList(t, pool, now, wire.QuestionPlayers, msg, 1)
	case wire.KindRules:
		return a.deliverList(t, pool, now, wire.QuestionRules, msg, 2)
	case wire.KindLimited, wire.KindBanned:
		return a.deliverText(t, pool, k, msg)
	case wire.KindRedirect:
		return a.deliverRedirect(t, pool, msg)
	case wire.KindPing:
		return a.deliverPong(t, pool, now, msg)
	case 0:
		t.onJunk(wire.ErrMalformed)
		return delivery{kind: replyOther, class: classMalformed}
	}
	t.onJunk(wire.ErrUnexpected)
	return delivery{kind: replyOther, class: classMatched}
}

func deliverChallenge(t *session, now time.Duration, msg []byte) delivery {
	c, err := wire.DecodeChallenge(msg)
	if err != nil {
		t.onJunk(wire.ErrMalformed)
		return delivery{kind: replyChallenge, class: classMalformed}
	}
	return delivery{kind: replyChallenge, class: classOf(t.onChallenge(now, c))}
}

// deliverInfo takes an 'I'. If the session wants it, deliverInfo stores it and decodes
// the stored copy. Otherwise it only compares it with the stored 'I'.
func (a *answer) deliverInfo(t *session, pool *pool, now time.Duration, msg []byte, in *wire.Info) delivery {
	a.infoReplies++
	d := delivery{kind: replyInfo}
	a.suspicion.again(wire.QuestionInfo)
	if !t.wants(wire.QuestionInfo, 0) {
		if in.Decode(msg) == nil && a.info != nil {
			twice := t.askedOnce(wire.QuestionInfo) && !bytes.Equal(a.info, msg)
			if twice || contradicts(&a.in, in) {
				a.suspicion.contradicted()
				a.disputed |= differing(&a.in, in)
			}
		}
		if a.challenges.seen == 0 {
			a.trips.again()
		}
		d.class = classOf(t.onReply(now, wire.QuestionInfo, 0))
		return d
	}
	var kept []byte
	if !a.put(pool, &kept, msg) {
		d.class, d.full = classMatched, true
		return d
	}
	code, _ := in.Decode(kept).(wire.Error)
	if id, ok := in.AppID(); ok {
		t.onAppID(id)
	}
	if usable(code) && t.wants(wire.QuestionInfo, code) {
		a.info, a.in, a.inCode = kept, *in, code
	} else {
		a.drop(kept)
	}
	d.class = classOf(t.onReply(now, wire.QuestionInfo, code))
	return d
}

// drop releases the chunk space of kept, which must be the last message that put
// stored.
func (a *answer) drop(kept []byte) {
	for i := range a.chunks {
		c := &a.chunks[i]
		if n := len(*c) - len(kept); n >= 0 && len(kept) > 0 && &(*c)[n] == &kept[0] {
			*c = (*c)[:n]
		}
	}
}

// usable reports whether a reply that was decoded with this error still counts as an
// answer. A truncated reply does.
func usable(code wire.Error) bool { return code == 0 || code == wire.ErrTruncated }

// contradicts reports whether two answers to several requests differ in what does not
// change while a server runs: name, application ID, Steam ID and version. A value that only
// one of them has makes no difference. Replies of different formats are not compared.
func contradicts(a, b *wire.Info) bool {
	both := func(f wire.Fields) bool { return a.Has&b.Has&f != 0 }
	if a.Format != b.Format {
		return false
	}
	idA, okA := a.AppID()
	idB, okB := b.AppID()
	short := (a.Notes | b.Notes) & wire.NoteInfoShortAppID // neither ID nor version is certain
	return both(wire.HasName) && !bytes.Equal(a.Name, b.Name) ||
		both(wire.HasSteamID) && a.SteamID != b.SteamID ||
		short == 0 && okA && okB && idA != idB ||
		short == 0 && both(wire.HasVersion) && !bytes.Equal(a.Version, b.Version)
}

// differing returns the fields in which two replies differ.
func differing(a, b *wire.Info) wire.Fields {
	d := a.Has ^ b.Has
	compare := func(f wire.Fields, equal bool) {
		if !equal {
			d |= f & a.Has
		}
	}
	compare(wire.HasProtocol, a.Protocol == b.Protocol)
	compare(wire.HasName, bytes.Equal(a.Name, b.Name))
	compare(wire.HasMap, bytes.Equal(a.Map, b.Map))
	compare(wire.HasFolder, bytes.Equal(a.Folder, b.Folder))
	compare(wire.HasGame, bytes.Equal(a.Game, b.Game))
	compare(wire.HasAppID, a.ShortAppID == b.ShortAppID)
	compare(wire.HasPlayers, a.Players == b.Players)
	compare(wire.HasMaxPlayers, a.MaxPlayers == b.MaxPlayers)
	compare(wire.HasBots, a.Bots == b.Bots)
	compare(wire.HasServerType, a.ServerType == b.ServerType)
	compare(wire.HasEnvironment, a.Environment == b.Environment)
	compare(wire.HasPassword, a.Password == b.Password)
	compare(wire.HasVAC, a.VAC == b.VAC)
	compare(wire.HasShip, a.Ship == b.Ship)
	compare(wire.HasVersion, bytes.Equal(a.Version, b.Version))
	compare(wire.HasEDF, a.EDF == b.EDF)
	compare(wire.HasGamePort, a.GamePort == b.GamePort)
	compare(wire.HasSteamID, a.SteamID == b.SteamID)
	compare(wire.HasSourceTV, a.SourceTV.Port == b.SourceTV.Port && bytes.Equal(a.SourceTV.Name, b.SourceTV.Name))
	compare(wire.HasKeywords, bytes.Equal(a.Keywords, b.Keywords))
	compare(wire.HasGameID, a.GameID == b.GameID)
	return d
}

// deliverGold takes an 'm'. An 'm' that comes after the 'I' answers nothing, but its
// address is kept all the same (EC-63).
func (a *answer) deliverGold(t *session, pool *pool, now time.Duration, msg []byte, in *wire.Info) delivery {
	d := delivery{kind: replyGoldSource}
	if a.gold != nil {
		d.class = a.goldAgain(t, now, msg, in)
		return d
	}
	var kept []byte
	if !a.put(pool, &kept, msg) {
		d.class, d.full = classMatched, true
		return d
	}
	code, _ := in.Decode(kept).(wire.Error)
	if usable(code) {
		a.gold = kept
		if a.info == nil {
			a.in, a.inCode = *in, code
		}
	} else {
		a.drop(kept)
	}
	t.onGold(now, code)
	d.class = classMatched
	return d
}

// goldAgain takes a further 'm' and compares its name with that of the first.
func (a *answer) goldAgain(t *session, now time.Duration, msg []byte, in *wire.Info) class {
	code, _ := in.Decode(msg).(wire.Error)
	if !usable(code) {
		t.onGold(now, code)
		return classMatched
	}
	a.suspicion.again(wire.QuestionInfo)
	if code == 0 && !bytes.Equal(in.Name, a.goldInfo().Name) {
		a.suspicion.contradicted()
	}
	return classDuplicate
}

// deliverList takes a 'D' or an 'E', whose count takes countLen bytes. The list is
// decoded when the target is finished: the layout of a 'D' depends on the game,
// which is in INFO.
func (a *answer) deliverList(
	t *session, pool *pool, now time.Duration, q wire.Question, msg []byte, countLen int,
) delivery {
	var code wire.Error
	switch n := len(wire.Body(msg)); {
	case n == 1:
		code = wire.ErrEmpty
	case n < 1+countLen:
		code = wire.ErrTruncated
	}
	if !t.agenda.asked.Has(q) && !sound(q, msg) {
		code = wire.ErrMalformed // once the list is asked for, a sound one may come (EC-65)
	}
	kind := replyPlayers
	if q == wire.QuestionRules {
		kind = replyRules
	}
	return a.keepList(t, pool, now, q, msg, code, kind)
}

// differ reports whether two lists in answer to one request name different players
// or rules. A datagram that the network duplicated is identical. If the network
// duplicated the request, scores, durations and values may have changed between the
// two answers.
func differ(q wire.Question, a, b []byte) bool {
	if len(a) == 0 || bytes.Equal(a, b) {
		return false
	}
	if q == wire.QuestionRules {
		return differentRules(a, b)
	}
	var x, y wire.Players
	_, _ = x.Reset(a, wire.ShipUnknown), y.Reset(b, wire.ShipUnknown) // Err returns these errors, too
	for {
		more := x.Next()
		if more != y.Next() || !more {
			return x.Err() == nil && y.Err() == nil && x.Count() != y.Count()
		}
		if !bytes.Equal(x.Player().Name, y.Player().Name) {
			return true
		}
	}
}

func differentRules(a, b []byte) bool {
	var x, y wire.Rules
	_, _ = x.Reset(a), y.Reset(b)
	for {
		more := x.Next()
		if more != y.Next() || !more {
			return x.Err() == nil && y.Err() == nil && x.Count() != y.Count()
		}
		if !bytes.Equal(x.Rule().Name, y.Rule().Name) {
			return true
		}
	}
}

// sound reports whether a list decodes completely and its announced count is correct.
func sound(q wire.Question, msg []byte) bool {
	exact, err := readList(q, msg)
	return exact && err == nil
}

// readList reads a list to its end, and reports whether its announced count is
// correct.
func readList(q wire.Question, msg []byte) (exact bool, err error) {
	if q == wire.QuestionRules {
		var rs wire.Rules
		_ = rs.Reset(msg) // Err returns this error, too
		for rs.Next() {
		}
		return rs.Count() == rs.Announced(), rs.Err()
	}
	var ps wire.Players
	_ = ps.Reset(msg, wire.ShipUnknown)
	for ps.Next() {
	}
	return ps.Count() == ps.Announced(), ps.Err()
}

// keepList takes a list in answer to q. code is the error that deliverList found
// without decoding the list.
func (a *answer) keepList(
	t *session, pool *pool, now time.Duration, q wire.Question, msg []byte, code wire.Error, kind replyKind,
) delivery {
	d := delivery{kind: kind}
	a.suspicion.again(q)
	switch wanted := t.wants(q, code); {
	case t.agenda.due.Has(q) && !t.agenda.asked.Has(q):
		d.class = classDuplicate // it is about to be asked for
		return d
	case !wanted && t.askedOnce(q) && differ(q, *a.place(q), msg):
		a.suspicion.contradicted()
	case wanted && usable(code) && !a.put(pool, a.place(q), msg):
		d.class, d.full = classMatched, true
		return d
	}
	d.class = classOf(t.onReply(now, q, code))
	return d
}

func (a *answer) deliverText(t *session, pool *pool, k wire.Kind, msg []byte) delivery {
	d := delivery{kind: replyText, class: classMatched}
	// The first text stays, but an 'X' replaces a '9', and an 'l' replaces both.
	old := wire.KindOf(a.text)
	if old == 0 || old == wire.KindRedirect || k == wire.KindBanned && old != k {
		d.full = !a.put(pool, &a.text, msg)
	}
	if k == wire.KindBanned {
		t.onBanned()
	} else {
		t.onLimited()
	}
	return d
}

// deliverPong takes the answer to a ping. An unsolicited one counts as matched, too,
// but is not kept.
func (a *answer) deliverPong(t *session, pool *pool, now time.Duration, msg []byte) delivery {
	d := delivery{kind: replyPing, class: classMatched}
	asked := t.beside&besidePing != 0 && t.beside&besidePong == 0
	if asked && !a.put(pool, &a.pong, msg) {
		d.full = true
		return d
	}
	switch sent := !t.agenda.due.Has(wire.QuestionPing); {
	case t.onPong() == used && sent:
		a.pingRTT = t.clock.since(t.got.trips.sentUS[wire.QuestionPing], now)
	case t.beside&besidePing != 0 && !asked:
		d.class = classDuplicate
	}
	return d
}

// deliverRedirect takes a '9'. It answers nothing, but the address in it is worth
// keeping if the server sends no other text (EC-140).
func (a *answer) deliverRedirect(t *session, pool *pool, msg []byte) delivery {
	d := delivery{kind: replyOther, class: classMatched}
	if _, err := wire.DecodeText(msg); err == nil && a.text == nil {
		d.full = !a.put(pool, &a.text, msg)
	}
	t.onJunk(wire.ErrUnexpected)
	return d
}

func classOf(v verdict) class {
	if v == used {
		return classMatched
	}
	return classDuplicate
}
