package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
)

// inbox receives POSTs, and refuses the first ones.
type inbox struct {
	refuse []int // status codes
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
		b.refuse = b.refuse[1:]
		return w.Result(), err
	}
	b.bodies = append(b.bodies, string(body))
	b.got <- struct{}{}
	return w.Result(), err
}

// hooked returns a webhook to an inbox, its database, and what the watch says.
func hooked(t *testing.T, discord bool, refuse ...int) (h *Webhook, b *inbox, db *watchdb.DB, said *strings.Builder) {
	t.Helper()
	b = &inbox{refuse: refuse, got: make(chan struct{}, 100)}
	h, err := NewWebhook("https://receiver.example/secret-token\n", discord, []string{"down", "up"})
	check(t, err)
	if db, err = watchdb.Open(""); err != nil {
		t.Fatal(err)
	}
	check(t, db.SetCursor(cursorName, 0))
	h.client.Transport = b
	said = &strings.Builder{}
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { h.deliver(ctx, db, console.New(said)) })
	t.Cleanup(func() { cancel(); ended.Wait(); db.Close() })
	return h, b, db, said
}

func append10(t *testing.T, db *watchdb.DB, first, n int, kind string, name string) {
	t.Helper()
	var events []watchdb.Event
	for i := range n {
		events = append(events, watchdb.Event{ID: int64(first + i), Time: time.Unix(1e9, 0).UTC(), Kind: kind, Addr: "127.0.0.1:27015", Name: name})
	}
	check(t, db.Flush(events, nil))
}

// Events that nobody wants are skipped, many become one message, and a receiver that refuses
// is asked again when it says so. Nothing shows the URL.
func TestWebhook(t *testing.T) { synctest.Test(t, testWebhook) }

func testWebhook(t *testing.T) {
	_, b, db, said := hooked(t, false, 429, 302)
	append10(t, db, 1, 2, "renamed", "x")
	append10(t, db, 3, 2, "down", "x")
	<-b.got
	if wait := b.times[1].Sub(b.times[0]); wait < 3*time.Second {
		t.Errorf("the second attempt came after %v, and Retry-After said 3 s", wait)
	}
	append10(t, db, 5, 37, "up", "x")
	<-b.got
	var posts [2]struct {
		IDs    []int64
		Counts map[string]int
		Events []watchdb.Event
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
	append10(t, db, 200_001, 1, "up", "x") // IDs continue those of an old file of events
	<-b.got
	if s := said.String(); strings.Contains(s, "dropped") {
		t.Errorf("said %q, and no event waited", s)
	}
	append10(t, db, 200_002, maxQueue+3, "up", "x")
	<-b.got
	if s := said.String(); !strings.Contains(s, "webhook: 3 events were dropped") || strings.Contains(s, "secret") || !strings.Contains(s, "429") || !strings.Contains(s, "302") {
		t.Errorf("said %q", s)
	}
}

// Names of servers can neither mention anybody nor format the message.
func TestDiscord(t *testing.T) { synctest.Test(t, testDiscord) }

func testDiscord(t *testing.T) {
	h, b, db, _ := hooked(t, true)
	append10(t, db, 1, 10, "down", "@everyone **free** <@123> [x](https://example.org) `"+strings.Repeat("_", 900))
	<-b.got
	var m struct {
		Content  string
		Mentions map[string][]string `json:"allowed_mentions"`
	}
	check(t, json.Unmarshal([]byte(b.bodies[0]), &m))
	if len([]rune(m.Content)) > 2000 || m.Mentions["parse"] == nil || len(m.Mentions["parse"]) > 0 {
		t.Errorf("%d characters, mentions %v", len([]rune(m.Content)), m.Mentions)
	}
	for _, bad := range []string{"@everyone", "**free", "<@", "](", " `_"} {
		if clean := strings.ReplaceAll(m.Content, "\\"+bad[:1], ""); strings.Contains(clean, bad) {
			t.Errorf("%q in %q", bad, clean)
		}
	}
	if err := h.Test(t.Context()); err != nil || !strings.Contains(b.bodies[1], "can post here") {
		t.Errorf("the test message: %v, %q", err, b.bodies)
	}
}

// The text of an outage says how long the server was up, and since when it is silent.
func TestDownText(t *testing.T) {
	e := watchdb.Event{Kind: "down", For: 86400, Evidence: &watchdb.Evidence{First: time.Date(2026, 1, 2, 12, 34, 56, 0, time.Local)}}
	if s := Text(&e); !strings.HasSuffix(s, "  was up for 24 h, silent since 12:34:56") {
		t.Errorf("%q", s)
	}
}

// A URL that can't be used is refused, without being shown.
func TestWebhookURL(t *testing.T) {
	for _, bad := range []string{"", "discord.com/secret", "ftp://example.org/secret", "://secret"} {
		if _, err := NewWebhook(bad, false, nil); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
