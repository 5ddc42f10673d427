package watch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/census"
)

// inbox receives POSTs, and refuses the first ones.
type inbox struct {
	refuse []int  // status codes
	reason string // body of the answers with these codes
	bodies []string
	times  []time.Time
	got    chan struct{}
}

// RoundTrip answers without a network, so that the clock of a bubble goes on.
func (b *inbox) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	body, err := io.ReadAll(r.Body)
	b.times = append(b.times, time.Now())
	if len(b.refuse) > 0 {
		w.Header().Set("Retry-After", "3")
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(b.refuse[0])
		_, _ = io.WriteString(w, b.reason)
		b.refuse = b.refuse[1:]
		return w.Result(), err
	}
	b.bodies = append(b.bodies, string(body))
	b.got <- struct{}{}
	return w.Result(), err
}

// hooked returns a webhook to an inbox, its database, and what the watch says.
func hooked(t *testing.T, format string, refuse ...int) (h *Webhook, b *inbox, state *db.DB, said *strings.Builder) {
	t.Helper()
	b = &inbox{refuse: refuse, got: make(chan struct{}, 100)}
	h, err := NewWebhook("https://receiver.example/secret-token\n", format, []string{"down", "up"})
	check(t, err)
	if state, err = db.Open(""); err != nil {
		t.Fatal(err)
	}
	check(t, state.SetCursor(cursorName, 0))
	h.client.Transport = b
	said = &strings.Builder{}
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { h.deliver(ctx, state, console.New(said)) })
	t.Cleanup(func() { cancel(); ended.Wait(); state.Close() })
	return h, b, state, said
}

func append10(t *testing.T, state *db.DB, first, n int, kind string, name string) {
	t.Helper()
	var events []db.Event
	for i := range n {
		events = append(events, db.Event{ID: int64(first + i), Time: time.Unix(1e9, 0).UTC(), Kind: kind, Addr: "127.0.0.1:27015", Name: name})
	}
	check(t, state.Flush(events, nil))
}

// Events that nobody wants are skipped, many become one message, and a receiver that refuses
// is asked again when it says so. Nothing shows the URL.
func TestWebhook(t *testing.T) { synctest.Test(t, testWebhook) }

func testWebhook(t *testing.T) {
	_, b, state, said := hooked(t, "", 429, 302)
	append10(t, state, 1, 2, "renamed", "x")
	append10(t, state, 3, 2, "down", "x")
	<-b.got
	if wait := b.times[1].Sub(b.times[0]); wait < 3*time.Second {
		t.Errorf("the second attempt came after %v, and Retry-After said 3 s", wait)
	}
	append10(t, state, 5, 37, "up", "x")
	<-b.got
	var posts [2]struct {
		IDs    []int64
		Counts map[string]int
		Events []db.Event
	}
	for i := range posts {
		check(t, json.Unmarshal([]byte(b.bodies[i]), &posts[i]))
	}
	if p := posts[0]; fmt.Sprint(p.IDs) != "[3 4]" || len(p.Events) != 2 || p.Events[0].Kind != "down" {
		t.Errorf("%+v", p)
	}
	if p := posts[1]; len(p.IDs) != 37 || p.Counts["up"] != 37 || p.Events != nil {
		t.Errorf("%+v", p)
	}
	append10(t, state, 200_001, 1, "up", "x") // IDs continue those of an old file of events
	<-b.got
	if s := said.String(); strings.Contains(s, "dropped") {
		t.Errorf("said %q, and no event waited", s)
	}
	synctest.Wait()
	b.refuse = []int{500, 503} // the next attempts drop no event again
	append10(t, state, 200_002, maxQueue+3, "up", "x")
	<-b.got
	if s := said.String(); strings.Count(s, "webhook: dropped 3 events") != 1 || strings.Count(s, "dropped") != 1 || strings.Contains(s, "secret") || !strings.Contains(s, "429") || !strings.Contains(s, "302") {
		t.Errorf("said %q", s)
	}
}

