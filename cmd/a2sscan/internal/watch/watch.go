package watch

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// Rules determine how often servers are checked, and which events are reported.
type Rules struct {
	Every     time.Duration // length of a cycle, in which each server is checked once
	FullEvery time.Duration // time between two full queries of a server
	DownAfter int           // number of unanswered checks in a row after which a server is down
	Attempts  int           // number of requests that an unanswered check sends
	// Damp is the time in which at most two events of a kind are reported for a server.
	Damp time.Duration
	// BlindMax is the time for which a blind watcher assumes that the servers are up.
	BlindMax time.Duration

	// References are servers that are always up. They show whether the watcher is blind.
	References []netip.AddrPort
	// Kinds are the kinds of events to report. Nil means all kinds except the
	// changes that census.Changed calls volatile.
	Kinds []string
	// Excluded reports whether an address is excluded. Nil means that no address is.
	Excluded func(netip.Addr) (no bool)
	Answers  bool          // whether to store the latest answers
	Names    bool          // whether the label of a server replaces the name that it sends
	Crowd    int           // smallest number of people that counts as a crowd; 0: no crowds
	Remind   time.Duration // time after which a server that stays down is reported again; 0: never
}

// keepAsking is the number of seconds for which the watch still checks a server that
// has left the list.
const keepAsking = 24 * 3600

// After an answer that shows a change, the watcher waits follow seconds before the full
// query, because the server may still be loading its map.
const follow = 2

// After a complete answer, the watcher ignores up to poorAnswers incomplete answers in a
// row, because datagrams may have been lost.
const poorAnswers = 3

// askPlainly is the number of checks that omit the challenge after a server ignored a
// request with an old challenge (EC-14).
const askPlainly = 16

// server is what the watcher knows about one server. Times are seconds since 1970, and
// 0 means never. Each time that is compared with the present must be in Watcher.pause, because
// the clock may be set back. After a restart, Watcher.Restore has the fields that are stored.
type server struct {
	key uint64 // udp.Pack of the address

	// known is the last full answer of the server, or nil if there is none. The next six
	// fields come from this answer, too. A field is 0 if its value is unknown.
	known   *census.Server
	info    uint64  // result of infoHash
	steam   uint64  // Steam ID
	started int64   // when the world began
	uptime  int64   // value of the rule uptime
	longest float32 // longest time for which a player was connected, in seconds
	fullAt  uint32  // when the answer came

	challenge uint32 // latest challenge, or 0 if the server sent none
	last      uint32 // when the latest answer came
	since     uint32 // when the server got its present status
	asked     uint32 // when the latest check began
	silentAt  uint32 // when the current series of unanswered checks began
	upto      uint32 // end of the time that Watcher.count has counted
	until     uint32 // when the checks end, if the server has left the list
	// people and places are the latest counts, or -1 if they are unknown.
	people, places int32
	// silent counts the unanswered checks in a row. requests counts their requests.
	silent, requests uint32
	poor             uint8 // number of incomplete answers in a row that were ignored
	plain            uint8 // number of checks that will omit the challenge
	status           db.Status
	flying           bool // a check is running
	listed           bool // the server is in the list
	elsewhere        bool // INFO alone does not give the number of people
	reference        bool // the server is one of Rules.References
	answers          bool // the latest check was answered
	// crowded becomes true when at least Rules.Crowd people are on the server, and false when
	// fewer than half of Rules.Crowd are.
	crowded bool
	// counted is true after the first count of people. The first count causes no event,
	// because an earlier watch may have reported the same.
	counted  bool
	remindAt uint32 // when the next reminder is due

	port  uint16 // port at which players join, or 0 if it is unknown
	label string // text after the address in the list
	// window is 0 if the server is in no window, and otherwise 1 plus the index of its window
	// in Watcher.windows. ends is when this window ends. covered is when the server's
	// uninterrupted time in windows began.
	window        int
	ends, covered uint32
	planned       bool   // the server is down because of maintenance
	began, over   uint32 // beginning and end of the latest maintenance that is over
	// stopped becomes true when the server stops or restarts in a window, and false when the
	// window ends.
	stopped bool

	// untold means that an earlier watch ended before it reported the latest event "up" or
	// "down", because damping held back the event. catchUp clears untold.
	untold bool

	gone bool // the server is not watched any more
	// arrived means that the first full answer of the server came after the first two cycles
	// of the watcher, so the server is new.
	arrived bool
}

