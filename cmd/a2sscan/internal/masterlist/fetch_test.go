package masterlist

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// TestValvesMaster (EC-158): the error for Valve's master server, which does not answer any
// more, says so and names the Web API. Other masters get other advice.
func TestValvesMaster(t *testing.T) {
	silent := fmt.Errorf("master x: %w: asked 4 times", master.ErrNoReply)
	o := Options{UDP: "hl2master.steampowered.com:27011"}
	err := o.failure(t.Context(), &master.Stats{Requests: 4}, silent)
	f, ok := err.(*console.Failure)
	if !ok || f.Code != console.ExitInput || !strings.Contains(err.Error(), "since October 2025") || !strings.Contains(f.Hint, "Web API") {
		t.Errorf("EC-158: %v (%+v)", err, f)
	}
	o.UDP = "192.0.2.1:27011"
	if err := o.failure(t.Context(), &master.Stats{Requests: 4}, silent); strings.Contains(err.Error(), "October") {
		t.Error(err)
	}
}

// TestInterruptedAtEnd: a signal that arrives just as the list ends is not lost. Otherwise
// the scan would begin without the list.
func TestInterruptedAtEnd(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"response":{"servers":[{"addr":"203.0.113.1:27015"}]}}`)
	}))
	defer web.Close()
	t.Setenv(KeyVariable, strings.Repeat("0", 32))
	ctx, cancel := context.WithCancel(t.Context())
	term := console.New(io.Discard)
	term.Log = slog.New(ender{slog.DiscardHandler, cancel})
	source, stats, err := (&Options{URL: web.URL, Region: master.World}).Load(ctx, term, true)
	f, ok := err.(*console.Failure)
	if source != nil || stats.Servers != 1 || !ok || f.Code != console.ExitInterrupted {
		t.Errorf("%v, %+v, %v", source, stats, err)
	}
}

// An ender calls do when the log says that the list has ended.
type ender struct {
	slog.Handler
	do func()
}

func (e ender) Enabled(context.Context, slog.Level) bool { return true }

func (e ender) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "list fetched" {
		e.do()
	}
	return nil
}

// TestFormats checks that what a row of a list means does not depend on other rows, nor on
// how much of the list has arrived when reading begins.
func TestFormats(t *testing.T) {
	rows := []string{
		`{"addr":"1.0.0.1:5","gameport":5}`, `{"addr":"1.0.0.2:5","gameport":5,"query_port":6}`, `{"gameport":5,"addr":"1.0.0.3:5","queryport":6}`,
		`{"addr":"1.0.0.4:5","x":"` + strings.Repeat("x", 5000) + `","steam_query_port":6}`,
	}
	const want = "1.0.0.1:5 1.0.0.2:6 1.0.0.3:6 1.0.0.4:6 "
	for name, text := range map[string]string{
		"lines": strings.Join(rows, "\n"), "array": "[" + strings.Join(rows, ",\n") + "]", "other lines": strings.Join(append(rows[3:], rows[:3]...), "\n"),
	} {
		for _, in := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			l, err := list.Open(list.Config{Stdin: in, Formats: Formats()})
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for target := range l.From(0) {
				all = append(all, target.Addr.String()+" ")
			}
			slices.Sort(all)
			if got := strings.Join(all, ""); got != want || l.Err() != nil {
				t.Errorf("%s: %s, %v", name, got, l.Err())
			}
		}
	}
}

// TestConditions: the flags for conditions come before those of --filter.
func TestConditions(t *testing.T) {
	o := Options{App: 440, NotEmpty: true}
	for _, text := range []string{`\map\a`, `\nor\1\linux\1`} {
		if err := o.Filter.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := o.Conditions().String(), `\appid\440\empty\1\map\a\nor\1\linux\1`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestOutputTaken: a file that another program creates while a list is fetched stays as it
// is, unless the list may replace it.
func TestOutputTaken(t *testing.T) {
	for _, force := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "servers.txt")
		o, err := NewWriter(path, force, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Add(&master.Server{Addr: netip.MustParseAddrPort("203.0.113.7:27015")}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("mine"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := o.Close(true); (err == nil) != force {
			t.Errorf("force %v: %v", force, err)
		}
		want := map[bool]string{false: "mine", true: "203.0.113.7:27015\n"}[force]
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Errorf("force %v: the file has %q, want %q", force, got, want)
		}
	}
}

// TestProgress: the status line fits into 80 columns, and the remaining wait is
// rounded up, so that it is never shown as 0 s.
func TestProgress(t *testing.T) {
	p := &status{start: time.Now()}
	p.start = p.start.Add(-75 * time.Second)
	for why, want := range map[string]string{
		"the master's rate limit":      "; the master's rate limit, 1 s",
		"the master asked for a pause": "; the master asked for a pause, 1 s",
	} {
		now := master.Stats{Wait: 400 * time.Millisecond, Why: why}
		now.Servers, now.Replies, now.Bytes = 12_345, 54, 75_000
		p.last, p.until = now, time.Now().Add(now.Wait)
		if got := p.line(); !strings.HasSuffix(got, want) || len(got) >= 80 {
			t.Errorf("%d columns: %s", len(got), got)
		}
	}
}
