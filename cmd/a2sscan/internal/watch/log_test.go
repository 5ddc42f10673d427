package watch

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
)

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
			check(t, l.Write([]watchdb.Event{{ID: id}}))
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
	for _, part := range parts {
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

// Standard output gets lines of JSON, or lines for people.
func TestStandardOutput(t *testing.T) {
	for text, want := range map[bool]string{false: `{"id":7,"time":"2026-11-20T12:00:00Z","event":"seeing"}` + "\n", true: "  seeing     was blind for 0 s\n"} {
		var b strings.Builder
		l, err := OpenLog("-", &b, text, sink.Rotation{})
		check(t, err)
		err = l.Write([]watchdb.Event{{ID: 7, Time: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), Kind: "seeing"}})
		if got := b.String(); err != nil || !strings.HasSuffix(got, want) || l.last.Load() != 7 {
			t.Errorf("%q, want %q; %v, last %d", got, want, err, l.last.Load())
		}
	}
}

// What an event says beside its kind stands in one line, and what is unknown leaves no gap.
func TestText(t *testing.T) {
	e := watchdb.Event{Kind: "restarted", Addr: "127.0.0.1:1", Name: "a", Evidence: &watchdb.Evidence{Signs: []string{"x", "y"}}, LeftOut: 2}
	for _, c := range [][2]string{{Text(&e)[10:], "restarted  127.0.0.1:1            a  x; y  (2 more left out)"}, {Details(&e), "x; y  (2 more left out)"}} {
		if c[0] != c[1] {
			t.Errorf("%q, want %q", c[0], c[1])
		}
	}
	e.Evidence, e.LeftOut = nil, 0
	if got := Text(&e)[10:]; got != "restarted  127.0.0.1:1            a" {
		t.Errorf("%q", got)
	}
}

// TestLogFull: events that can't be written have the exit code of results that can't be.
func TestLogFull(t *testing.T) {
	db, err := watchdb.Open("")
	check(t, err)
	defer db.Close()
	check(t, db.Flush([]watchdb.Event{{ID: 1, Kind: "seeing"}}, nil))
	closed, pipe := io.Pipe()
	closed.Close()
	l, err := OpenLog("-", pipe, false, sink.Rotation{})
	check(t, err)
	if err := (&Watch{Options: &Options{DB: db, Log: l}}).publish(t.Context(), nil); console.ExitCode(err) != console.ExitOutput {
		t.Errorf("%v has the exit code %d", err, console.ExitCode(err))
	}
}

// TestDropped: without a state, events that nobody takes are kept in memory up to a limit; the
// others are counted, and the output goes on with the first one that is kept.
func TestDropped(t *testing.T) {
	db, err := watchdb.Open("")
	check(t, err)
	defer db.Close()
	reader, pipe := io.Pipe()
	l, err := OpenLog("-", pipe, false, sink.Rotation{})
	check(t, err)
	var said bytes.Buffer
	r := &Watch{Options: &Options{DB: db, Log: l, Terminal: console.New(&said)}, watcher: New(usual(), time.Now())}
	add := func(n int) {
		r.watcher.events = make([]watchdb.Event, n)
		check(t, r.flush(t.Context(), false))
	}
	add(1)
	stored, ended := make(chan struct{}), make(chan error)
	go func() { ended <- r.publish(t.Context(), stored) }()
	for l.began.Load() == nil { // the first event is stuck in the pipe
		runtime.Gosched()
	}
	add(watchdb.MaxInMemory + 3)
	if got := r.waiting(); got != watchdb.MaxInMemory+4 {
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
	if err != nil || lines != watchdb.MaxInMemory+1 || !strings.HasPrefix(second, `{"id":5,`) {
		t.Errorf("%d lines, the second is %.20s: %v", lines, second, err)
	}
	if got := said.String(); got != "a2sscan: 3 events dropped, because nobody took them\n" || r.dropped.Load() != 3 || r.waiting() != 0 {
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

// TestLatest: changes that wait for a busy database are one for each server, with its last answer.
func TestLatest(t *testing.T) {
	got := latest([]watchdb.Server{{ID: 1, Answer: []byte("a")}, {ID: 2, Since: 1}, {ID: 1, Since: 3}, {ID: 2, Since: 4, Answer: []byte("b")}})
	if len(got) != 2 || got[0].Since != 3 || string(got[0].Answer) != "a" || got[1].Since != 4 || string(got[1].Answer) != "b" {
		t.Errorf("%+v", got)
	}
}
