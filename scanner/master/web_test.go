package master_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// fetchWeb fetches a list with synctest's clock, and checks that the results do not
// contain the key. took is how long the fetch took by that clock.
func fetchWeb(t *testing.T, h http.Handler, cfg master.Config) (got collected, s master.Stats, took time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		got = make(collected)
		cfg.Transport = transport{h}
		cfg.Key = testKey(t)
		start := time.Now()
		s, err = master.Fetch(t.Context(), cfg, got.handle(t))
		took = time.Since(start)
	})
	if s.Servers != uint64(len(got)) {
		t.Errorf("%d servers counted, %d handed out", s.Servers, len(got))
	}
	cfg.Transport = nil // the simulated master knows the key
	wantNoKey(t, err, s, cfg)
	return got, s, took, err
}

// wantNoKey fails the test if the key is in one of the values, or in an error that
// one of them wraps.
func wantNoKey(t *testing.T, values ...any) {
	t.Helper()
	for _, v := range values {
		texts := []string{fmt.Sprintf("%v|%+v|%#v|%s|%q|%d", v, v, v, v, v, v)}
		err, _ := v.(error)
		for ; err != nil; err = errors.Unwrap(err) {
			texts = append(texts, err.Error(), fmt.Sprintf("%#v", err))
		}
		if b, err := json.Marshal(v); err == nil {
			texts = append(texts, string(b))
		}
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", v)
		for _, text := range append(texts, log.String()) {
			if strings.Contains(text, secret) || strings.Contains(text, "key=") {
				t.Errorf("the key shows: %s", text)
			}
		}
	}
}

func TestFetchWeb(t *testing.T) {
	m := simulated(t, fleet.MasterConfig{Key: secret})
	got, s, took, err := fetchWeb(t, m, master.Config{Region: master.World})
	if err != nil || !s.Complete || s.Requests != 1 || took != 0 {
		t.Fatalf("%v, %+v after %v", err, s, took)
	}
	got.sameAs(t, m)
}

// TestFetchWebFields checks that every field of a server is decoded, and that
// fields of a wrong type and invalid entries are dropped.
func TestFetchWebFields(t *testing.T) {
	body := `{"response":{"servers":[
	 {"addr":"203.0.113.7:27015","gameport":27016,"specport":27020,"steamid":"90071992547409921","name":"A \"server\"",
	  "appid":440,"gamedir":"tf","version":"1.2","product":"tf2","region":-1,"players":300,"max_players":1000,"bots":2,
	  "map":"cp_dustbowl","secure":true,"dedicated":false,"os":"l","gametype":"cp,nocrits"},
	 {"addr":"203.0.113.8:27015"},
	 {"addr":"203.0.113.9:27015","steamid":5,"name":null,"appid":"440","players":1.5,"map":["x"],"os":"w","secure":0},
	 {"addr":"no address"},{"name":"nameless"},"nonsense",{"addr":"[::1]:5"},{"addr":7},
	 {"addr":"203.0.113.7:27015","name":"again"}]}}`
	var servers []master.Server
	s, err := master.Fetch(t.Context(), master.Config{
		Region: master.World, Key: testKey(t), Transport: transport{text(body)},
	}, func(s *master.Server) error { servers = append(servers, *s); return nil })
	check(t, err)
	want := []string{
		`203.0.113.7:27015 {"name":"A \"server\"","map":"cp_dustbowl","folder":"tf",` +
			`"product":"tf2","app_id":440,"players":300,"max_players":1000,"bots":2,"dedicated":false,"os":"l","vac":true,` +
			`"version":"1.2","region":-1,"game_port":27016,"sourcetv_port":27020,"steam_id":"90071992547409921",` +
			`"keywords":"cp,nocrits"}`,
		`203.0.113.8:27015 `,
		`203.0.113.9:27015 {"os":"w","steam_id":"5"}`,
	}
	for i := range want {
		if got := fmt.Sprintf("%v %s", servers[i].Addr, servers[i].Details); got != want[i] {
			t.Errorf("%s, want %s", got, want[i])
		}
	}
	if s.Invalid != 5 || s.Odd != 1 || s.Duplicates != 1 || s.Servers != 3 {
		t.Errorf("%+v", s)
	}
}

