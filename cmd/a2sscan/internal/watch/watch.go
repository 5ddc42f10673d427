// Package watch asks servers all day, and finds out who is up, who is down, and what
// changed.
//
// A Watcher decides; it sends nothing and knows no clock but the times that it is given. Run
// gives it a scan, a database and outputs.
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

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// Rules determine how often servers are asked, and which events are reported.
type Rules struct {
	Every     time.Duration // each server is asked once in this time: a cycle
	FullEvery time.Duration // and at least this often for its players and rules, too
	DownAfter int           // a server is down after this many checks in a row without an answer
	Attempts  int           // requests of a check that stays without an answer
	Damp      time.Duration // at most one pair of events of a kind for each server in this time
	BlindMax  time.Duration // how long a blind watcher believes that the servers are up

	References []netip.AddrPort           // servers that are always up: they show whether the watcher is blind
	Kinds      []string                   // the events to report; nil: all but changes that happen all the time
	Excluded   func(netip.Addr) (no bool) // asked before every check; nil: nothing is excluded
	Answers    bool                       // keep the latest answer of each server for the database
}

// A server that left the list is asked for keepAsking more seconds, and then no longer.
const keepAsking = 24 * 3600

// follow is how many seconds after a change the server is asked everything: a map change takes it
// a moment.
const follow = 2

// A server whose answer holds less than its last one keeps the last one this many times:
// datagrams may have been lost.
const poorAnswers = 3

// A server that ignores a request with an old challenge is asked without one this many times
// (EC-14).
const askPlainly = 16

// server is what the watcher knows of one server. Times are seconds since 1970; 0: never.
type server struct {
	key     uint64         // udp.Pack of its address
	known   *census.Server // its last full answer; nil: none since the watcher began
	info    uint64         // hash of what INFO said in it
	steam   uint64         // its Steam ID in it
	started int64          // when its world began, from it; 0: unknown
	uptime  int64          // of its rule that counts uptime; 0: it has none
	longest float32        // the longest time that one of its players has been on it

	challenge             uint32
	last, since           uint32 // its latest answer; since when it has its status
	asked, silentAt, upto uint32 // the latest check; the first one without an answer; the end of the time that is counted
	fullAt, until         uint32 // when known was made; until when it is asked although it left the list
	people, places        int32  // -1: unknown
	silent, requests      uint32 // checks and requests in a row without an answer
	poor                  uint8  // answers poorer than known
	plain                 uint8  // checks to come without the remembered challenge
	status                watchdb.Status
	flying, listed        bool // a check is under way; it is in the list
	elsewhere             bool // INFO alone lacks the number of people
	reference, answers    bool // it shows whether the watcher is blind; its latest check was answered
	gone                  bool // forgotten, or it never came
	arrived               bool // it is new since the watcher began
}

func (s *server) addr() netip.AddrPort { return udp.Unpack(s.key) }

// Watcher decides what to ask, and what the answers mean. It serves one goroutine.
type Watcher struct {
	rules   Rules
	servers []server         // by their ID in the database, minus 1
	index   map[uint64]int32 // of servers, by key
	schedule
	changing []int // servers to ask everything once they had a moment for their change

	last   time.Time     // the time of the latest Tick
	paused time.Duration // in which nothing ran; run reports it
	ignore uint32        // silence asked for until then means nothing

	view    network
	status  Status // as the latest Tick counted
	damping map[damped]*window
	ticked  uint32 // the second of the latest Tick

	noted map[uint64]int // the latest server to go down or arrive, by identity

	hours   [2]watchdb.Hour  // that may still change
	changed []watchdb.Server // to store, in the order of the changes
	pending int              // bytes of these, about
	encoder record.Encoder

	interpreter scanner.Interpreter
	events      []watchdb.Event // without IDs
}

// New returns a watcher without servers.
func New(rules Rules, now time.Time) *Watcher {
	w := &Watcher{
		rules: rules, index: map[uint64]int32{}, damping: map[damped]*window{}, noted: map[uint64]int{},
	}
	w.schedule.rearrange(now, rules.Every)
	return w
}

// seconds is the form of a time in a server.
func seconds(t time.Time) uint32 { return uint32(t.Unix()) }

// Restore adds a server of the database, in the order of IDs.
func (w *Watcher) Restore(row *watchdb.Server, now time.Time) {
	s := server{
		key: udp.Pack(row.Addr), upto: seconds(now), last: min(row.LastSeen, seconds(now)), since: min(row.Since, seconds(now)), status: row.Status,
		people: -1, places: -1, listed: seconds(now) < row.LastSeen+keepAsking,
	}
	if _, r, err := record.Read(row.Answer); err == nil {
		w.remember(&s, r)
		s.info = 0 // the first answer is asked for in full anyway
		s.setPeople(r.Population())
	}
	w.add(s)
}