func (s *server) addr() netip.AddrPort { return udp.Unpack(s.key) }

// Watcher decides what to ask, and what the answers mean. It sends and stores nothing.
// Watcher.take returns what the other methods have decided. Only one goroutine may use a
// Watcher at a time.
type Watcher struct {
	rules    Rules
	servers  []server         // the index of a server is its ID in the database minus 1
	index    map[uint64]int32 // indexes of servers by server.key
	schedule schedule
	changing []int // indexes of servers to query in full soon: see follow

	// last is when Watcher.notice was last called, and ticked the Unix time of the latest
	// Tick.
	last   time.Time
	ticked uint32
	// paused is how long the program did not run since the latest Tick, because the machine
	// slept or its clock was set. See Watcher.notice.
	paused time.Duration
	// ignore is a Unix time. An unanswered check that began then or earlier proves nothing.
	ignore uint32

	view    network
	status  Status // numbers of the latest Tick
	damping damping

	windows []maintained

	// noted has the servers for which Watcher.match was called. The keys are identities and
	// Steam IDs, and the values are indexes of servers.
	noted map[uint64]int
	hours hours

	decided effects
	encoder record.Encoder

	interpreter scanner.Interpreter
}

// effects are the watcher's decisions: what to report, and what to store.
type effects struct {
	events []db.Event // without IDs
	// fresh are servers to add to the database, in the order of their IDs.
	fresh []netip.AddrPort
	// labels are the labels of all servers that have one, by address. Nil means that the
	// stored labels remain.
	labels  map[netip.AddrPort]string
	servers map[int64]db.Server // rows to store, by ID
	size    int                 // approximate size of servers in bytes
}

// Rows that are larger than maxPending bytes are stored at once, and not after a minute, as
// are events, new servers and labels.
const maxPending = 8 << 20

func (w *Watcher) take() effects {
	decided := w.decided
	w.decided = effects{servers: map[int64]db.Server{}}
	return decided
}

// New returns a watcher without servers.
func New(rules Rules, now time.Time) *Watcher {
	w := &Watcher{
		rules: rules, index: map[uint64]int32{}, noted: map[uint64]int{}, decided: effects{servers: map[int64]db.Server{}},
		damping: damping{length: uint32(rules.Damp.Seconds()), enough: rules.DownAfter, open: map[damped]*window{}},
	}
	w.damping.wanted = w.rules.wants
	w.schedule.rearrange(now, rules.Every)
	return w
}

func seconds(t time.Time) uint32 { return uint32(t.Unix()) }

// Restore adds a server from the database. Servers must be restored in the order of IDs.
func (w *Watcher) Restore(row *db.Server, now time.Time) {
	s := server{
		key: udp.Pack(row.Addr), upto: seconds(now), last: min(row.LastSeen, seconds(now)), since: min(row.Since, seconds(now)), status: row.Status,
		people: -1, places: -1, listed: seconds(now) < row.LastSeen+keepAsking, untold: row.Untold,
	}
	if s.status == db.Planned {
		s.status, s.planned, s.over = db.Down, true, seconds(now) // Maintain determines when the window really ends
	}
	if _, r, err := record.Read(row.Answer); err == nil {
		w.remember(&s, r)
		s.info = 0 // makes the first check a full query
		s.setPeople(r.Population())
	}
	s.remindAt = max(s.since, min(row.Told, seconds(now))) + uint32(w.rules.Remind.Seconds())
	w.add(s)
}

func (w *Watcher) add(s server) {
	i := len(w.servers)
	s.reference = slices.Contains(w.rules.References, s.addr())
	w.servers = append(w.servers, s)
	w.index[s.key] = int32(i)
	if s.status == db.Down {
		w.match(i, 0)
	}
}