// text returns a handler that answers every request with body.
func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(body)) }
}

// TestFetchWebRequest checks the URL of a request, and that it has no Referer
// header.
func TestFetchWebRequest(t *testing.T) {
	var asked []*http.Request
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r)
		w.Write([]byte(`{"response":{}}`))
	})
	_, s, _, err := fetchWeb(t, h, master.Config{Filter: filter(`\appid\440\empty\1`)})
	if err != nil || !s.Complete || len(asked) != 1 {
		t.Fatalf("%v, %+v", err, s)
	}
	u := asked[0].URL
	const want = `filter=%5Cappid%5C440%5Cempty%5C1&key=` + secret + `&limit=50000`
	if u.RawQuery != want || u.Scheme != "https" || u.Host != "api.steampowered.com" ||
		u.Path != "/IGameServersService/GetServerList/v1/" || asked[0].Header.Get("Referer") != "" {
		t.Errorf("%v", u)
	}
}

// TestFetchWebRegion checks that servers of other regions are skipped and counted.
func TestFetchWebRegion(t *testing.T) {
	m := simulated(t, fleet.MasterConfig{})
	got, s, _, err := fetchWeb(t, m, master.Config{Region: 3})
	if err != nil || len(got) == 0 || len(got) > 512 || s.Elsewhere+s.Servers != 1024 || s.Duplicates > 0 {
		t.Errorf("%v, %+v", err, s)
	}
}

// TestFetchWebFaults checks how the fetch ends with each fault of a master, that it
// keeps the servers before the fault, and that its error describes the fault.
func TestFetchWebFaults(t *testing.T) {
	tests := []struct {
		name   string
		master fleet.MasterConfig
		cfg    master.Config
		is     error
		say    []string
		least  int
		took   time.Duration
	}{
		{"wrong key", fleet.MasterConfig{Key: "another"}, master.Config{}, master.ErrKey,
			[]string{"Web API", "key was refused", "403"}, 0, 0},
		{"forbidden", fleet.MasterConfig{Faults: []fleet.MasterFault{fleet.MasterForbidden}}, master.Config{}, master.ErrKey,
			[]string{"403"}, 0, 0},
		{"bad request", fleet.MasterConfig{Faults: []fleet.MasterFault{fleet.MasterRefuses}}, master.Config{}, master.ErrRefused,
			[]string{"400 bad request"}, 0, 0},
		{"redirected", fleet.MasterConfig{Faults: []fleet.MasterFault{fleet.MasterRedirect}}, master.Config{}, nil,
			[]string{"302", "not followed"}, 0, 0},
		{"broken for good", fleet.MasterConfig{Faults: []fleet.MasterFault{fleet.MasterBroken}}, master.Config{}, nil,
			[]string{"asked 5 times", "503"}, 0, 30 * time.Second},
		{"too many for good", fleet.MasterConfig{Faults: []fleet.MasterFault{fleet.MasterTooMany}, In: 90 * time.Second}, master.Config{}, nil,
			[]string{"asked 5 times", "429"}, 0, 360 * time.Second},
		{"asked to wait too long", fleet.MasterConfig{Faults: []fleet.MasterFault{fleet.MasterTooMany}, In: time.Hour}, master.Config{}, master.ErrSlow,
			[]string{"1h0m0s", "the limit is 5m0s", "429"}, 0, 0},
		{"asked to wait too long by date", fleet.MasterConfig{Faults: []fleet.MasterFault{fleet.MasterTooMany}, In: time.Hour, Date: true}, master.Config{}, master.ErrSlow,
			[]string{"1h0m0s"}, 0, 0},
		{"silent", fleet.MasterConfig{Faults: []fleet.MasterFault{fleet.MasterSilent}}, master.Config{Timeout: 10 * time.Second, Retries: 1}, context.DeadlineExceeded,
			[]string{"no answer within 10s", "asked 2 times"}, 0, 22 * time.Second},
		{"malformed", fleet.MasterConfig{Faults: []fleet.MasterFault{fleet.MasterMalformed}}, master.Config{Retries: -1}, master.ErrMalformed,
			[]string{"invalid JSON at byte"}, 1023, 0},
		{"truncated", fleet.MasterConfig{Faults: []fleet.MasterFault{fleet.MasterTruncated}}, master.Config{Retries: -1}, master.ErrMalformed,
			[]string{"the JSON is truncated"}, 600, 0},
		{"a page of HTML", fleet.MasterConfig{Faults: []fleet.MasterFault{fleet.MasterPage}}, master.Config{Retries: -1}, master.ErrMalformed,
			[]string{"invalid JSON at byte"}, 0, 0},
		{"without an end", fleet.MasterConfig{Faults: []fleet.MasterFault{fleet.MasterHuge}}, master.Config{}, master.ErrTooMuch,
			[]string{"too much data"}, 1, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.cfg.Region, test.cfg.Unlimited = master.World, true
			got, s, took, err := fetchWeb(t, simulated(t, test.master), test.cfg)
			wantError(t, err, test.say...)
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%v is no %v", err, test.is)
			}
			if s.Complete || len(got) < test.least {
				t.Errorf("%v, %d servers, want %d", s.Complete, len(got), test.least)
			}
			if took.Round(time.Second) != test.took {
				t.Errorf("took %v, want %v", took, test.took)
			}
		})
	}
}

