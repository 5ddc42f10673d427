// Package page shows what a running watch knows: pages for people, JSON for programs,
// and metrics for Prometheus. It only reads.
//
// Requests are answered from a snapshot of all servers, so that visitors hardly slow down
// the watch. Names come from strangers: the snapshot stores them as report.Shown returns
// them, the templates escape them, and the Content-Security-Policy allows only the page's
// own style and script, by their hashes.
package page

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/metrics"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/report"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
)

// Options are the settings of a Page.
type Options struct {
	Address string   // HOST:PORT
	Names   []string // host names of the site, besides localhost
	Title   string
	Link    string // URL of the owner's site, or "" for no link
	Build   ledger.Build
	DB      *db.DB // the page only reads it
	ByList  bool   // the label of a server replaces the name that it sends
	NoJoin  bool   // no links with which players join a server

	// Timeout is the longest time for which a request waits for the database.
	Timeout time.Duration
}

// Page is a site that shows a watch.
type Page struct {
	Options
	site   *metrics.Site
	source Source                   // set before the first snapshot
	latest atomic.Pointer[snapshot] // nil before the first snapshot
	past   atomic.Pointer[past]
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

// connections is the maximum number of open connections. A client that does not read its
// answer occupies up to a few hundred kilobytes of memory.
const connections = 128

// Open begins to listen. Until there is a first snapshot, pages and the API answer that the
// watch is still reading its list.
func Open(t *console.Terminal, o Options) (p *Page, err error) {
	p = &Page{Options: o, cancel: func() {}}
	p.site, err = metrics.OpenSite(metrics.SiteOptions{
		Flag: "--listen", Address: o.Address, Connections: connections, Names: p.Names, Anywhere: true, Log: t.Log,
	}, p.routes())
	if err != nil {
		return nil, err
	}
	t.Log.Info("page served", "address", p.site.Addr())
	t.Say("live page: http://%s/", p.site.Addr())
	go p.site.Serve()
	return p, nil
}

// Show makes the site show a watch. Call it once.
func (p *Page) Show(source Source, t *console.Terminal) {
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel, p.source = cancel, source
	p.ended.Go(func() { p.refresh(ctx, source, t) })
}

// fresh is the minimum time between two snapshots. If making a snapshot takes long, the
// time is longer, so that snapshots use at most 2% of one processor's time.
const fresh = time.Second

// refresh makes snapshots until ctx is done. Once a minute, it reads the totals of the last
// day and month, and the uptimes. If reading takes long, it reads less often.
func (p *Page) refresh(ctx context.Context, source Source, t *console.Terminal) {
	v, next := viewer{source: source, byList: p.ByList, noJoin: p.NoJoin}, time.Time{}
	for ctx.Err() == nil {
		start := time.Now()
		if !start.Before(next) {
			known, err := newPast(p.DB, start)
			if err == nil || p.past.Load() == nil {
				p.past.Store(known)
			}
			shares, err2 := p.DB.Shares(start.Add(-month))
			if err2 == nil {
				v.shares = shares
			}
			if err = errors.Join(err, err2); err != nil {
				t.Say("the live page can't update its charts and uptimes: %v", err)
			}
			next = start.Add(max(time.Minute, 100*time.Since(start)))
		}
		p.latest.Store(v.make(start))
		select {
		case <-time.After(max(fresh, 50*time.Since(start))):
		case <-ctx.Done():
		}
	}
}

// Close ends the site. The database may be closed afterwards.
func (p *Page) Close() {
	p.site.Close()
	p.cancel()
	p.ended.Wait()
}

func (p *Page) routes() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, answer answerer, send sender) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { p.handle(w, r, answer, send) })
	}
	handle("GET /{$}", p.index, p.show)
	handle("GET /server/{addr}", p.serverPage, p.show)
	handle("GET /badge/{file}", p.badge, sendBadge)
	api := func(pattern string, answer answerer, known ...string) {
		handle(pattern, func(r *http.Request, s *snapshot) (any, error) {
			if err := checkParameters(r.URL.Query(), known); err != nil {
				return nil, err
			}
			return answer(r, s)
		}, p.answer)
	}
	api("GET /api/servers", func(r *http.Request, s *snapshot) (any, error) {
		f, _, err := s.search(r.URL, "people")
		return &f, err
	}, "q", "game", "status", "sort", "limit", "offset")
	api("GET /api/servers/{addr}", func(r *http.Request, s *snapshot) (any, error) {
		return p.details(r, s)
	})
	api("GET /api/events", func(r *http.Request, _ *snapshot) (any, error) {
		q := r.URL.Query()
		return p.news(q.Get("since"), q.Get("epoch"))
	}, "since", "epoch")
	api("GET /api/stats", func(_ *http.Request, s *snapshot) (any, error) { return &s.numbers, nil })
	api("GET /api/history", func(*http.Request, *snapshot) (any, error) {
		return p.past.Load(), nil
	})
	mux.HandleFunc("GET /api/schema", func(w http.ResponseWriter, r *http.Request) {
		if err := checkParameters(r.URL.Query(), nil); err != nil {
			p.answer(w, nil, http.StatusBadRequest, nil, err)
			return
		}
		send(w, http.StatusOK, "application/schema+json", []byte(schema))
	})
	mux.Handle("GET /metrics", metrics.Values(p.Build, p.values))
	health := func(all bool) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			words, code := "watching", http.StatusServiceUnavailable
			if p.latest.Load() == nil {
				words, code = "loading", http.StatusOK
			} else if !p.source.Alive() {
				words = "checks have stopped"
			} else if trouble := p.source.Trouble(); all && trouble != "" {
				words = trouble
			} else {
				code = http.StatusOK
			}
			send(w, code, "text/plain; charset=utf-8", []byte(words+"\n"))
		}
	}
	mux.HandleFunc("GET /livez", health(false))
	mux.HandleFunc("GET /healthz", health(true))
	return secured(mux)
}