// TestMessageRefused: a message that the receiver refuses because of what is in it is posted
// again without texts from servers, and does not hold up later events. A refusal that concerns
// the webhook changes nothing.
func TestMessageRefused(t *testing.T) {
	for _, c := range []struct {
		format  string
		events  int
		refuse  []int
		named   bool // the message that the receiver accepts has the name of the server
		dropped bool // the receiver accepts only the message about the later event
	}{
		{format: "discord", events: 2, refuse: []int{400}},
		{format: "discord", events: 2, refuse: []int{422}},
		{format: "discord", events: 2, refuse: []int{500, 413}},
		{format: "discord", events: 12, refuse: []int{400}},
		{format: "discord", events: 2, refuse: []int{400, 400}, dropped: true},
		{format: "discord", events: 12, refuse: []int{400, 429, 400, 413}, dropped: true},
		{format: "discord", events: 2, refuse: []int{400, 502}, named: true},
		{format: "discord", events: 2, refuse: []int{401, 403, 404, 429, 500}, named: true},
		{format: "json", events: 2, refuse: []int{413}},
		{format: "json", events: 2, refuse: []int{413, 400}, dropped: true},
		{format: "json", events: 2, refuse: []int{401, 404}, named: true},
	} {
		t.Run(fmt.Sprint(c.format, c.events, c.refuse), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, b, state, said := hooked(t, c.format, c.refuse...)
				h.Site, b.reason = "https://status.example.org", `{"message": "Message blocked by harmful links filter", "code": 240000}`
				append10(t, state, 3, c.events, "down", "free.example")
				time.Sleep(3 * time.Minute) // longer than all attempts
				append10(t, state, 50, 1, "up", "fine")
				time.Sleep(time.Minute)
				synctest.Wait()
				if want := map[bool]int{false: 2, true: 1}[c.dropped]; len(b.bodies) != want {
					t.Fatalf("the receiver accepted %q; said %q", b.bodies, said)
				}
				first, last := b.bodies[0], b.bodies[len(b.bodies)-1]
				if !strings.Contains(last, "fine") || strings.Contains(first, "free.example") != c.named {
					t.Errorf("the receiver accepted %q", b.bodies)
				}
				plain := !c.dropped && !c.named && c.format == "discord"
				if plain && (strings.Contains(first, "status.example.org") || c.events == 2 && !strings.Contains(first, `** 127.0.0.1\\:27015`)) {
					t.Errorf("the receiver accepted %q", first)
				}
				if drop := fmt.Sprintf("webhook: events with the IDs 3-%d: the receiver answered with HTTP %d: Message blocked by harmful links filter; the watch drops these events\n", 2+c.events, c.refuse[len(c.refuse)-1]); strings.Contains(said.String(), drop) != c.dropped {
					t.Errorf("said %q", said)
				}
			})
		})
	}
}

// Names of servers can neither mention anybody nor format the message. Times are in the form
// that Discord shows in the zone of the reader.
func TestDiscord(t *testing.T) { synctest.Test(t, testDiscord) }