// TestFetchWebNothing checks that an answer without data does not count as an empty
// list.
func TestFetchWebNothing(t *testing.T) {
	for _, body := range []string{"", "\r\n ", "\n"} {
		_, s, _, err := fetchWeb(t, text(body), master.Config{Region: master.World, Retries: -1})
		wantError(t, err, "the answer is empty")
		if !errors.Is(err, master.ErrMalformed) || s.Complete || s.Replies != 0 {
			t.Errorf("%q: %v, %+v", body, err, s)
		}
	}
	closed := func(r *http.Request) error { return &url.Error{Op: "Get", URL: r.URL.String(), Err: io.EOF} }
	_, err := master.Fetch(t.Context(), master.Config{Key: testKey(t), Retries: -1, Transport: failing(closed)},
		func(*master.Server) error { return nil })
	wantError(t, err, "the answer is empty")
}

// TestFetchWebPatience checks that the pause between repeated requests never
// exceeds its maximum.
func TestFetchWebPatience(t *testing.T) {
	m := simulated(t, fleet.MasterConfig{Faults: []fleet.MasterFault{fleet.MasterBroken}})
	_, s, took, err := fetchWeb(t, m, master.Config{Retries: 70, MaxWait: time.Minute, Unlimited: true})
	wantError(t, err, "asked 71 times")
	if want := (2+4+8+16+32)*time.Second + 65*time.Minute; took != want || s.Retries != 70 {
		t.Errorf("took %v, want %v: %+v", took, want, s)
	}
}

// TestFetchWebRecovers checks that the list is complete after temporary faults.
func TestFetchWebRecovers(t *testing.T) {
	for _, fault := range []fleet.MasterFault{
		fleet.MasterTooMany, fleet.MasterBroken, fleet.MasterMalformed, fleet.MasterTruncated, fleet.MasterPage, fleet.MasterSilent,
	} {
		m := simulated(t, fleet.MasterConfig{Faults: []fleet.MasterFault{fault}, For: 2, Date: true})
		got, s, took, err := fetchWeb(t, m, master.Config{Region: master.World})
		if err != nil || s.Retries != 2 || !s.Complete {
			t.Fatalf("fault %s: %v, %+v", fault, err, s)
		}
		if fault == fleet.MasterTooMany && took != 2*time.Minute {
			t.Errorf("waited %v, and was asked to wait twice a minute", took)
		}
		got.sameAs(t, m)
	}
}

// TestFetchWebStop checks that a fetch ends as soon as its context ends.
func TestFetchWebStop(t *testing.T) {
	for name, c := range map[string]fleet.MasterConfig{
		"asked to wait": {Faults: []fleet.MasterFault{fleet.MasterTooMany}},
		"no answer":     {Faults: []fleet.MasterFault{fleet.MasterSilent}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
				defer cancel()
				start := time.Now()
				_, err := master.Fetch(ctx, master.Config{
					Key: testKey(t), Transport: transport{simulated(t, c)}},
					func(*master.Server) error { return nil })
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 7*time.Second {
					t.Errorf("%v after %v", err, time.Since(start))
				}
			})
		})
	}
}

