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
	"unicode/utf16"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
)

// discord stands in for Discord. It answers without a network, so that the clock of a bubble
// goes on.
type discord struct {
	mu       sync.Mutex
	messages map[string]string // text by ID
	requests []string          // method, path and time since the beginning
	bodies   []string
	began    time.Time
	next     int
	refuse   []int  // status codes of the next answers
	filter   string // a message with this text is refused; empty: none
	gone     bool   // the webhook was deleted
	noID     bool   // the answers have no ID
}

func (d *discord) RoundTrip(r *http.Request) (*http.Response, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	d.requests = append(d.requests, fmt.Sprint(r.Method, " ", r.URL.RequestURI(), " ", time.Since(d.began).Round(time.Second)))
	d.bodies = append(d.bodies, string(body))
	w := httptest.NewRecorder()
	id := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	switch {
	case len(d.refuse) > 0:
		w.Header().Set("Retry-After", "150.5")
		w.WriteHeader(d.refuse[0])
		d.refuse = d.refuse[1:]
	case d.filter != "" && strings.Contains(string(body), d.filter):
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"message": "Message blocked by harmful links filter", "code": 240000}`)
	case d.noID:
		fmt.Fprint(w, `{"ok": true}`)
	case d.gone:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message": "Unknown Webhook", "code": 10015}`)
	case r.Method == http.MethodPost:
		d.next++
		id = fmt.Sprint(1_200_000_000_000_000_000 + d.next)
		d.messages[id] = string(body)
		fmt.Fprintf(w, `{"id": %q, "type": 0}`, id)
	case d.messages[id] == "":
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message": "Unknown Message", "code": 10008}`)
	default:
		d.messages[id] = string(body)
		fmt.Fprintf(w, `{"id": %q}`, id)
	}
	return w.Result(), err
}

// sent returns the requests since the last call.
func (d *discord) sent() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := strings.Join(d.requests, ", ")
	d.requests = nil
	return all
}

// panelled is a watch with a panel, and the world of its servers. The test holds the lock of
// the watch except in after, so the panel can't read what the test changes.
type panelled struct {
	*world
	*discord
	watch *Watch
	said  strings.Builder
	end   func()
}

func newPanelled(t *testing.T, servers int) *panelled {
	t.Helper()
	state := newState(t)
	p := &panelled{world: newWorld(t, servers, usual()), discord: &discord{messages: map[string]string{}, began: time.Now()}}
	hook, err := NewWebhook("https://discord.example/api/webhooks/1/secret?thread_id=7", "discord", nil)
	check(t, err)
	hook.client.Transport = p.discord
	p.watch = &Watch{
		Options: &Options{Rules: usual(), DB: state, Log: &Log{}, Terminal: console.New(&p.said), Panel: &Panel{Hook: hook, Title: "Our servers", Every: time.Minute}},
		monitor: &scanner.Monitor{}, watcher: p.w,
	}
	p.start()
	p.watch.mu.Lock()
	t.Cleanup(func() { p.watch.mu.Unlock(); p.end() })
	return p
}

// start begins to deliver, as a watch does that begins again.
func (p *panelled) start() {
	ctx, cancel := context.WithCancel(p.t.Context())
	ended := make(chan struct{})
	go func() { p.watch.Panel.deliver(ctx, p.watch); close(ended) }()
	p.end = func() { cancel(); <-ended }
}

// after lets time pass for the panel, and checks what was sent in it.
func (p *panelled) after(d time.Duration, want string) {
	p.t.Helper()
	p.watch.mu.Unlock()
	time.Sleep(d)
	synctest.Wait()
	p.watch.mu.Lock()
	if got := p.sent(); got != want {
		p.t.Errorf("sent %q, want %q", got, want)
	}
}

// TestPanel: one message is edited in place, at most once a minute, and only when it changed.
func TestPanel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPanelled(t, 3)
		p.run(2 * time.Minute)
		const hook = "/api/webhooks/1/secret"
		p.after(65*time.Second, "POST "+hook+"?thread_id=7&wait=true 1m0s")
		p.after(10*time.Minute, "")
		p.servers[1].people = 6
		p.run(61 * time.Second)
		p.after(time.Minute, "PATCH "+hook+"/messages/1200000000000000001?thread_id=7 12m0s")
		p.servers[1].people, p.refuse = 7, []int{429, 500}
		p.run(61 * time.Second)
		p.after(210*time.Second, "PATCH "+hook+"/messages/1200000000000000001?thread_id=7 13m0s, PATCH "+hook+"/messages/1200000000000000001?thread_id=7 15m31s")
		p.after(190*time.Second, "PATCH "+hook+"/messages/1200000000000000001?thread_id=7 18m1s")
		if said := p.said.String(); !strings.Contains(said, "panel: the receiver answered with HTTP 429; the next attempt follows in 2m30.5s") || strings.Contains(said, "secret") {
			t.Errorf("said %q", said)
		}

		p.end() // the next watch edits the same message, and another one if somebody deleted it
		p.start()
		p.after(time.Minute, "PATCH "+hook+"/messages/1200000000000000001?thread_id=7 19m45s")
		clear(p.messages)
		p.servers[1].people = 8
		p.run(61 * time.Second)
		p.after(time.Minute, "PATCH "+hook+"/messages/1200000000000000001?thread_id=7 20m45s, POST "+hook+"?thread_id=7&wait=true 20m45s")
		p.gone = true
		p.servers[1].people = 9
		p.run(61 * time.Second)
		p.after(time.Minute, "PATCH "+hook+"/messages/1200000000000000002?thread_id=7 21m45s")
		p.servers[1].people = 10
		p.run(61 * time.Second)
		p.after(time.Hour, "")
		if said := p.said.String(); !strings.HasSuffix(said, "a2sscan: the panel is no longer updated: the webhook does not exist any more\n") {
			t.Errorf("said %q", said)
		}
	})
}

