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
	"unicode/utf16"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
)

// Webhook posts events to a URL. The database is its queue, so each event arrives at least
// once: after a kill, the last POST may be repeated.
type Webhook struct {
	URL     string // secret, never shown
	Discord bool   // whether messages have Discord's format instead of plain JSON
	Kinds   []string
	Site    string // URL of the live page, to which messages on Discord link; empty: no links
	Role    string // ID of the role that messages on Discord mention when a server is down; empty: none

	client http.Client
}

const (
	cursorName = "webhook"
	maxQueue   = 10_000 // maximum number of waiting events; older events are dropped
	batchLimit = 10     // a message about more events is only a summary
	gather     = time.Second
	maxBackoff = 5 * time.Minute
)

// NewWebhook returns a webhook for the URL in its first argument, secret. If the URL is not
// valid, the error does not contain the URL. The format is json or discord. If the format is
// empty, Discord's URLs get Discord's format, and all other URLs get JSON.
func NewWebhook(secret, format string, kinds []string) (*Webhook, error) {
	u, err := url.Parse(strings.TrimSpace(secret))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("the URL must begin with https:// or http://")
	}
	atDiscord := slices.Contains([]string{"discord.com", "discordapp.com"}, u.Hostname())
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Webhook{
		URL: u.String(), Discord: format == "discord" || format == "" && atDiscord, Kinds: kinds,
		client: http.Client{Timeout: 30 * time.Second, CheckRedirect: noRedirect},
	}, nil
}

func (h *Webhook) deliver(ctx context.Context, state *db.DB, t *console.Terminal) {
	for wait := gather; ctx.Err() == nil; console.Pause(ctx, wait) {
		err := h.post(ctx, state, t)
		switch {
		case err == nil:
			wait = gather
		case ctx.Err() == nil:
			refusal, _ := errors.AsType[refused](err)
			wait = max(min(2*wait, maxBackoff), refusal.wait)
			t.Say("webhook: %v; the next attempt follows in %v", err, wait)
		}
	}
}

func (h *Webhook) post(ctx context.Context, state *db.DB, t *console.Terminal) error {
	id, last, dropped, err := state.Cursor(cursorName, maxQueue)
	switch {
	case err != nil:
		return err
	case id < 0: // a new webhook gets new events only
		return state.SetCursor(cursorName, last)
	case dropped > 0:
		if err := state.SetCursor(cursorName, id); err != nil {
			return err
		}
		t.Say("webhook: dropped %s, because too many events were waiting", console.Plural(dropped, "event"))
	}
	events, err := state.Since(id, maxQueue)
	if err != nil || len(events) == 0 {
		return err
	}
	end := events[len(events)-1].ID
	events = slices.DeleteFunc(events, func(e db.Event) bool { return e.Planned || !slices.Contains(h.Kinds, e.Kind) })
	if len(events) > 0 {
		if err := h.offer(ctx, events, t); err != nil {
			return err
		}
	}
	return db.Retry(ctx, nil, func() error { return state.SetCursor(cursorName, end) })
}

// offer posts a message about events. If the receiver refuses the content of the message,
// offer posts a plain message. If the receiver refuses the plain message, too, offer drops
// the events, because they would hold up all later events.
func (h *Webhook) offer(ctx context.Context, events []db.Event, t *console.Terminal) error {
	ids := fmt.Sprintf("%d-%d", events[0].ID, events[len(events)-1].ID)
	for _, level := range []level{withDetails, plain} {
		body, err := h.message(events, level)
		if err == nil {
			_, err = h.send(ctx, http.MethodPost, h.URL, body, ids)
		}
		if !contentRefused(err) {
			return err
		}
		next := "the watch posts these events without names"
		if level == plain {
			next = "the watch drops these events"
		}
		t.Say("webhook: events with the IDs %s: %v; %s", ids, err, next)
	}
	return nil
}

// Test posts a test message in the format of the events.
func (h *Webhook) Test(ctx context.Context) error {
	message := map[string]any{"test": true, "ids": []int64{}, "counts": map[string]uint64{}, "events": []db.Event{}}
	if h.Discord {
		message = map[string]any{"content": "a2sscan can post here, and will report events here"}
	}
	body, err := json.Marshal(message)
	if err == nil {
		_, err = h.send(ctx, http.MethodPost, h.URL, body, "")
	}
	return err
}

// refused is the error if the receiver answers with a status that is not a success.
type refused struct {
	status int
	wait   time.Duration // how long the receiver wants the watch to wait, or 0
	code   int           // Discord's code of the reason, or 0
	reason string        // message in the receiver's answer, or empty if there is none
}

func (r refused) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("the receiver answered with HTTP %d: %s", r.status, console.Plain(r.reason, 100)), ": ")
}

// contentRefused reports whether the receiver refused a message because of its content.
// Any other error may concern every message.
func contentRefused(err error) bool {
	no, ok := errors.AsType[refused](err)
	return ok && (no.status == http.StatusBadRequest || no.status == http.StatusRequestEntityTooLarge || no.status == http.StatusUnprocessableEntity)
}