// Watch sets the list of servers to check. The list must have no duplicates. Servers that
// have left the list are checked for another day. Watch returns how many servers are new in
// the list, and how many have left it.
func (w *Watcher) Watch(addrs []netip.AddrPort, now time.Time) (joined, left int) {
	was := make([]bool, len(w.servers))
	for i := range w.servers {
		if s := &w.servers[i]; s.listed {
			s.listed, s.until, was[i] = false, seconds(now)+keepAsking, true
			left++
		}
	}
	w.servers = slices.Grow(w.servers, max(0, len(addrs)-len(w.servers))) // grow once: append would reserve more memory
	for _, a := range addrs {
		i, ok := w.index[udp.Pack(a)]
		if !ok {
			i = int32(len(w.servers))
			w.add(server{key: udp.Pack(a), status: db.Unknown, people: -1, places: -1})
			w.decided.fresh = append(w.decided.fresh, a)
		}
		if int(i) < len(was) && was[i] {
			left--
		} else {
			joined++
		}
		w.servers[i].listed = true
	}
	w.schedule.order = w.schedule.order[:0]
	for i := range w.servers {
		s := &w.servers[i]
		if s.gone {
			s.upto = seconds(now)
		}
		left := s.gone || s.status == db.Unknown || s.until < seconds(now) || w.excluded(s)
		if s.gone = !s.listed && left; !s.gone {
			w.schedule.order = append(w.schedule.order, i)
		} else if s.status == db.Up {
			w.setStatus(i, db.Unknown, seconds(now))
		}
	}
	rand.Shuffle(len(w.schedule.order), func(i, j int) { w.schedule.order[i], w.schedule.order[j] = w.schedule.order[j], w.schedule.order[i] })
	w.schedule.rearrange(now, w.rules.Every)
	return joined, left
}

// Label sets the labels of all servers. The keys of labels are the addresses of the servers.
func (w *Watcher) Label(labels map[netip.AddrPort]string) {
	for i := range w.servers {
		w.servers[i].label = labels[w.servers[i].addr()]
	}
	if w.decided.labels = labels; !w.rules.Names {
		w.decided.labels = map[netip.AddrPort]string{}
	}
}

func (w *Watcher) excluded(s *server) bool {
	return w.rules.Excluded != nil && w.rules.Excluded(s.addr().Addr())
}

// Next returns the next server to check, if one is due.
func (w *Watcher) Next(now time.Time) (t scanner.Target, due bool) {
	w.notice(now)
	for {
		again := len(w.changing) > 0 && w.servers[w.changing[0]].last+follow <= seconds(now)
		var i int
		if again {
			i, w.changing = w.changing[0], w.changing[1:]
		} else if i, due = w.schedule.next(now); !due {
			return t, false
		}
		s := &w.servers[i]
		switch {
		case s.gone || s.flying && now.Unix()-int64(s.asked) < 120:
			continue
		case w.excluded(s):
			w.unseen(i, 0, seconds(now))
			s.answers = false
			continue
		}
		s.asked, s.flying = seconds(now), true
		full := again || s.info == 0 || (w.schedule.cycle+i)%max(1, int(w.rules.FullEvery/w.rules.Every)) == 0
		t = scanner.Target{Addr: s.addr(), Challenge: s.challenge, InfoOnly: !full}
		if s.plain > 0 {
			s.plain--
			t.Challenge = 0
		}
		return t, true
	}
}

// Answered processes the result of a check.
func (w *Watcher) Answered(r *scanner.Result, now time.Time) {
	w.notice(now)
	i := int(w.index[udp.Pack(r.Addr)]) // index has every server that is checked
	s, at := &w.servers[i], seconds(now)
	s.flying = false
	if s.gone {
		return
	}
	switch {
	case r.Answered():
		w.confirm(i, "up", at)
		w.answer(i, r, at)
	case s.asked <= w.ignore, r.Sent == 0, r.Status == scanner.StatusError, r.Status == scanner.StatusNoReply && int(r.Sent) < w.rules.Attempts:
		w.unseen(i, 0, at) // such a result proves nothing
	default:
		if s.expected() {
			w.view.add(outcome{s.asked, false})
		}
		s.answers = false
		if s.silent == 0 {
			s.silentAt = s.asked
		}
		if s.status == db.Unknown && s.since == 0 { // never answered
			w.setStatus(i, db.Unknown, s.asked)
		}
		s.silent, s.requests = s.silent+1, s.requests+uint32(r.Sent)
		if s.status == db.Down {
			w.countAs(db.Down, i, at)
			if !w.trusts(at) {
				w.confirm(i, "down", at)
			}
		}
	}
}