func (w *Watcher) add(s server) {
	i := len(w.servers)
	s.reference = slices.Contains(w.rules.References, s.addr())
	w.servers = append(w.servers, s)
	w.index[s.key] = int32(i)
	if s.status == watchdb.Down {
		w.match(i, 0)
	}
}

// Watch sets the list of the servers to ask, without repetitions. Servers that are no longer
// in it are asked for a day more. Watch returns those that the watcher did not have, in the
// order of their IDs.
func (w *Watcher) Watch(addrs []netip.AddrPort, now time.Time) (fresh []netip.AddrPort) {
	for i := range w.servers {
		if s := &w.servers[i]; s.listed {
			s.listed, s.until = false, seconds(now)+keepAsking
		}
	}
	w.servers = slices.Grow(w.servers, max(0, len(addrs)-len(w.servers))) // no more memory than needed
	for _, a := range addrs {
		i, ok := w.index[udp.Pack(a)]
		if !ok {
			i = int32(len(w.servers))
			w.add(server{key: udp.Pack(a), status: watchdb.Unknown, people: -1, places: -1})
			fresh = append(fresh, a)
		}
		w.servers[i].listed = true
	}
	w.order = w.order[:0]
	for i := range w.servers {
		s := &w.servers[i]
		if s.gone {
			s.upto = seconds(now)
		}
		left := s.gone || s.status == watchdb.Unknown || s.until < seconds(now) || w.excluded(s)
		if s.gone = !s.listed && left; !s.gone {
			w.order = append(w.order, i)
		} else if s.status == watchdb.Up {
			w.setStatus(i, watchdb.Unknown, seconds(now))
		}
	}
	rand.Shuffle(len(w.order), func(i, j int) { w.order[i], w.order[j] = w.order[j], w.order[i] })
	w.schedule.rearrange(now, w.rules.Every)
	return fresh
}

func (w *Watcher) excluded(s *server) bool {
	return w.rules.Excluded != nil && w.rules.Excluded(s.addr().Addr())
}

// Next returns the next server to ask, if one is due.
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
		full := again || s.info == 0 || (w.cycle+i)%max(1, int(w.rules.FullEvery/w.rules.Every)) == 0
		t = scanner.Target{Addr: s.addr(), Challenge: s.challenge, InfoOnly: !full}
		if s.plain > 0 {
			s.plain--
			t.Challenge = 0
		}
		return t, true
	}
}

// Answered takes the result of a check.
func (w *Watcher) Answered(r *scanner.Result, now time.Time) {
	w.notice(now)
	i := int(w.index[udp.Pack(r.Addr)]) // only servers of the index are asked
	s, at := &w.servers[i], seconds(now)
	s.flying = false
	if s.gone {
		return
	}
	switch {
	case r.Answered():
		w.answer(i, r, at)
	case s.asked <= w.ignore, r.Sent == 0, r.Status == scanner.StatusError, r.Status == scanner.StatusNoReply && int(r.Sent) < w.rules.Attempts:
		w.unseen(i, 0, at) // not really asked
	default:
		if s.status == watchdb.Up {
			w.view.add(outcome{s.asked, false})
		}
		s.answers = false
		if s.silent == 0 {
			s.silentAt = s.asked
		}
		if s.status == watchdb.Unknown && s.since == 0 { // it has never answered
			w.setStatus(i, watchdb.Unknown, s.asked)
		}
		s.silent, s.requests = s.silent+1, s.requests+uint32(r.Sent)
		if s.status == watchdb.Down {
			w.count(i, at, watchdb.Down)
		}
	}
}

// fall calls a server down. If allSilent is set, most of the others are silent, too.
func (w *Watcher) fall(i int, now uint32, allSilent bool) {
	s := &w.servers[i]
	w.count(i, s.silentAt, watchdb.Up)
	w.count(i, now, watchdb.Down)
	w.emit(i, watchdb.Event{Kind: "down", For: int64(s.silentAt - s.since), Evidence: &watchdb.Evidence{
		Checks: int(s.silent), Requests: int(s.requests), First: moment(s.silentAt), Last: moment(s.asked), AllSilent: allSilent,
	}}, now)
	w.setStatus(i, watchdb.Down, s.silentAt)
	w.match(i, now)
}