func testDiscord(t *testing.T) {
	h, b, state, _ := hooked(t, "discord")
	h.Site = "https://status.example.org"
	content := func() string {
		<-b.got
		var m struct {
			Content  string
			Mentions map[string][]string `json:"allowed_mentions"`
		}
		check(t, json.Unmarshal([]byte(b.bodies[len(b.bodies)-1]), &m))
		if n := len(utf16.Encode([]rune(m.Content))); n > 2000 || m.Mentions["parse"] == nil || len(m.Mentions["parse"]) > 0 {
			t.Errorf("%d characters, mentions %v", n, m.Mentions)
		}
		return m.Content
	}
	append10(t, state, 1, 10, "down", "@everyone **free** <@123> [x](https://example.org) `"+strings.Repeat("_", 900))
	text := content()
	for _, bad := range []string{"@everyone", "**free", "<@", "](h", " `_"} {
		if clean := strings.ReplaceAll(strings.ReplaceAll(text, "](https://status.example.org/server/", ""), "\\"+bad[:1], ""); strings.Contains(clean, bad) {
			t.Errorf("%q in %q", bad, clean)
		}
	}
	at := time.Unix(1795132800, 0).UTC()
	for i, c := range []struct {
		e    db.Event
		want string
	}{
		{db.Event{Kind: "up", Addr: "127.0.0.1:27015", Name: "own", Label: "listed", Time: at, For: 3600},
			"**up** [listed](https://status.example.org/server/127.0.0.1:27015), at <t:1795132800:T> (<t:1795132800:R>): was down for 60 min\n"},
		{db.Event{Kind: "down", Addr: "127.0.0.1:27015", Name: "own", Time: at.Add(time.Minute), For: 3600, Evidence: &db.Evidence{First: at}},
			"**down** [own](https://status.example.org/server/127.0.0.1:27015), silent since <t:1795132800:T> (<t:1795132800:R>): was up for 60 min\n"},
		{db.Event{Kind: "up", Addr: "127.0.0.1:27015", Name: "\u3164 \u2800", Label: "\u00a0", Time: at},
			"**up** [127.0.0.1\\:27015](https://status.example.org/server/127.0.0.1:27015), at <t:1795132800:T> (<t:1795132800:R>)\n"},
	} {
		c.e.ID = int64(11 + i)
		check(t, state.Flush([]db.Event{c.e}, nil))
		if got := content(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	h.Site = ""
	check(t, state.Flush([]db.Event{
		{ID: 20, Kind: "down", Addr: "127.0.0.1:27016", Planned: true}, {ID: 21, Kind: "down", Addr: "127.0.0.1:27015", Time: at},
	}, nil))
	if got := content(); got != "**down** 127.0.0.1\\:27015, at <t:1795132800:T> (<t:1795132800:R>)\n" {
		t.Errorf("%q", got)
	}
	many := []db.Event{}
	for i := range 10 { // with all details and links, these are too long
		many = append(many, db.Event{ID: int64(30 + i), Kind: "down", Addr: "198.51.100.177:27015", Name: strings.Repeat("[_*", 20), Time: at, Evidence: &db.Evidence{Signs: []string{strings.Repeat("(:)", 60)}}})
	}
	check(t, state.Flush(many, nil))
	if got := content(); strings.Count(got, "**down** ") != 10 || strings.Count(got, "<t:1795132800:R>") != 10 {
		t.Errorf("%q", got)
	}
	h.Role = "987"
	check(t, state.Flush([]db.Event{{ID: 40, Kind: "down", Addr: "127.0.0.1:27015", Name: "<@&987>", Time: at}}, nil))
	<-b.got
	if body := b.bodies[len(b.bodies)-1]; !strings.HasPrefix(body, `{"allowed_mentions":{"roles":["987"]},"content":"\u003c@\u0026987\u003e **down** \\\u003c\\@`) {
		t.Errorf("with a role: %s", body)
	}
	check(t, state.Flush([]db.Event{{ID: 41, Kind: "up", Addr: "127.0.0.1:27015", Time: at}}, nil))
	if got := content(); strings.Contains(got, "987") {
		t.Errorf("an event up mentions the role: %q", got)
	}
	h.Role = ""

	var crowded []db.Event // too many for a line each
	for i := range 300 {
		kind := []string{"down", "up"}[min(i/25, 1)]
		crowded = append(crowded, db.Event{ID: int64(50 + i), Kind: kind, Addr: "198.51.100.177:27015", Name: strings.Repeat("[_*", 8), Label: map[bool]string{true: fmt.Sprint("#", i)}[i < 25], Time: at})
	}
	check(t, state.Flush(crowded, nil))
	if got := content(); !strings.HasPrefix(got, "300 events\n**up** 275: ") || !strings.Contains(got, " …\n**down** 25: \\#0, \\#1, ") || !strings.HasSuffix(got, ", \\#24") {
		t.Errorf("%q", got)
	}
	if err := h.Test(t.Context()); err != nil || !strings.Contains(b.bodies[len(b.bodies)-1], "can post here") {
		t.Errorf("the test message: %v, %q", err, b.bodies)
	}
}

// TestWebhookTest: the test message has the format of the events, which the URL determines if
// nobody chooses it. A refusal says the receiver's reason.
func TestWebhookTest(t *testing.T) {
	for _, c := range []struct {
		format, at string
		want       []string // keys of the message
	}{
		{"", "https://discord.com/api/webhooks/1/secret", []string{"content"}},
		{"json", "https://discord.com/api/webhooks/1/secret", []string{"counts", "events", "ids", "test"}},
		{"", "https://discord.com.example/secret", []string{"counts", "events", "ids", "test"}},
		{"discord", "https://receiver.example/secret", []string{"content"}},
	} {
		h, err := NewWebhook(c.at, c.format, nil)
		check(t, err)
		b := &inbox{got: make(chan struct{}, 2)}
		h.client.Transport = b
		check(t, h.Test(t.Context()))
		var message map[string]any
		check(t, json.Unmarshal([]byte(b.bodies[0]), &message))
		if keys := slices.Sorted(maps.Keys(message)); !slices.Equal(keys, c.want) {
			t.Errorf("%s to %s has the keys %q, want %q", c.format, c.at, keys, c.want)
		}
		b.refuse, b.reason = []int{400}, `{"message": "Cannot send an empty message", "code": 50006}`
		if err := h.Test(t.Context()); err == nil || err.Error() != "the receiver answered with HTTP 400: Cannot send an empty message" {
			t.Errorf("a refusal: %v", err)
		}
	}
}

// A URL that can't be used is refused, without being shown.
func TestWebhookURL(t *testing.T) {
	for _, bad := range []string{"", "discord.com/secret", "ftp://example.org/secret", "://secret"} {
		if _, err := NewWebhook(bad, "", nil); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A file of events is continued after its last complete event, also in a part.
func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events[1].ndjson")
	check(t, os.WriteFile(path, []byte(`{"id":1}`+"\n"+`{"id":2}`+"\n"+`{"id":3,"na`), 0o666))
	write := func(rotate sink.Rotation, last int64, ids ...int64) {
		t.Helper()
		l, err := OpenLog(path, nil, false, rotate)
		check(t, err)
		if l.last.Load() != last {
			t.Errorf("the last event is %d, want %d", l.last.Load(), last)
		}
		for _, id := range ids {
			check(t, l.Write([]db.Event{{ID: id}}))
		}
		check(t, l.file.Close())
	}
	write(sink.Rotation{}, 2, 3, 4)
	write(sink.Rotation{Size: 1}, 4, 5)
	write(sink.Rotation{Size: 1}, 5, 6, 7)
	parts, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*-*"))
	if len(parts) != 3 {
		t.Errorf("parts %q", parts)
	}
	whole := ""
	for _, part := range append(parts, path) {
		b, err := os.ReadFile(part)
		check(t, err)
		whole += strings.ReplaceAll(string(b), `,"time":"0001-01-01T00:00:00Z","event":""`, "")
	}
	if want := "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n{\"id\":4}\n{\"id\":5}\n{\"id\":6}\n{\"id\":7}\n"; whole != want {
		t.Errorf("%q", whole)
	}
	foreign := filepath.Join(t.TempDir(), "census.ndjson")
	check(t, os.WriteFile(foreign, []byte("{\"schema\":1,\"addr\":\"127.0.0.1:1\"}\n"), 0o666))
	if _, err := OpenLog(foreign, nil, false, sink.Rotation{}); err == nil {
		t.Error("a census was taken for a file of events")
	}
}

// TestLogMoved: a file of events and its parts may be moved away, and the next watch does not
// write their events again. A new file gets all events of the state.
func TestLogMoved(t *testing.T) {
	state := newState(t)
	dir := t.TempDir()
	events := 0
	for _, c := range []struct {
		name   string
		add    int // new events in the state
		rotate sink.Rotation
		want   string
	}{
		{"events.ndjson", 2, sink.Rotation{}, "[1 2]"},
		{"events.ndjson", 1, sink.Rotation{}, "[3]"},
		{"events.ndjson", 0, sink.Rotation{}, "[]"},
		{"events.ndjson", 2, sink.Rotation{Size: 1}, "[4 5]"},
		{"events.ndjson", 1, sink.Rotation{Size: 1}, "[6]"},
		{"other.ndjson", 1, sink.Rotation{}, "[1 2 3 4 5 6 7]"},
		{"events.ndjson", 0, sink.Rotation{}, "[7]"},
	} {
		append10(t, state, events+1, c.add, "down", "x")
		events += c.add
		l, err := OpenLog(filepath.Join(dir, c.name), nil, false, c.rotate)
		check(t, err)
		r := &Watch{Options: &Options{Rules: usual(), DB: state, Log: l}}
		check(t, r.restore())
		if id := r.lastID.Load(); id != int64(events) {
			t.Errorf("%+v: the last event is %d", c, id)
		}
		stored := make(chan struct{})
		close(stored)
		check(t, r.publish(t.Context(), stored))
		check(t, l.file.Close())
		ids := []int64{}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		check(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			check(t, errors.Join(err, os.Remove(file)))
			for line := range bytes.Lines(text) {
				var e db.Event
				check(t, json.Unmarshal(line, &e))
				ids = append(ids, e.ID)
			}
		}
		if got := fmt.Sprint(ids); got != c.want {
			t.Errorf("%+v: events %s", c, got)
		}
	}
}

// TestLogAge: the age of a file of events, and the name of its part, count from its first
// event, also if an earlier watch wrote it.
func TestLogAge(t *testing.T) {
	for _, times := range []string{`"time":"2020-01-02T03:04:05Z"`, `"time":"2020-01-02T02:00:00Z","reported":"2020-01-02T03:04:05Z"`} {
		path := filepath.Join(t.TempDir(), "events.ndjson")
		check(t, os.WriteFile(path, []byte(`{"id":1,`+times+`,"event":"seeing"}`+"\n"+`{"id":2,"time":"2020-01-02T04:00:00Z","event":"blind"}`+"\n"), 0o666))
		l, err := OpenLog(path, nil, false, sink.Rotation{Every: 24 * time.Hour})
		check(t, err)
		check(t, l.Write([]db.Event{{ID: 3, Time: time.Now()}}))
		check(t, l.file.Close())
		parts, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*-*"))
		check(t, err)
		if want := sink.PartName(path, time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC), 1); !slices.Equal(parts, []string{want}) {
			t.Errorf("parts %q, want %q", parts, want)
		}
	}
}

// TestEventsAtOnce: of 10,000 events at once, the file has each once, in their order, and the
// webhook one message.
func TestEventsAtOnce(t *testing.T) { synctest.Test(t, testEventsAtOnce) }

func testEventsAtOnce(t *testing.T) {
	const n = 10_000
	_, b, state, said := hooked(t, "")
	append10(t, state, 1, n, "down", strings.Repeat("a long name ", 5))
	path := filepath.Join(t.TempDir(), "events.ndjson")
	l, err := OpenLog(path, nil, false, sink.Rotation{Size: 100_000})
	check(t, err)
	stored := make(chan struct{})
	close(stored)
	check(t, (&Watch{Options: &Options{DB: state, Log: l, Terminal: console.New(said)}}).publish(t.Context(), stored))
	check(t, l.file.Close())
	parts, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*-*"))
	check(t, err)
	last := int64(0)
	for _, part := range append(parts, path) {
		text, err := os.ReadFile(part)
		check(t, err)
		for line := range bytes.Lines(text) {
			var e db.Event
			if err := json.Unmarshal(line, &e); err != nil || e.ID != last+1 {
				t.Fatalf("%s after %d, %v", line, last, err)
			}
			last = e.ID
		}
	}
	<-b.got
	var post struct {
		IDs    []int64
		Counts map[string]int
	}
	check(t, json.Unmarshal([]byte(b.bodies[0]), &post))
	if last != n || len(parts) < 2 || len(post.IDs) != n || post.Counts["down"] != n || said.Len() > 0 {
		t.Errorf("%d events in %d parts; a message with %d of %v; said %q", last, len(parts), len(post.IDs), post.Counts, said)
	}
}

// TestWebhookCertificate: a receiver whose certificate nobody has signed gets no events. The
// error says so, without the URL.
func TestWebhookCertificate(t *testing.T) {
	got := false
	receiver := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got = true }))
	receiver.Config.ErrorLog = log.New(io.Discard, "", 0)
	receiver.StartTLS()
	defer receiver.Close()
	h, err := NewWebhook(receiver.URL+"/secret-token", "", nil)
	check(t, err)
	err = h.Test(t.Context())
	if err == nil || !strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), "secret") || got {
		t.Errorf("%v, the receiver was asked: %v", err, got)
	}
}