// fall sets the status of a server to down and reports the event.
func (w *Watcher) fall(i int, now uint32) {
	s := &w.servers[i]
	w.count(i, s.silentAt, db.Up)
	e := db.Event{Kind: "down", For: int64(s.silentAt - s.since), Evidence: s.silence(w.view.blind)}
	if s.window == 0 && s.silentAt >= s.began && s.silentAt < s.over { // the silence began in a window that is over now
		s.planned = true
		w.countAs(db.Down, i, s.over)
		e.Time, e.Evidence.Signs = moment(s.over), []string{outlasts}
	}
	// An outage that began before the maintenance does not belong to it.
	s.planned = s.window > 0 && s.silentAt >= s.covered
	s.stopped = s.stopped || s.planned
	w.countAs(db.Down, i, now)
	if !s.planned {
		w.hourOf(now).Samples[i][db.Outages]++
	}
	w.catchUp(i, now)
	w.emit(i, e, now)
	w.setStatus(i, db.Down, s.silentAt)
	s.remindAt = now + uint32(w.rules.Remind.Seconds())
	w.match(i, now)
}

func (w *Watcher) answer(i int, r *scanner.Result, now uint32) {
	s := &w.servers[i]
	was := s.status
	if s.expected() {
		w.view.add(outcome{s.asked, true})
	}
	if w.view.blind {
		w.unseen(i, now, now)
	}
	w.count(i, now, was)
	s.silent, s.requests, s.silentAt = 0, 0, 0
	s.last, s.answers = now, true
	full := r.Asked&wire.AskAll == wire.AskAll
	if r.Challenge != 0 {
		// If a server ignores an old challenge, a check sends three requests: with the old
		// challenge, without a challenge, and with the new challenge.
		const ignored = 3
		if s.plain == 0 && s.challenge != 0 && s.challenge != r.Challenge && r.Sent >= ignored && !full {
			s.plain = askPlainly
		}
		s.challenge = r.Challenge
	}
	if was != db.Up {
		since := s.since
		w.setStatus(i, db.Up, now)
		if was == db.Down {
			w.emit(i, db.Event{Kind: "up", For: int64(now - since)}, now)
		}
		s.planned = false
	}
	w.hourOf(now).Samples[i][db.SeenAt] = now
	accepted := full && w.accept(i, r, now, was == db.Unknown)
	if !full && r.HasInfo && infoHash(&r.Info) != s.info {
		w.changing = append(w.changing, i)
	}
	if r.HasInfo && (accepted || !s.elsewhere) {
		w.population(i, r.Population(), now)
	}
}

func (w *Watcher) setStatus(i int, to db.Status, since uint32) {
	w.servers[i].status, w.servers[i].since = to, since
	w.store(i, nil)
}

// store queues a server for the database, with its new answer if there is one.
func (w *Watcher) store(i int, answer []byte) {
	s, id := &w.servers[i], int64(i+1)
	status := s.status
	if s.planned && status == db.Down {
		status = db.Planned
	}
	if answer == nil {
		answer = w.decided.servers[id].Answer
	}
	w.decided.servers[id] = db.Server{ID: id, Addr: s.addr(), LastSeen: s.last, Since: s.since, Status: status, Answer: answer}
	w.decided.size += 100 + len(answer)
}

// infoHash hashes the fields of INFO whose change causes a full query. Player counts are
// not among them.
func infoHash(in *wire.Info) uint64 {
	text := append(make([]byte, 0, 256), in.Name...)
	text = append(append(text, 0), in.Map...)
	text = append(append(text, 0), in.Version...)
	text = binary.LittleEndian.AppendUint32(text, in.MaxPlayers)
	text = binary.LittleEndian.AppendUint64(text, in.SteamID)
	return xxhash.Sum64(append(text, in.Password)) | 1
}

// remember stores what the watcher needs from a full answer.
func (w *Watcher) remember(s *server, r *scanner.Result) {
	known := census.NewServer(r)
	s.known, s.info, s.steam = &known, infoHash(&r.Info), r.Info.SteamID
	if !r.HasInfo {
		s.info = 0 // a server without INFO needs full queries
	}
	if r.Info.Has&wire.HasGamePort != 0 {
		s.port = r.Info.GamePort
	}
	s.started, s.uptime, s.longest = 0, 0, 0
	alone, all := *r, r.Population()
	alone.HasPlayers, alone.Players, alone.HasRules, alone.Rules = false, nil, false, nil
	w.interpreter.Interpret(&alone)
	info := alone.Population()
	s.elsewhere = s.elsewhere || info.People != all.People || info.Places != all.Places
	if g := r.Game; g != nil && g.Has.Has(game.KeyStarted) {
		s.started = g.Started
	}
	for _, rule := range r.Rules {
		if known.Game == "rust" && string(rule.Name) == "uptime" {
			s.uptime, _ = strconv.ParseInt(string(rule.Value), 10, 64)
		}
	}
	for i := range r.Players {
		s.longest = max(s.longest, r.Players[i].Duration)
	}
}

