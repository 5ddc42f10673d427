package page

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/report"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
)

// badgeLayout draws a badge: the name on the left, and the state on the right.
var badgeLayout = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Parse(`<svg xmlns="http://www.w3.org/2000/svg" width="{{.Width}}" height="20" viewBox="0 0 {{.Width}} 20" role="img"><title>{{.Name}}: {{.State}}</title>` +
		`<rect width="{{.Width}}" height="20" rx="3" fill="{{.Color}}"/><path d="M3 0h{{.Cut}}v20h-{{.Cut}}a3 3 0 0 1 -3 -3v-14a3 3 0 0 1 3 -3z" fill="#444"/>` +
		`<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">` +
		`<text x="8" y="14" textLength="{{.NameWidth}}" lengthAdjust="spacingAndGlyphs">{{.Name}}</text>` +
		`<text x="{{.At}}" y="14" textLength="{{.StateWidth}}" lengthAdjust="spacingAndGlyphs">{{.State}}</text></g></svg>`))
})

// badge is the data of badgeLayout. Lengths are in pixels.
type badge struct {
	Name, State, Color           string
	NameWidth, StateWidth, Width int
	Cut, At                      int
}

func (p *Page) badge(r *http.Request, s *snapshot) (any, error) {
	addr, isImage := strings.CutSuffix(r.PathValue("file"), ".svg")
	if !isImage {
		addr = ""
	}
	shown, err := s.find(addr)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = badgeLayout().Execute(&text, newBadge(shown))
	return text.Bytes(), err
}

func newBadge(s *server) *badge {
	const longest = 32
	b := &badge{Name: report.Shown(cmp.Or(s.Name, s.Addr), longest), State: cmp.Or(statusWords[s.Status], string(s.Status)), Color: "#777"}
	switch {
	case s.InMaintenance():
		b.State = "maintenance"
	case s.Status == db.Up:
		b.Color = "#1a7f37"
		if s.Map != "" {
			b.State += " · " + report.Shown(s.Map, longest)
		}
		if s.People >= 0 {
			b.State += fmt.Sprintf(" · %d", s.People)
		}
		if s.People >= 0 && s.Places > 0 {
			b.State += fmt.Sprintf("/%d", s.Places)
		}
	case s.Status == db.Down:
		b.Color = "#c5221f"
	}
	const perCharacter, edge = 7, 8
	b.NameWidth, b.StateWidth = perCharacter*utf8.RuneCountInString(b.Name), perCharacter*utf8.RuneCountInString(b.State)
	b.Cut = edge + b.NameWidth + edge - 3
	b.At = edge + b.NameWidth + 2*edge
	b.Width = b.At + b.StateWidth + edge
	return b
}

// sendBadge sends a badge. Its headers let other sites show the image, and forbid the image
// to load or run anything.
func sendBadge(w http.ResponseWriter, _ *snapshot, code int, value any, err error) {
	if err != nil {
		http.Error(w, "a2sscan: "+err.Error(), code)
		return
	}
	h := w.Header()
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Cache-Control", "max-age=60")
	h.Set("Content-Security-Policy", "default-src 'none'")
	text, _ := value.([]byte)
	send(w, code, "image/svg+xml", text)
}

// Join returns the link with which a player joins the server, or "" if the port is unknown.
// The link has only an address and a port, so it is safe.
func (s *server) Join() template.URL {
	addr, err := netip.ParseAddrPort(s.Addr)
	if err != nil || s.GamePort == 0 {
		return ""
	}
	return template.URL("steam://connect/" + netip.AddrPortFrom(addr.Addr(), s.GamePort).String())
}