// TestPanelRefused: if Discord refuses the names, the panel shows addresses, until Discord
// takes the names again. It says so once.
func TestPanelRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPanelled(t, 3)
		p.watch.Panel.Hook.Site, p.filter = "https://status.example.org", "free.example"
		p.servers[0].name, p.servers[1].name = "\u3164 ", "get free.example now"
		p.maintain(p.servers[2].addr.String() + " daily 12:00-13:00 see free.example")
		p.run(2 * time.Minute)
		p.servers[2].dead = true
		p.run(5 * time.Minute)
		const post, patch = "POST /api/webhooks/1/secret?thread_id=7&wait=true ", "PATCH /api/webhooks/1/secret/messages/1200000000000000001?thread_id=7 "
		p.after(10*time.Minute, post+"1m0s, "+post+"1m0s")
		shown := func(name string) {
			t.Helper()
			text := p.messages["1200000000000000001"]
			if !strings.Contains(text, "🟢 **"+name+"** up since") || !strings.Contains(text, "🔧 **") {
				t.Errorf("the panel has %q, want the name %q", text, name)
			}
		}
		address := strings.ReplaceAll(p.servers[1].addr.String(), ":", `\\:`)
		shown(address)
		p.servers[1].mapName = "free.example"
		p.run(61 * time.Second)
		p.after(time.Minute, patch+"11m0s, "+patch+"11m0s")
		shown(address)
		shown(strings.ReplaceAll(p.servers[0].addr.String(), ":", `\\:`))
		p.filter = ""
		p.servers[1].people++
		p.run(61 * time.Second)
		p.after(time.Minute, patch+"12m0s")
		shown("get free.example now")
		shown(strings.ReplaceAll(p.servers[0].addr.String(), ":", `\\:`))
		if want := "a2sscan: panel: the receiver answered with HTTP 400: Message blocked by harmful links filter; the watch shows the servers without names\n"; p.said.String() != want {
			t.Errorf("said %q", p.said.String())
		}
	})
}

// TestPanelNoID: a receiver that takes the message without an ID gets it once.
func TestPanelNoID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPanelled(t, 3)
		p.noID = true
		p.run(2 * time.Minute)
		p.after(time.Hour, "POST /api/webhooks/1/secret?thread_id=7&wait=true 1m0s")
		if want := "a2sscan: the panel is no longer updated: the receiver's answer has no message ID: is the URL a Discord webhook?\n"; p.said.String() != want {
			t.Errorf("said %q", p.said.String())
		}
	})
}

// TestPanelText: the servers that are down come first, then those with most people, within
// Discord's limits; names can neither mention anybody nor format the message.
func TestPanelText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPanelled(t, 40)
		p.watch.Panel.Hook.Site = "https://status.example.org"
		for i, f := range p.servers {
			f.people, f.places, f.name, f.mapName = i, 64, strings.Repeat("*@_[", 30), strings.Repeat("(_~", 30)
		}
		p.servers[5].name, p.servers[6].name = "@everyone is down", "planned"
		p.maintain(p.servers[6].addr.String() + " daily 12:10-13:00 weekly @here restart now")
		p.run(2 * time.Minute)
		p.servers[5].dead, p.servers[6].dead = true, true
		p.run(5 * time.Minute)
		p.after(time.Minute, "POST /api/webhooks/1/secret?thread_id=7&wait=true 1m0s")
		var m struct {
			Embeds   []struct{ Title, Description, URL string }
			Mentions map[string][]string `json:"allowed_mentions"`
		}
		check(t, json.Unmarshal([]byte(p.bodies[0]), &m))
		e := m.Embeds[0]
		if n := len(utf16.Encode([]rune(e.Title + e.Description))); n > 4096 || n < 3000 || m.Mentions["parse"] == nil || len(m.Mentions["parse"]) > 0 {
			t.Errorf("%d characters, mentions %v", n, m.Mentions)
		}
		if e.Title != "Our servers" || e.URL != "https://status.example.org/" {
			t.Errorf("%+v", e)
		}
		lines := strings.Split(e.Description, "\n")
		if len(lines) != 2+mostShown+1 || lines[len(lines)-1] != "… and 15 more" || lines[0] != "38 of 40 servers up, 769 people" {
			t.Errorf("%d lines: %q, %q", len(lines), lines[0], lines[len(lines)-1])
		}
		for i, want := range []string{`🔴 **\@everyone is down** down since <t:`, `🔧 **planned** maintenance until <t:1795179600:t>: weekly \@here restar…`, "🟢 **", "🟢 **"} {
			if got := lines[2+i]; !strings.HasPrefix(got, want) || i >= 2 && !strings.HasSuffix(got, fmt.Sprintf(" · %d/64", 41-i)) {
				t.Errorf("line %d: %q, want %q", i, got, want)
			}
		}
		for _, bad := range []string{"@everyone", "@here", "*@", "[", "(_"} {
			if strings.Contains(strings.ReplaceAll(e.Description, `\`+bad[:1], ""), bad) {
				t.Errorf("%q is not escaped", bad)
			}
		}
	})
}