// accept compares a full answer with the previous full answer, and reports the changes. It
// returns false if it ignores the answer, because the answer is incomplete.
func (w *Watcher) accept(i int, r *scanner.Result, now uint32, first bool) (accepted bool) {
	s := &w.servers[i]
	if s.known != nil && s.known.Status == scanner.StatusOK && r.Status != scanner.StatusOK && s.poor < poorAnswers {
		s.poor++
		return false
	}
	was := *s
	w.remember(s, r)
	s.poor, s.fullAt = 0, now
	if w.rules.Answers {
		c := *r
		c.HasPlayers, c.Players, c.PlayersHash = false, nil, 0 // no player names
		line := w.encoder.Append(nil, "", &c)
		w.store(i, line[:len(line)-1])
	}
	if was.known == nil && w.schedule.cycle > 1 {
		s.arrived = true
		w.match(i, now)
	}
	if was.known == nil || first {
		return true
	}
	signs := restartSigns(&was, s, now)
	s.stopped = s.stopped || len(signs) > 0 && s.window > 0
	kinds, volatile := census.Changed(was.known, s.known)
	if w.rules.Kinds != nil {
		kinds = append(kinds, volatile...)
	}
	for _, kind := range kinds {
		c := census.NewChange(kind, was.known, s.known)
		w.emit(i, db.Event{Kind: string(kind), Before: c.Before, After: c.After}, now)
	}
	if was.started != 0 && s.started != 0 && max(s.started-was.started, was.started-s.started) > 60 {
		w.emit(i, db.Event{Kind: "wiped", Evidence: &db.Evidence{Signs: []string{
			fmt.Sprintf("the world began at %s, the previous world at %s",
				moment(uint32(s.started)).Format(time.RFC3339), moment(uint32(was.started)).Format(time.RFC3339)),
		}}}, now)
	}
	if len(signs) > 0 {
		w.emit(i, db.Event{Kind: "restarted", Evidence: &db.Evidence{Signs: signs}}, now)
	}
	return true
}

// restartSigns returns the evidence that a server restarted between two full answers. One
// sign is that its uptime fell. The other sign is a new Steam ID, if all players joined after
// the first answer and the map is the same. A new map may bring a new Steam ID.
func restartSigns(was, is *server, now uint32) []string {
	if was.uptime > 0 && is.uptime > 0 && is.uptime < was.uptime {
		return []string{fmt.Sprintf("the uptime of the server fell from %d to %d seconds", was.uptime, is.uptime)}
	}
	anew := is.longest > 0 && was.longest > is.longest && was.fullAt > 0 && is.longest <= float32(now-was.fullAt)+5
	if anew && was.steam != 0 && is.steam != 0 && was.steam != is.steam && was.known.Map == is.known.Map {
		return []string{
			fmt.Sprintf("the Steam ID of the server changed from %d to %d", was.steam, is.steam),
			fmt.Sprintf("the longest connection of a player fell from %.0f to %.0f seconds", was.longest, is.longest),
		}
	}
	return nil
}

func (w *Watcher) population(i int, p scanner.Population, now uint32) {
	s := &w.servers[i]
	before, wasFull := s.people, s.isFull()
	s.setPeople(p)
	sample, people := &w.hourOf(now).Samples[i], uint32(s.people)
	if sample[db.Counts] == 0 {
		sample[db.PeopleMin] = people
	}
	sample[db.PeopleMin] = min(sample[db.PeopleMin], people)
	sample[db.PeopleMax] = max(sample[db.PeopleMax], people)
	sample[db.PeopleSum] += people
	sample[db.Counts]++
	wasCrowded, isCrowd := s.crowded || !s.counted, w.rules.Crowd > 0 && int(s.people) >= w.rules.Crowd
	counted := s.counted // if false, the old count may be from an earlier watch, which may have reported the event
	s.crowded, s.counted = isCrowd || s.crowded && int(s.people)*2 >= w.rules.Crowd, true
	if before < 0 || s.known == nil {
		return
	}
	report := func(kind string, happened bool) {
		if happened {
			facts := func(people int32) *census.Facts { return &census.Facts{People: new(uint32(people))} }
			w.emit(i, db.Event{Kind: kind, Before: facts(before), After: facts(s.people)}, now)
		}
	}
	report("crowd", s.crowded && !wasCrowded)
	report("empty", counted && before > 0 && s.people == 0)
	report("full", counted && s.isFull() && !wasFull)
}