// send sends a body, with ids in a header, and returns the answer.
func (h *Webhook) send(ctx context.Context, method, to string, body []byte, ids string) (answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the URL of the webhook is not valid")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "a2sscan")
	if ids != "" {
		request.Header.Set("A2sscan-Events", ids)
	}
	response, err := h.client.Do(request)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // omit the URL, which is secret
		}
		return nil, fmt.Errorf("%s", console.Plain(err.Error(), 200))
	}
	defer response.Body.Close()
	answer, _ = io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if response.StatusCode/100 != 2 {
		seconds, _ := strconv.ParseFloat(response.Header.Get("Retry-After"), 64)
		var reason struct {
			Code    int
			Message string
		}
		_ = json.Unmarshal(answer, &reason)
		wait := time.Duration(min(max(seconds, 0), 3600) * float64(time.Second))
		return nil, refused{response.StatusCode, wait, reason.Code, reason.Message}
	}
	return answer, nil
}

// level is the amount of detail in a message. Each level includes the lower levels.
type level int

const (
	plain level = iota // addresses, but no texts from servers or lists, and no links
	withNames
	withLinks
	withDetails
)

func (h *Webhook) message(events []db.Event, most level) ([]byte, error) {
	ids, counts := []int64{}, map[string]uint64{}
	for i := range events {
		ids = append(ids, events[i].ID)
		counts[events[i].Kind]++
	}
	many := len(events) > batchLimit
	if !h.Discord {
		m := map[string]any{"ids": ids, "counts": counts}
		if !many && most > plain {
			m["events"] = events
		}
		return json.Marshal(m)
	}
	text := ""
	if many {
		text = summary(events, most)
	}
	mention, mentions := "", noMentions
	if h.Role != "" && counts["down"]+counts["reminder"] > 0 {
		mention, mentions = "<@&"+h.Role+"> ", map[string]any{"roles": []string{h.Role}}
	}
	// limit is Discord's maximum length in UTF-16 units, minus space for the mention. A longer
	// text is written again at a lower level.
	const limit = 2000 - 30
	for level := most; level >= plain && !many; level-- {
		text = ""
		for i := range events {
			text += h.line(&events[i], level) + "\n"
		}
		if len(utf16.Encode([]rune(text))) <= limit {
			break
		}
	}
	const suppressEmbeds = 4
	return json.Marshal(map[string]any{"content": mention + text, "allowed_mentions": mentions, "flags": suppressEmbeds})
}

// summary counts the events of each kind, and names the servers of the first events.
func summary(events []db.Event, level level) string {
	const most, letters = 30, 24 // so the text is below Discord's limit, even if each letter is escaped
	counts, names := map[string]int{}, map[string][]string{}
	for i := range events {
		kind := events[i].Kind
		counts[kind]++
		if name := nameOf(&events[i], level); name != "" && i < most {
			names[kind] = append(names[kind], inDiscord(name, letters))
		}
	}
	text := fmt.Sprintf("%d events", len(events))
	for _, kind := range db.Kinds {
		if counts[kind] == 0 {
			continue
		}
		text += fmt.Sprintf("\n**%s** %d", kind, counts[kind])
		if n := len(names[kind]); n > 0 {
			text += ": " + strings.Join(names[kind], ", ")
			if n < counts[kind] {
				text += " …"
			}
		}
	}
	return text
}

var noMentions = map[string]any{"parse": []string{}}

func nameOf(e *db.Event, level level) string {
	if level == plain {
		return e.Addr
	}
	return Visible(e.Label, e.Name, e.Addr)
}

func (h *Webhook) line(e *db.Event, level level) string {
	name := nameOf(e, level)
	text, shown := "**"+e.Kind+"**", inDiscord(name, 40)
	switch {
	case e.Addr == "":
	case level >= withLinks && h.Site != "":
		text += " [" + shown + "](" + h.Site + "/server/" + e.Addr + ")"
	case name == e.Addr:
		text += " " + shown
	default:
		text += " " + shown + " (" + e.Addr + ")"
	}
	when, at := e.Time, "at"
	if e.Evidence != nil && !e.Evidence.First.IsZero() {
		when, at = e.Evidence.First, "silent since"
	}
	text += fmt.Sprintf(", %s %s (%s)", at, timestamp(when, 'T'), timestamp(when, 'R'))
	if more := Details(e); level >= withDetails && more != "" {
		text += ": " + inDiscord(more, 150)
	}
	return text
}

// timestamp returns a time that Discord shows in the zone of the reader. The style R is a
// relative time, t has no seconds, T has seconds, and f has a date.
func timestamp(t time.Time, style rune) string { return fmt.Sprintf("<t:%d:%c>", t.Unix(), style) }

// markup escapes the characters that mean something in Discord's Markdown, or begin a mention
// or an emoji.
var markup = strings.NewReplacer(func() (pairs []string) {
	for _, c := range "\\*_~`|>#-[]()<@:" {
		pairs = append(pairs, string(c), "\\"+string(c))
	}
	return pairs
}()...)

// inDiscord cuts a text from strangers to a number of characters, and escapes it.
func inDiscord(s string, most int) string {
	return markup.Replace(console.Plain(strings.TrimSpace(s), most))
}
