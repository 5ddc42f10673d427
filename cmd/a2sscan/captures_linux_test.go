package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/bench/captures"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/record"
)

// TestCapturesDecoded decodes every recorded server with the decode command. It
// compares game and flags of the record with the golden files of package game.
func TestCapturesDecoded(t *testing.T) {
	known, out := 0, filepath.Join(t.TempDir(), "records.ndjson")
	for _, file := range captures.Files(t) {
		var stdout, stderr bytes.Buffer
		if code := run([]string{"decode", file, "-o", out, "--force"}, strings.NewReader(""), &stdout, &stderr); code != 0 {
			t.Errorf("%s: %d %s", file, code, stderr.String())
			continue
		}
		line, err := os.ReadFile(out)
		check(t, err)
		line, _, _ = bytes.Cut(line, []byte("\n"))
		_, r, err := record.Read(line)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		name := captures.Name(file)
		if want := map[string]game.Flags{"gameq_l4d_1": game.FlagCountMismatch}[name]; r.Flags != want {
			t.Errorf("%s: flags %b, want %b", name, r.Flags, want)
		}
		golden, err := os.ReadFile(filepath.Join("..", "..", "scanner", "game", "testdata", name+".golden"))
		if err == nil {
			known++
			compareGame(t, name, r.Game, string(golden))
		} else if r.Game != nil {
			t.Errorf("%s: game %s, and no golden file", name, r.Game.ID)
		}
	}
	if known < 90 {
		t.Errorf("%d golden files, want all", known)
	}
}

// TestCapturesNoFarms: if each recorded server gets an address of its own, no server
// counts as part of a farm. The recordings include servers of one owner, and servers
// that were recorded many times.
func TestCapturesNoFarms(t *testing.T) {
	files, dir := captures.Files(t), t.TempDir()
	records, placed := filepath.Join(dir, "records.ndjson"), filepath.Join(dir, "placed.ndjson")
	ran(t, append([]string{"decode", "-o", records}, files...)...)
	text, err := os.ReadFile(records)
	check(t, err)
	var lines []byte
	n := 0
	for line := range bytes.Lines(text) {
		rest, ok := bytes.CutPrefix(line, []byte(`{"schema":1,`))
		if !ok || bytes.HasPrefix(rest, []byte(`"ip":`)) {
			t.Fatalf("%.100s", line)
		}
		lines = fmt.Appendf(lines, `{"schema":1,"ip":"203.0.%d.%d","port":27015,%s`, 100+n/256, n%256, rest)
		n++
	}
	check(t, os.WriteFile(placed, lines, 0o666))
	var stats census.Stats
	check(t, json.Unmarshal(ran(t, "stats", placed), &stats))
	t.Logf("%d captures, %d servers, %d farms", len(files), stats.All.Servers, stats.Farms.Found)
	if stats.All.Servers < uint64(len(files)) || stats.Farms.Found != 0 {
		t.Errorf("%d servers of %d captures; farms: %+v", stats.All.Servers, len(files), stats.Farms.Top)
	}
}

// compareGame fails the test if a game lacks a line of a golden file: a value, an
// attribute or a mod, each with its source.
func compareGame(t *testing.T, name string, g *game.Game, golden string) {
	t.Helper()
	var want []string
	for line := range strings.Lines(golden) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "attribute ") { // a record does not tell which keyword it was
			line = regexp.MustCompile(`< keywords\..*$`).ReplaceAllString(line, "< keywords")
		}
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "id ") && !strings.Contains(line, "\\x") {
			want = append(want, line)
		}
	}
	if g == nil {
		if len(want) > 0 {
			t.Errorf("%s: no game, want %q", name, want)
		}
		return
	}
	got := gameLines(g)
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("%s: %q is not in %q", name, line, got)
		}
	}
	if len(got) < len(want) {
		t.Errorf("%s: %d values, want %d", name, len(got), len(want))
	}
}

// gameLines formats a game as the golden files do.
func gameLines(g *game.Game) (lines []string) {
	values := map[game.Key]any{
		game.KeyPlayers: g.Players, game.KeyMaxPlayers: g.MaxPlayers, game.KeyQueue: g.Queue, game.KeyBots: g.Bots,
		game.KeyVersion: g.Version, game.KeyMap: g.Map, game.KeyMode: g.Mode, game.KeyRegion: g.Region, game.KeyPVP: g.PVP,
		game.KeyPassword: g.Password, game.KeyModded: g.Modded, game.KeyAnticheat: g.Anticheat, game.KeyStarted: g.Started,
		game.KeyTimeOfDay: g.TimeOfDay, game.KeyDay: g.Day, game.KeyMods: len(g.Mods), game.KeyDescription: g.Description,
	}
	for k, v := range values {
		if g.Has.Has(k) {
			lines = append(lines, fmt.Sprintf("%v %v < %s", k, asShown(v), g.Sources[k]))
		}
	}
	for _, m := range g.Mods {
		lines = append(lines, fmt.Sprintf("mod %s %q %s%s", m.ID, m.Name, m.Hash, map[bool]string{true: " creator"}[m.CreatorDLC]))
	}
	for _, a := range g.Attributes {
		lines = append(lines, fmt.Sprintf("attribute %s %v < %s", a.Name, asShown(a.Value), a.Source))
	}
	for i := range game.NoteWords {
		if g.Notes&(1<<i) != 0 {
			lines = append(lines, "note "+game.NoteWords[i])
		}
	}
	return lines
}

// asShown returns a string unchanged, or in quotes if some characters need escapes.
func asShown(v any) any {
	b, ok := v.([]byte)
	if !ok {
		return v
	}
	if q := fmt.Sprintf("%q", b); q != `"`+string(b)+`"` {
		return q
	}
	return string(b)
}

// ran runs the program and returns what it printed. It does so in another process,
// because commands tune the garbage collector for themselves.
func ran(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "a2sscan", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v %s", args, err, stderr.String())
	}
	return out
}