// An answerer computes the answer to a request from a snapshot.
type answerer func(*http.Request, *snapshot) (any, error)

// A sender writes the value or the error of an answerer, with a status code of HTTP.
type sender func(w http.ResponseWriter, s *snapshot, code int, value any, err error)

// handle answers a request from the latest snapshot. While another program has locked the
// database, handle waits, but at most for p.Timeout.
func (p *Page) handle(w http.ResponseWriter, r *http.Request, answer answerer, send sender) {
	s := p.latest.Load()
	if s == nil {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "a2sscan: the watch is still reading its list of servers", http.StatusServiceUnavailable)
		return
	}
	code := http.StatusOK
	ctx, cancel := context.WithTimeout(r.Context(), p.Timeout)
	defer cancel()
	var value any
	_, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		err = refusal{http.StatusBadRequest, "the query of the URL can't be read: escape %, & and ;"}
	} else {
		err = db.Retry(ctx, nil, func() (err error) {
			value, err = answer(r, s)
			return err
		})
	}
	if refused, ok := errors.AsType[refusal](err); ok {
		code = refused.code
	} else if errors.Is(err, db.ErrBusy) {
		w.Header().Set("Retry-After", "5")
		code, err = http.StatusServiceUnavailable, errors.New("another program has locked the state of the watch")
	} else if err != nil {
		code, err = http.StatusInternalServerError, errors.New("the database can't be read")
	}
	send(w, s, code, value, err)
}

// secured adds headers to each answer of next: browsers must run no foreign script, show
// the page in no foreign frame, and keep no copy.
func secured(next http.Handler) http.Handler {
	policy := "default-src 'none'; script-src " + report.Hash(report.Charts()+pageScript) + "; style-src " + report.Hash(report.Style()+pageStyle) +
		"; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// send writes an answer that is complete in memory, so a slow client delays nothing else.
func send(w http.ResponseWriter, code int, kind string, parts ...[]byte) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(code)
	for _, part := range parts {
		_, _ = w.Write(part)
	}
}

// values returns the numbers of the watch for Prometheus. Text from servers is never a
// label: games that this program does not know are counted as "other".
func (p *Page) values() (all []metrics.Value) {
	s := p.latest.Load()
	if s == nil {
		return nil
	}
	add := func(name, help string, number float64, labels prometheus.Labels) {
		all = append(all, metrics.Value{Name: "a2sscan_watch_" + name, Help: help, Number: number, Labels: labels})
	}
	for status, n := range map[db.Status]int{db.Up: s.Up, db.Down: s.Down, "planned": s.Planned, silent: s.Silent, db.Unknown: s.Unknown} {
		add("servers", "Watched servers, by status.", float64(n), prometheus.Labels{"status": string(status)})
	}
	add("people", "People on the servers that are up.", float64(s.People), nil)
	add("places", "Places for people on the servers that are up.", float64(s.Places), nil)
	add("blind", "1 while the network of the watching machine seems to be down; otherwise 0.", map[bool]float64{true: 1}[s.Blind], nil)
	add("interval_seconds", "Configured time between two checks of a server.", s.Interval, nil)
	add("cycle_seconds", "Duration of the latest cycle through all servers; 0 if no cycle is complete.", s.Cycle, nil)
	add("events_total", "Events since the watch began.", float64(s.Events), nil)
	for i, direction := range []string{"sent", "received"} {
		add("datagrams_total", "Datagrams of the watch, by direction.", float64(s.datagrams[i]), prometheus.Labels{"direction": direction})
	}
	other := sums{Up: s.Up, People: s.People}
	game := func(id string, g *sums) {
		add("game_servers", "Servers that are up, by game.", float64(g.Up), prometheus.Labels{"game": id})
		add("game_people", "People on the servers that are up, by game.", float64(g.People), prometheus.Labels{"game": id})
	}
	for _, g := range s.Games {
		// IDs such as app:730 and folder:cstrike contain text from servers.
		if g.ID != "" && !strings.Contains(g.ID, ":") {
			game(g.ID, &g.sums)
			other.Up, other.People = other.Up-g.Up, other.People-g.People
		}
	}
	game("other", &other)
	return all
}
