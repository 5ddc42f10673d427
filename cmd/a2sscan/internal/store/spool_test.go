package store_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store/storetest"
)

const (
	part1 = "c-20261122T030000Z-00001.ndjson.zst"
	part2 = "c-20261122T030000Z-00002.ndjson.zst"
)

// spooled starts a spool whose folder holds files.
func spooled(t *testing.T, c *store.Client, o store.SpoolOptions, files map[string]string) *store.Spool {
	t.Helper()
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "spool")
	}
	o.To = at("n/c.ndjson.zst")
	s, err := store.NewSpool(c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(false) })
	put(t, o.Dir, files)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// put writes finished files into a folder.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// names returns the names of the visible files in a folder.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			all = append(all, e.Name())
		}
	}
	return all
}

// until waits until the spool's state satisfies reached.
func until(t *testing.T, s *store.Spool, reached func(store.State) bool) {
	t.Helper()
	for !reached(s.State()) {
		if t.Context().Err() != nil {
			t.Fatal("it never comes")
		}
		time.Sleep(time.Millisecond)
	}
}

// TestSpool: finished parts, and summaries of earlier scans, are uploaded and
// removed; other files stay.
func TestSpool(t *testing.T) {
	s, c := open(t)
	dir := filepath.Join(t.TempDir(), "spool")
	u := spooled(t, c, store.SpoolOptions{Dir: dir}, map[string]string{
		part1: "one", part2 + ".part": "open", "c.key": "secret", "d-20261122T030000Z-00001.ndjson.zst": "of another census",
		"c-20261121T030000Z.summary.json": "of the night before",
	})
	if err := u.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"n/" + part1: "one", "n/c-20261121T030000Z.summary.json": "of the night before"}
	got := map[string]string{}
	for key, content := range s.Objects() {
		got[key] = string(content)
	}
	if !maps.Equal(got, want) {
		t.Errorf("the store has %q", got)
	}
	u.Stop()
	if got, want := names(t, dir), []string{part2 + ".part", "c.key", "d-20261122T030000Z-00001.ndjson.zst"}; !slices.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
}

// TestSpoolHolds: with Hold, an uploaded part stays in the folder until Release. A
// part that arrived in an earlier run is not uploaded again.
func TestSpoolHolds(t *testing.T) {
	s, c := open(t)
	dir := filepath.Join(t.TempDir(), "spool")
	u := spooled(t, c, store.SpoolOptions{Dir: dir, Hold: true, Arrived: []store.Arrived{{Name: part1}}}, map[string]string{part1: "one", part2: "two"})
	if err := u.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.Puts("n/"+part1) != 0 || s.Puts("n/"+part2) != 1 {
		t.Errorf("uploaded %d and %d times", s.Puts("n/"+part1), s.Puts("n/"+part2))
	}
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("the folder has %q", got)
	}
	u.Release(u.Files())
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("after Release the folder has %q", got)
	}
	u.Close(true)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the empty folder is left: %v", err)
	}
}

// TestSpoolOutage: while a store fails, the spool repeats the upload, and State
// returns what is waiting.
func TestSpoolOutage(t *testing.T) {
	s, c := open(t)
	s.Fail(storetest.Refuse(http.StatusServiceUnavailable, "SlowDown"))
	u := spooled(t, c, store.SpoolOptions{}, map[string]string{part1: "one", part2: "two"})
	until(t, u, func(now store.State) bool { return now.Err != nil })
	if now := u.State(); now.Waiting != 2 || now.Bytes != 6 || now.Arrived != 0 || !strings.Contains(now.Err.Error(), "busy: SlowDown") {
		t.Errorf("%+v", now)
	}
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if err := u.Flush(short); err == nil {
		t.Error("flushed to a store that fails")
	}
	s.Fail(nil)
	if err := u.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	if now := u.State(); now != (store.State{Arrived: 2}) {
		t.Errorf("%+v", now)
	}
}

// TestSpoolGivesUp: if the store denies access, or has another object of the same
// name, Flush returns the error instead of waiting.
func TestSpoolGivesUp(t *testing.T) {
	s, c := open(t)
	s.Fail(storetest.Refuse(http.StatusForbidden, "AccessDenied"))
	u := spooled(t, c, store.SpoolOptions{}, map[string]string{part1: "one"})
	if err := u.Flush(t.Context()); err == nil || !strings.Contains(err.Error(), "refuses access") {
		t.Errorf("%v", err)
	}
	s.Fail(nil)
	s.Write("n/"+part2, []byte("of another shard"))
	u = spooled(t, c, store.SpoolOptions{}, map[string]string{part2: "two"})
	if err := u.Flush(t.Context()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
}

// TestSpoolLocked: two spools can't share a folder.
func TestSpoolLocked(t *testing.T) {
	_, c := open(t)
	dir := t.TempDir()
	first, err := store.NewSpool(c, store.SpoolOptions{Dir: dir, To: at("c.ndjson")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.NewSpool(c, store.SpoolOptions{Dir: dir, To: at("c.ndjson")}); err == nil || !strings.Contains(err.Error(), "by another process") {
		t.Errorf("%v", err)
	}
	first.Close(false)
}
