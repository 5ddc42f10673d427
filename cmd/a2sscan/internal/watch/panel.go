package watch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
)

// Panel is a message on Discord that shows the servers. The watch posts the message once,
// and then edits it. The database stores the ID of the message in its table of cursors,
// under panelName.
//
//	no ID ──▶ POST ──▶ ID in the database ──▶ PATCH, at most once a minute
//	             ▲                               │
//	             └── "unknown message": no ID ◀──┘
//
// If the watch is killed after Discord took the POST and before the ID is in the database, the
// next watch posts another message. The first message then stays as it is.
type Panel struct {
	Hook  *Webhook
	Title string
	// Every is the shortest time between two edits of the message.
	Every time.Duration
}

const (
	panelName      = "panel"
	unknownMessage = 10008 // Discord's code for a message that somebody deleted
)

// After one of these errors, the watch no longer updates the panel.
var (
	errGone = errors.New("the webhook does not exist any more")
	errNoID = errors.New("the receiver's answer has no message ID: is the URL a Discord webhook?")
)

// deliver keeps the message up to date until ctx ends, the webhook no longer exists, or the
// receiver takes the message without saying its ID.
func (p *Panel) deliver(ctx context.Context, r *Watch) {
	var shown []byte  // the latest message that Discord took, in its version with names
	nameless := false // Discord refused the message with names
	for wait := p.Every; ; {
		if console.Pause(ctx, wait); ctx.Err() != nil {
			return
		}
		body, err := p.message(r, withDetails)
		if wait = p.Every; err == nil && bytes.Equal(body, shown) {
			continue
		}
		err = p.put(ctx, r.DB, body)
		before := nameless
		if nameless = contentRefused(err); nameless {
			if !before {
				r.Terminal.Say("panel: %v; the watch shows the servers without names", err)
			}
			bare, _ := p.message(r, plain)
			err = p.put(ctx, r.DB, bare)
		}
		switch {
		case err == nil:
			shown = body
		case errors.Is(err, errGone), errors.Is(err, errNoID):
			r.Terminal.Say("the panel is no longer updated: %v", err)
			r.Terminal.Log.Warn("the panel ends", "error", err)
			return
		case ctx.Err() == nil:
			refusal, _ := errors.AsType[refused](err)
			wait = max(p.Every, refusal.wait)
			r.Terminal.Say("panel: %v; the next attempt follows in %v", err, wait)
		}
	}
}

// put edits the message, or posts it if there is none.
func (p *Panel) put(ctx context.Context, state *db.DB, body []byte) error {
	store := func(id int64) error {
		return db.Retry(ctx, nil, func() error { return state.SetCursor(panelName, id) })
	}
	id, _, _, err := state.Cursor(panelName, math.MaxInt64)
	if err != nil {
		return err
	}
	to, err := url.Parse(p.Hook.URL)
	if err != nil {
		return errors.New("the URL of the webhook is not valid")
	}
	if id > 0 {
		_, err = p.Hook.send(ctx, http.MethodPatch, to.JoinPath("messages", fmt.Sprint(id)).String(), body, "")
		if no, ok := errors.AsType[refused](err); !ok || no.status != http.StatusNotFound || no.code != unknownMessage {
			return ended(err)
		}
		if err := store(0); err != nil {
			return err
		}
	}
	query := to.Query()
	query.Set("wait", "true") // so that the answer has the ID of the message
	to.RawQuery = query.Encode()
	answer, err := p.Hook.send(ctx, http.MethodPost, to.String(), body, "")
	if err != nil {
		return ended(err)
	}
	var posted struct {
		ID int64 `json:",string"`
	}
	if err := json.Unmarshal(answer, &posted); err != nil || posted.ID <= 0 {
		return errNoID
	}
	return store(posted.ID)
}

func ended(err error) error {
	if no, ok := errors.AsType[refused](err); ok && no.status == http.StatusNotFound {
		return errGone
	}
	return err
}

// Discord limits the text of an embed to 4,096 characters. With these limits for the number
// of servers and the lengths of texts, a message is short enough, even if each character is
// escaped.
const mostShown, nameWidth, mapWidth, reasonWidth = 25, 32, 20, 20

func (p *Panel) message(r *Watch, level level) ([]byte, error) {
	rows := slices.Collect(r.Rows())
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(min(a.rank(), 2), min(b.rank(), 2)), cmp.Compare(b.People, a.People))
	})
	status := r.Status()
	title := fmt.Sprintf("%d of %s up, %s", status.Up, console.Plural(status.Servers, "server"), console.Plural(status.People, "person"))
	var text strings.Builder
	for i := range rows[:min(len(rows), mostShown)] {
		text.WriteString(r.panelLine(&rows[i], level) + "\n")
	}
	if more := len(rows) - mostShown; more > 0 {
		fmt.Fprintf(&text, "… and %d more", more)
	}
	embed := map[string]any{"title": inDiscord(cmp.Or(p.Title, "Game servers"), 80), "description": title + "\n\n" + text.String()}
	if level > plain && p.Hook.Site != "" {
		embed["url"] = p.Hook.Site + "/"
	}
	return json.Marshal(map[string]any{"embeds": []any{embed}, "allowed_mentions": noMentions})
}

func (r *Watch) panelLine(row *Row, level level) string {
	name, where, reason := r.name(row), "", row.Reason
	if row.Known != nil {
		where = row.Known.Map
	}
	if level == plain {
		name, where, reason = row.Addr.String(), "", ""
	}
	name = "**" + inDiscord(name, nameWidth) + "**"
	switch {
	case row.Planned && row.Until.IsZero():
		return "🔧 " + name + " is still down at the end of its maintenance"
	case row.Planned:
		return strings.TrimSuffix(fmt.Sprintf("🔧 %s maintenance until %s: %s", name, timestamp(row.Until, 't'), inDiscord(reason, reasonWidth)), ": ")
	case row.Status == db.Down:
		return fmt.Sprintf("🔴 %s down since %s (%s)", name, timestamp(row.Since, 'f'), timestamp(row.Since, 'R'))
	case row.Status != db.Up:
		return "⚪ " + name + " has not answered yet"
	}
	text := fmt.Sprintf("🟢 %s up since %s", name, timestamp(row.Since, 'f'))
	if where != "" {
		text += " · " + inDiscord(where, mapWidth)
	}
	if row.People >= 0 {
		text += fmt.Sprintf(" · %d", row.People)
	}
	if row.People >= 0 && row.Places > 0 {
		text += fmt.Sprintf("/%d", row.Places)
	}
	return text
}

// name returns the name of a server. Strangers may have chosen the name, so it is not safe
// to show.
func (r *Watch) name(row *Row) string {
	own, label := "", row.Label
	if row.Known != nil {
		own = row.Known.Name
	}
	if r.Rules.Names {
		own, label = label, own
	}
	return Visible(own, label, row.Addr.String())
}
