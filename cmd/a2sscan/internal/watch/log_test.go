package watch

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
	"github.com/a2sscan/a2sscan/sink"
)

// A file of events is continued after its last complete event, also in a part.
func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events[1].ndjson")
	if err := os.WriteFile(path, []byte(`{"id":1}`+"\n"+`{"id":2}`+"\n"+`{"id":3,"na`), 0o666); err != nil {
		t.Fatal(err)
	}
	write := func(rotate sink.Rotation, last int64, ids ...int64) {
		t.Helper()
		l, err := OpenLog(path, nil, false, rotate)
		if err != nil {
			t.Fatal(err)
		}
		if l.last.Load() != last {
			t.Errorf("the last event is %d, want %d", l.last.Load(), last)
		}
		for _, id := range ids {
			if err := l.Write([]watchdb.Event{{ID: id}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.file.Close(); err != nil {
			t.Fatal(err)
		}
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
		if err != nil {
			t.Fatal(err)
		}
		whole += strings.ReplaceAll(string(b), `,"time":"0001-01-01T00:00:00Z","event":""`, "")
	}
	if want := "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n{\"id\":4}\n{\"id\":5}\n{\"id\":6}\n{\"id\":7}\n"; whole != want {
		t.Errorf("%q", whole)
	}
	foreign := filepath.Join(t.TempDir(), "census.ndjson")
	if err := os.WriteFile(foreign, []byte("{\"schema\":1,\"addr\":\"127.0.0.1:1\"}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLog(foreign, nil, false, sink.Rotation{}); err == nil {
		t.Error("a census was taken for a file of events")
	}
}

// Standard output gets lines of JSON, or lines for people.
func TestStandardOutput(t *testing.T) {
	for text, want := range map[bool]string{false: `{"id":7,"time":"2026-11-20T12:00:00Z","event":"seeing"}` + "\n", true: "  seeing     was blind for 0 s\n"} {
		var b strings.Builder
		l, err := OpenLog("-", &b, text, sink.Rotation{})
		if err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Flush([]watchdb.Event{{ID: 1, Kind: "seeing"}}, nil); err != nil {
		t.Fatal(err)
	}
	closed, pipe := io.Pipe()
	closed.Close()
	l, err := OpenLog("-", pipe, false, sink.Rotation{})
	if err != nil {
		t.Fatal(err)
	}
	if err := (&Watch{Options: &Options{DB: db, Log: l}}).publish(t.Context(), nil); console.ExitCode(err) != console.ExitOutput {
		t.Errorf("%v has the exit code %d", err, console.ExitCode(err))
	}
}