// answer takes a check that was answered.
func (w *Watcher) answer(i int, r *scanner.Result, now uint32) {
	s := &w.servers[i]
	was := s.status
	if was == watchdb.Up {
		w.view.add(outcome{s.asked, true})
	}
	if w.view.blind {
		w.unseen(i, now, now)
	}
	w.count(i, now, was)
	s.silent, s.requests, s.silentAt = 0, 0, 0
	s.last, s.answers = now, true
	full := r.Asked&scanner.AskAll == scanner.AskAll
	if r.Challenge != 0 {
		const ignored = 3 // the request with the old challenge, one without, and one with a new challenge
		if s.plain == 0 && s.challenge != 0 && s.challenge != r.Challenge && r.Sent >= ignored && !full {
			s.plain = askPlainly
		}
		s.challenge = r.Challenge
	}
	if was != watchdb.Up {
		since := s.since
		w.setStatus(i, watchdb.Up, now)
		if was == watchdb.Down {
			w.emit(i, watchdb.Event{Kind: "up", For: int64(now - since)}, now)
		}
	}
	w.hourOf(now).Samples[i][watchdb.SeenAt] = now
	if full {
		w.accept(i, r, now, was == watchdb.Unknown)
	} else if r.HasInfo && infoHash(&r.Info) != s.info {
		w.changing = append(w.changing, i)
	}
	if r.HasInfo && (full || !s.elsewhere) {
		w.population(i, r.Population(), now)
	}
}

func (w *Watcher) setStatus(i int, to watchdb.Status, since uint32) {
	w.servers[i].status, w.servers[i].since = to, since
	w.store(i, nil)
}

// store stores a server, with its new answer if there is one.
func (w *Watcher) store(i int, answer []byte) {
	s := &w.servers[i]
	if n := len(w.changed) - 1; n >= 0 && answer != nil && w.changed[n].ID == int64(i+1) {
		w.changed = w.changed[:n] // with this answer its status changed
	}
	w.changed = append(w.changed, watchdb.Server{
		ID: int64(i + 1), Addr: s.addr(), LastSeen: s.last, Since: s.since, Status: s.status, Answer: answer,
	})
	w.pending += 100 + len(answer)
	if len(w.changed) > 2*len(w.servers)+1000 { // the database has been busy for long
		w.changed = latest(w.changed)
	}
}

// latest returns the last change of each server, with its last answer.
func latest(changed []watchdb.Server) []watchdb.Server {
	at, kept := map[int64]int{}, changed[:0]
	for _, s := range changed {
		n, again := at[s.ID]
		if !again {
			at[s.ID] = len(kept)
			kept = append(kept, s)
			continue
		}
		if s.Answer == nil {
			s.Answer = kept[n].Answer
		}
		kept[n] = s
	}
	return kept
}

// infoHash is of what makes the watcher ask for everything again when it changes. It does not
// cover counts of players.
func infoHash(in *wire.Info) uint64 {
	text := append(make([]byte, 0, 256), in.Name...)
	text = append(append(text, 0), in.Map...)
	text = append(append(text, 0), in.Version...)
	text = binary.LittleEndian.AppendUint32(text, in.MaxPlayers)
	text = binary.LittleEndian.AppendUint64(text, in.SteamID)
	return xxhash.Sum64(append(text, in.Password)) | 1
}