// Standard output gets lines of JSON, or lines for people.
func TestStandardOutput(t *testing.T) {
	for text, want := range map[bool]string{false: `{"id":7,"time":"2026-11-20T12:00:00Z","event":"seeing"}` + "\n", true: "  seeing     was blind for 0 s\n"} {
		var b strings.Builder
		l, err := OpenLog("-", &b, text, sink.Rotation{})
		check(t, err)
		err = l.Write([]db.Event{{ID: 7, Time: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), Kind: "seeing"}})
		if got := b.String(); err != nil || !strings.HasSuffix(got, want) || l.last.Load() != 7 {
			t.Errorf("%q, want %q; %v, last %d", got, want, err, l.last.Load())
		}
	}
}

// What an event says beside its kind stands in one line, and what is unknown leaves no gap.
func TestText(t *testing.T) {
	e := db.Event{Kind: "restarted", Addr: "127.0.0.1:1", Name: "a", Evidence: &db.Evidence{Signs: []string{"x", "y"}}, LeftOut: 2}
	for _, c := range [][2]string{{Text(&e)[10:], "restarted  127.0.0.1:1            a  x; y (2 earlier events left out)"}, {Details(&e), "x; y (2 earlier events left out)"}} {
		if c[0] != c[1] {
			t.Errorf("%q, want %q", c[0], c[1])
		}
	}
	for _, c := range []struct {
		e    db.Event
		want string
	}{
		{db.Event{Kind: "up", For: 300, Planned: true, LeftOut: 1}, "was down for 5 min (planned) (1 earlier event left out)"},
		{db.Event{Kind: "down", Planned: true}, "(planned)"},
		{db.Event{Kind: "crowd", Before: &census.Facts{People: new(uint32(1))}, After: &census.Facts{People: new(uint32(1500))}}, "1 person → 1,500 people"},
		{db.Event{Kind: "capacity", Before: &census.Facts{MaxPlayers: new(uint32(10))}, After: &census.Facts{MaxPlayers: new(uint32(1))}}, "10 places → 1 place"},
	} {
		if got := Details(&c.e); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	down := db.Event{Kind: "down", For: 86400, Evidence: &db.Evidence{First: time.Date(2026, 1, 2, 12, 34, 56, 0, time.Local)}}
	if s := Text(&down); !strings.HasSuffix(s, "  was up for 24 h, silent since 12:34:56") {
		t.Errorf("%q", s)
	}
	e.Evidence, e.LeftOut = nil, 0
	if got := Text(&e)[10:]; got != "restarted  127.0.0.1:1            a" {
		t.Errorf("%q", got)
	}
}

// TestLogFull: events that can't be written have the exit code of results that can't be.
func TestLogFull(t *testing.T) {
	state := newState(t)
	check(t, state.Flush([]db.Event{{ID: 1, Kind: "seeing"}}, nil))
	closed, pipe := io.Pipe()
	closed.Close()
	l, err := OpenLog("-", pipe, false, sink.Rotation{})
	check(t, err)
	if err := (&Watch{Options: &Options{DB: state, Log: l}}).publish(t.Context(), nil); console.ExitCode(err) != console.ExitOutput {
		t.Errorf("%v has the exit code %d", err, console.ExitCode(err))
	}
}

// TestDropped: without a state, events that nobody takes are kept in memory up to a limit; the
// others are counted, and the output goes on with the first one that is kept.
func TestDropped(t *testing.T) {
	state := newState(t)
	reader, pipe := io.Pipe()
	l, err := OpenLog("-", pipe, false, sink.Rotation{})
	check(t, err)
	var said bytes.Buffer
	r := &Watch{Options: &Options{DB: state, Log: l, Terminal: console.New(&said)}, watcher: New(usual(), time.Now())}
	add := func(n int) {
		r.watcher.decided.events = make([]db.Event, n)
		check(t, r.flush(t.Context(), false))
	}
	add(1)
	stored, ended := make(chan struct{}), make(chan error)
	go func() { ended <- r.publish(t.Context(), stored) }()
	for l.began.Load() == nil { // the first event is stuck in the pipe
		runtime.Gosched()
	}
	add(db.MaxInMemory + 3)
	if got := r.waiting(); got != db.MaxInMemory+4 {
		t.Errorf("%d wait", got)
	}
	close(stored)
	first, second, lines := bufio.NewScanner(reader), "", 0
	go func() { err = <-ended; pipe.Close() }()
	for first.Scan() {
		if lines++; lines == 2 {
			second = first.Text()
		}
	}
	if err != nil || lines != db.MaxInMemory+1 || !strings.HasPrefix(second, `{"id":5,`) {
		t.Errorf("%d lines, the second is %.20s: %v", lines, second, err)
	}
	if got := said.String(); got != "a2sscan: dropped 3 events, because the reader of the output was too slow\n" || r.dropped.Load() != 3 || r.waiting() != 0 {
		t.Errorf("said %q, %d dropped, %d wait", got, r.dropped.Load(), r.waiting())
	}
}

// TestAlive: a watch whose loop stands still is not alive, whatever else runs.
func TestAlive(t *testing.T) {
	r := &Watch{Options: &Options{}, monitor: &scanner.Monitor{}, watcher: New(usual(), time.Now())}
	r.alive.Store(new(time.Now().Add(-stillAfter)))
	if r.checkSending(time.Now()); r.Alive() {
		t.Error("the loop of the scan does nothing, and the watch is alive")
	}
	r.elapsed = time.Second
	if r.checkSending(time.Now()); !r.Alive() {
		t.Error("the scan goes on, and the watch is not alive")
	}
}