func (s *server) isFull() bool { return s.places > 0 && s.people >= s.places }

func (s *server) setPeople(p scanner.Population) {
	s.people, s.places = int32(min(max(p.People, 0), 65535)), int32(min(max(p.Places, 0), 65535))
}

// notice detects time in which the program did not run.
func (w *Watcher) notice(now time.Time) {
	if w.last.IsZero() {
		w.last = now // the first call; reading the state took time, but is no pause
	}
	passed, wall := now.Sub(w.last), now.Round(0).Sub(w.last.Round(0))
	if drift := wall - passed; passed > gap || passed < -gap || drift > gap || drift < -gap {
		w.pause(w.last, now)
		w.last = now
	} else if passed > 0 {
		w.last = now
	}
}

// Tick does what is due. It must be called several times a second. It returns for how long
// the program did not run since the previous Tick, and the number of events that were
// dropped because nobody took them.
func (w *Watcher) Tick(now time.Time) (paused time.Duration, dropped int) {
	w.notice(now)
	if at := seconds(now); at != w.ticked {
		w.ticked = at
		w.hourOf(at)
		w.begin(at, false)
		s := w.survey(at)
		if saw := w.doubtItself(&s, at); !saw {
			w.judge(&s, at)
		}
		for _, e := range w.damping.release(at) {
			w.report(e, at)
		}
	}
	if dropped = max(0, len(w.decided.events)-db.MaxInMemory); dropped > 0 {
		w.decided.events = w.decided.events[dropped:]
	}
	paused, w.paused = w.paused, 0
	return paused, dropped
}

// Status returns the numbers of the latest Tick.
func (w *Watcher) Status() Status {
	status := w.status
	status.Every, status.Took = w.rules.Every.Seconds(), w.schedule.took.Seconds()
	return status
}

// row returns what the watcher knows about a server. watched is false if the server is not
// watched any more.
func (w *Watcher) row(i int) (row Row, watched bool) {
	s := &w.servers[i]
	row = Row{
		ID: int64(i + 1), Addr: s.addr(), Port: s.port, Label: s.label, Known: s.known, Status: s.status, Planned: s.planned,
		Since: moment(s.since), People: int(s.people), Places: int(s.places), Silent: moment(s.silentAt),
	}
	if s.window > 0 {
		row.Until, row.Reason = moment(s.ends), w.windows[s.window-1].Reason
	}
	return row, !s.gone
}

// If more than gap passes between two calls of a Watcher, the program did not run or the
// clock was set, so the Watcher treats this time as a pause.
const gap = 2 * time.Second

// pause counts the time between two moments as unseen for all servers, and forgets their
// unanswered checks.
func (w *Watcher) pause(from, to time.Time) {
	w.paused += max(to.Sub(from), time.Millisecond)
	end, now := seconds(from), seconds(to)
	for i := range w.servers {
		s := &w.servers[i]
		w.unseen(i, end, now)
		s.flying = false
		for _, t := range []*uint32{&s.since, &s.last, &s.asked, &s.fullAt, &s.upto} {
			*t = min(*t, now) // the clock may have been set back
		}
		s.remindAt = min(s.remindAt, now+uint32(w.rules.Remind.Seconds()))
	}
	for n := range w.hours {
		if w.hours[n].Number > int64(now/secondsOfHour)+1 {
			w.hours[n] = db.Hour{}
		}
	}
	for _, in := range w.damping.open {
		in.end = min(in.end, now+w.damping.length)
	}
	w.ignore = now
	w.view.outcomes, w.view.since = 0, min(w.view.since, now)
	w.schedule.rearrange(to, w.rules.Every)
}

// unseen counts the time of a server between two moments as unseen. If the server is silent
// but not yet down, the time since it became silent counts as unseen, too. Afterwards the
// server counts as not silent.
func (w *Watcher) unseen(i int, since, now uint32) {
	s := &w.servers[i]
	if isSilent(s) {
		since = min(since, s.silentAt)
	}
	w.countAs(w.servers[i].status, i, since)
	w.count(i, now, db.Unknown)
	s.silent, s.requests, s.silentAt = 0, 0, 0
}

func moment(seconds uint32) (t time.Time) {
	if seconds != 0 {
		t = time.Unix(int64(seconds), 0).UTC()
	}
	return t
}
