package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
)

// Webhook posts events to a URL. The database is its queue, so each event arrives at least
// once: after a kill, the last POST may be repeated.
type Webhook struct {
	URL     string // secret, never shown
	Discord bool   // whether messages have Discord's format instead of plain JSON
	Kinds   []string

	client http.Client
}

const (
	cursorName = "webhook"
	maxQueue   = 10_000 // maximum number of waiting events; older events are dropped
	batchLimit = 10     // if a message is about more events, it only counts them
	gather     = time.Second
	maxBackoff = 5 * time.Minute
)

// NewWebhook returns a webhook, or an error if the URL is not valid. The error does not
// contain the URL.
func NewWebhook(secret string, discord bool, kinds []string) (*Webhook, error) {
	u, err := url.Parse(strings.TrimSpace(secret))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("the URL must begin with https:// or http://")
	}
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Webhook{
		URL: u.String(), Discord: discord, Kinds: kinds,
		client: http.Client{Timeout: 30 * time.Second, CheckRedirect: noRedirect},
	}, nil
}

// deliver posts events until ctx ends.
func (h *Webhook) deliver(ctx context.Context, state *db.DB, t *console.Terminal) {
	for wait := gather; ctx.Err() == nil; console.Pause(ctx, wait) {
		least, err := h.post(ctx, state, t)
		switch {
		case err == nil:
			wait = gather
		case ctx.Err() == nil:
			wait = max(min(2*wait, maxBackoff), least)
			t.Say("webhook: %v; the next attempt follows in %v", err, wait)
		}
	}
}

// post posts the new events, if there are any. On an error, wait is the time for which
// the receiver asks the watch to wait.
func (h *Webhook) post(ctx context.Context, state *db.DB, t *console.Terminal) (wait time.Duration, err error) {
	id, last, dropped, err := state.Cursor(cursorName, maxQueue)
	switch {
	case err != nil:
		return 0, err
	case id < 0: // a new webhook gets new events only
		return 0, state.SetCursor(cursorName, last)
	case dropped > 0:
		t.Say("webhook: %s were dropped, because too many were waiting", console.Plural(dropped, "event"))
	}
	events, err := state.Since(id, maxQueue)
	if err != nil || len(events) == 0 {
		return 0, err
	}
	end := events[len(events)-1].ID
	events = slices.DeleteFunc(events, func(e db.Event) bool { return !slices.Contains(h.Kinds, e.Kind) })
	if len(events) > 0 {
		body, err := h.message(events)
		if err != nil {
			return 0, err
		}
		if wait, err := h.send(ctx, body, fmt.Sprintf("%d-%d", events[0].ID, events[len(events)-1].ID)); err != nil {
			return wait, err
		}
	}
	return 0, db.Retry(ctx, nil, func() error { return state.SetCursor(cursorName, end) })
}

// Test posts a message that says that the webhook works.
func (h *Webhook) Test(ctx context.Context) error {
	const text = "a2sscan can post here, and will report events here"
	body, err := json.Marshal(map[string]any{"test": true, "content": text})
	if err == nil {
		_, err = h.send(ctx, body, "")
	}
	return err
}

// send posts a body with the IDs of its events. On an error, wait is the time for which
// the receiver asks the watch to wait.
func (h *Webhook) send(ctx context.Context, body []byte, ids string) (wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return 0, errors.New("the URL can't be used")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "a2sscan")
	request.Header.Set("A2sscan-Events", ids)
	response, err := h.client.Do(request)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // omit the URL, which is secret
		}
		return 0, fmt.Errorf("%s", console.Plain(err.Error(), 200))
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 64<<10)
	if response.StatusCode/100 != 2 {
		seconds, _ := strconv.ParseFloat(response.Header.Get("Retry-After"), 64)
		return time.Duration(min(max(seconds, 0), 3600) * float64(time.Second)), fmt.Errorf("the receiver answered %d", response.StatusCode)
	}
	return 0, nil
}

// message returns the body of a POST.
func (h *Webhook) message(events []db.Event) ([]byte, error) {
	ids, counts := []int64{}, map[string]uint64{}
	for i := range events {
		ids = append(ids, events[i].ID)
		counts[events[i].Kind]++
	}
	many := len(events) > batchLimit
	if !h.Discord {
		m := map[string]any{"ids": ids, "counts": counts}
		if !many {
			m["events"] = events
		}
		return json.Marshal(m)
	}
	var b strings.Builder
	if many {
		fmt.Fprintf(&b, "%d events: %s", len(events), console.Listed(counts, db.Kinds, ", "))
		events = nil
	}
	for i := range events {
		fmt.Fprintf(&b, "**%s** %s\n", events[i].Kind, inDiscord(about(&events[i])))
	}
	const suppressEmbeds = 4
	return json.Marshal(map[string]any{
		"content": b.String(), "allowed_mentions": map[string]any{"parse": []string{}}, "flags": suppressEmbeds,
	})
}

// markup holds the characters that mean something in Discord's Markdown, or begin a mention or
// an emoji.
var markup = strings.NewReplacer(func() (pairs []string) {
	for _, c := range "\\*_~`|>#-[]()<@:" {
		pairs = append(pairs, string(c), "\\"+string(c))
	}
	return pairs
}()...)

// inDiscord escapes text from strangers, and cuts it so that ten such texts fit in one
// message of at most 2,000 characters.
func inDiscord(s string) string {
	s = strings.TrimSpace(markup.Replace(s))
	if runes := []rune(s); len(runes) > 180 {
		s = strings.TrimRight(string(runes[:179]), "\\") + "…"
	}
	return s
}