// remember keeps what a full answer says.
func (w *Watcher) remember(s *server, r *scanner.Result) {
	known := census.NewServer(r)
	s.known, s.info, s.steam = &known, infoHash(&r.Info), r.Info.SteamID
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

// accept compares a full answer with the last one.
func (w *Watcher) accept(i int, r *scanner.Result, now uint32, first bool) {
	s := &w.servers[i]
	if s.known != nil && s.known.Status == scanner.StatusOK && r.Status != scanner.StatusOK && s.poor < poorAnswers {
		s.poor++
		return
	}
	was := *s
	w.remember(s, r)
	s.poor, s.fullAt = 0, now
	if w.rules.Answers {
		c := *r
		c.HasPlayers, c.Players, c.PlayersHash = false, nil, 0 // no names of players
		line := w.encoder.Append(nil, "", &c)
		w.store(i, line[:len(line)-1])
	}
	if was.known == nil && w.cycle > 1 {
		s.arrived = true
		w.match(i, now)
	}
	if was.known == nil || first {
		return
	}
	kinds, volatile := census.Changed(was.known, s.known)
	if w.rules.Kinds != nil {
		kinds = append(kinds, volatile...)
	}
	for _, kind := range kinds {
		c := census.NewChange(kind, was.known, s.known)
		w.emit(i, watchdb.Event{Kind: string(kind), Before: c.Before, After: c.After}, now)
	}
	if was.started != 0 && s.started != 0 && max(s.started-was.started, was.started-s.started) > 60 {
		w.emit(i, watchdb.Event{Kind: "wiped", Evidence: &watchdb.Evidence{Signs: []string{
			fmt.Sprintf("the world began %s, before that %s",
				moment(uint32(s.started)).Format(time.RFC3339), moment(uint32(was.started)).Format(time.RFC3339)),
		}}}, now)
	}
	if signs := restartSigns(&was, s, now); len(signs) > 0 {
		w.emit(i, watchdb.Event{Kind: "restarted", Evidence: &watchdb.Evidence{Signs: signs}}, now)
	}
}

// restartSigns returns what shows that a server restarted between two full answers: its
// uptime fell, or it has another Steam ID and all of its players came since. The latter also
// happens with a new map, so it counts only on the same map.
func restartSigns(was, is *server, now uint32) []string {
	if was.uptime > 0 && is.uptime > 0 && is.uptime < was.uptime {
		return []string{fmt.Sprintf("its uptime fell from %d to %d seconds", was.uptime, is.uptime)}
	}
	anew := is.longest > 0 && was.longest > is.longest && was.fullAt > 0 && is.longest <= float32(now-was.fullAt)+5
	if anew && was.steam != 0 && is.steam != 0 && was.steam != is.steam && was.known.Map == is.known.Map {
		return []string{
			fmt.Sprintf("its Steam ID changed from %d to %d", was.steam, is.steam),
			fmt.Sprintf("the longest time on it fell from %.0f to %.0f seconds", was.longest, is.longest),
		}
	}
	return nil
}

// population takes the number of people on a server.
func (w *Watcher) population(i int, p scanner.Population, now uint32) {
	s := &w.servers[i]
	before, wasFull := s.people, s.isFull()
	s.setPeople(p)
	sample, people := &w.hourOf(now).Samples[i], uint32(s.people)
	if sample[watchdb.Counts] == 0 {
		sample[watchdb.PeopleMin] = people
	}
	sample[watchdb.PeopleMin] = min(sample[watchdb.PeopleMin], people)
	sample[watchdb.PeopleMax] = max(sample[watchdb.PeopleMax], people)
	sample[watchdb.PeopleSum] += people
	sample[watchdb.Counts]++
	var kind string
	switch {
	case before < 0 || s.known == nil:
		return
	case before > 0 && s.people == 0:
		kind = "empty"
	case s.isFull() && !wasFull:
		kind = "full"
	default:
		return
	}
	w.emit(i, watchdb.Event{
		Kind: kind, Before: &census.Facts{People: new(uint32(before))}, After: &census.Facts{People: new(uint32(s.people))},
	}, now)
}

func (s *server) isFull() bool { return s.places > 0 && s.people >= s.places }

func (s *server) setPeople(p scanner.Population) {
	s.people, s.places = int32(min(max(p.People, 0), 65535)), int32(min(max(p.Places, 0), 65535))
}

// notice finds out whether time has passed in which nothing ran.
func (w *Watcher) notice(now time.Time) {
	if w.last.IsZero() {
		w.last = now // the watch begins: it took its time to read its state
	}
	passed, wall := now.Sub(w.last), now.Round(0).Sub(w.last.Round(0))
	if drift := wall - passed; passed > gap || passed < -gap || drift > gap || drift < -gap {
		w.pause(w.last, now)
		w.last = now
	} else if passed > 0 {
		w.last = now
	}
}

// Tick lets time pass. It must be called several times a second.
func (w *Watcher) Tick(now time.Time) {
	w.notice(now)
	if at := seconds(now); at != w.ticked {
		w.ticked = at
		w.hourOf(at)
		w.look(at)
		w.release(at)
	}
}

// gap is how long nothing may happen. Longer than that, the process did not run, or the clock was
// set: nobody was asked.
const gap = 2 * time.Second

// pause counts the time between two moments as unseen, and forgets all silence.
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
	}
	for n := range w.hours {
		if w.hours[n].Number > int64(now/secondsOfHour)+1 {
			w.hours[n] = watchdb.Hour{}
		}
	}
	for _, d := range w.damping {
		d.end = min(d.end, now+uint32(w.rules.Damp.Seconds()))
	}
	w.ignore = now
	w.view.outcomes, w.view.since = 0, min(w.view.since, now)
	w.schedule.rearrange(to, w.rules.Every)
}

// unseen counts the time of a server from since until now as unseen, and also the time before
// that in which it was silent, but not called down. It forgets that silence.
func (w *Watcher) unseen(i int, since, now uint32) {
	s := &w.servers[i]
	if isSilent(s) {
		since = min(since, s.silentAt)
	}
	w.count(i, since, s.status)
	w.count(i, now, watchdb.Unknown)
	s.silent, s.requests, s.silentAt = 0, 0, 0
}

func moment(seconds uint32) (t time.Time) {
	if seconds != 0 {
		t = time.Unix(int64(seconds), 0).UTC()
	}
	return t
}