// TestCallerErrors checks that the caller's error is returned unchanged, and that no
// request is repeated.
func TestCallerErrors(t *testing.T) {
	full := errors.New("no space left on device")
	n := 0
	_, err := master.Fetch(t.Context(), master.Config{Region: master.World, Key: testKey(t),
		Transport: transport{simulated(t, fleet.MasterConfig{})}}, func(*master.Server) error { n++; return full })
	if err != full || n != 1 {
		t.Errorf("%v after %d servers", err, n)
	}
}

// TestFetchWebAddress checks that the key is sent over https only, except to loopback.
func TestFetchWebAddress(t *testing.T) {
	for _, u := range []string{
		"http://api.steampowered.com/x", "ftp://api.steampowered.com/x", "api.steampowered.com", "https://", "://", "http://127.0.0.1.example.org/",
		"https://api.steampowered.com/?key=" + secret, "https://user:" + secret + "@example.org/", "https://x/#" + secret, "https://\x7f" + secret,
	} {
		_, err := master.Fetch(t.Context(), master.Config{URL: u, Key: testKey(t), Transport: transport{text("")}},
			func(*master.Server) error { return nil })
		wantError(t, err, "address")
		wantNoKey(t, err)
	}
	for _, u := range []string{"http://127.0.0.1:5/", "http://127.9.9.9/x", "http://[::1]:8080/", "http://localhost/", "https://example.org/"} {
		_, _, _, err := fetchWeb(t, text(`{"response":{}}`), master.Config{URL: u})
		if err != nil {
			t.Errorf("%s: %v", u, err)
		}
	}
	_, err := master.Fetch(t.Context(), master.Config{}, nil)
	wantError(t, err, "needs a key")
}

// TestFetchWebNetworkErrors checks that network errors contain neither the URL,
// which they usually quote, nor a key that another package has put into an error.
func TestFetchWebNetworkErrors(t *testing.T) {
	quoting := func(r *http.Request) error {
		return &url.Error{Op: "Get", URL: r.URL.String(), Err: &url.Error{Op: "parse", URL: r.URL.String(),
			Err: fmt.Errorf("went wrong at %s", r.URL.Query().Get("key"))}}
	}
	_, err := master.Fetch(t.Context(), master.Config{Key: testKey(t), Retries: -1, Transport: failing(quoting)},
		func(*master.Server) error { return nil })
	wantError(t, err, "went wrong at [key]")
	wantNoKey(t, err)

	// A closed port, over the real network.
	_, err = master.Fetch(t.Context(), master.Config{URL: "http://127.0.0.1:1/", Key: testKey(t), Retries: -1},
		func(*master.Server) error { return nil })
	wantError(t, err, "refused")
	wantNoKey(t, err)
}

type failing func(*http.Request) error

func (f failing) RoundTrip(r *http.Request) (*http.Response, error) { return nil, f(r) }

func TestKey(t *testing.T) {
	k := testKey(t)
	wantNoKey(t, k, &k, struct{ Key master.Key }{k}, map[master.Key]int{k: 1}, []master.Key{k})
	if fmt.Sprint(k) != "[key]" {
		t.Error(k)
	}
	for _, bad := range []string{"", " \n", secret + " " + secret, secret + "\n" + secret, "a&key=b", strings.Repeat("a", 300), "ключ"} {
		k, err := master.ParseKey([]byte(bad))
		if err == nil || k != (master.Key{}) {
			t.Errorf("%q was taken", bad)
			continue
		}
		wantNoKey(t, err)
	}
}

// TestFetchWebPace checks that requests are sent 1.5 s apart, as the default limits require.
func TestFetchWebPace(t *testing.T) {
	m := simulated(t, fleet.MasterConfig{Cap: 200})
	_, s, took, err := fetchWeb(t, m, master.Config{Region: master.World, Cap: 200})
	if want := time.Duration(s.Requests-1) * 1500 * time.Millisecond; err != nil || took != want || s.Requests < 6 {
		t.Errorf("%v: %d requests in %v, want %v", err, s.Requests, took, want)
	}
}
