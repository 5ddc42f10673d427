package game

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/captures"
	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/wire"
)

// update rewrites the golden files. After using it, check each changed line by hand
// against the bytes of the capture.
var update = flag.Bool("update", false, "rewrite the golden files of the captures")

// captured holds the decoded replies of a recorded server.
type captured struct {
	info  wire.Info
	reply Reply
}

// readCapture decodes a capture.
func readCapture(t testing.TB, file string) *captured {
	t.Helper()
	c := new(captured)
	for _, msg := range messages(t, captures.Datagrams(t, file)) {
		switch wire.KindOf(msg) {
		case wire.KindInfo:
			c.takeInfo(msg)
		case wire.KindGoldSource:
			if c.reply.Info == nil {
				c.takeInfo(msg)
			}
		case wire.KindPlayers:
			var ps wire.Players
			_ = ps.Reset(msg, wire.ShipUnknown)
			c.reply.Players = ps.AppendAll(nil)
			c.reply.HasPlayers = true
			c.reply.PlayersCut = ps.Err() != nil
		case wire.KindRules:
			var rs wire.Rules
			_ = rs.Reset(msg)
			c.reply.Rules = rs.AppendAll(nil)
		}
	}
	return c
}

func (c *captured) takeInfo(msg []byte) {
	_ = c.info.Decode(msg) // the INFO of a relay is truncated (EC-137)
	c.reply.Info = &c.info
}

// messages returns the messages of a capture. It reassembles split messages.
func messages(t testing.TB, datagrams [][]byte) (all [][]byte) {
	table := reasm.New(0)
	var unpacker reasm.Unpacker
	for i, d := range datagrams {
		if !wire.IsSplit(d) {
			all = append(all, d)
			continue
		}
		msg, outcome, err := table.Add(time.Duration(i), 1, d, nil)
		if err == nil && outcome == reasm.Packed {
			msg, err = unpacker.Unpack(nil, msg)
			outcome = reasm.Whole
		}
		if err != nil {
			t.Fatal(err)
		}
		if outcome == reasm.Whole {
			all = append(all, bytes.Clone(msg))
		}
	}
	return all
}

// TestCaptures decodes the replies of real servers and compares the results with
// the golden files. It skips games without a table.
func TestCaptures(t *testing.T) {
	var g Game
	known := 0
	for _, file := range captures.Files(t) {
		c := readCapture(t, file)
		Decode(&g, c.reply)
		if g.ID == "" {
			continue
		}
		known++
		t.Run(captures.Name(file), func(t *testing.T) {
			compareGolden(t, captures.Name(file), golden(c, &g))
		})
	}
	t.Logf("%d captures of games that have a table", known)
}

// suspicious holds the flag of each capture that deserves one. gameq_l4d_1 lists
// 170 players, but its INFO says 8 (EC-83).
var suspicious = map[string]string{"gameq_l4d_1": "count_mismatch"}

// TestCapturesAreInnocent checks that no capture gets a flag, except those in
// suspicious. It includes games without a table.
func TestCapturesAreInnocent(t *testing.T) {
	var g Game
	seen := 0
	for _, file := range captures.Files(t) {
		c := readCapture(t, file)
		Decode(&g, c.reply)
		name := captures.Name(file)
		if got := strings.Join(Suspect(c.reply, &g, Facts{}).Words(), " "); got != suspicious[name] {
			t.Errorf("%s: flags %q, want %q", name, got, suspicious[name])
		}
		seen++
	}
	t.Logf("%d captures", seen)
}

// golden returns the expected contents of a golden file.
func golden(c *captured, g *Game) string {
	var b strings.Builder
	in := &c.info
	app, _ := in.AppID()
	fmt.Fprintf(&b, "# %s: application %d, folder %s; INFO: %d players of %d, %d bots, version %q, map %q\n",
		g.Name, app, in.Folder, in.Players, in.MaxPlayers, in.Bots, in.Version, in.Map)
	if in.Has&wire.HasKeywords != 0 {
		fmt.Fprintf(&b, "# keywords %q\n", in.Keywords)
	}
	if c.reply.HasPlayers {
		fmt.Fprintf(&b, "# %d players listed\n", len(c.reply.Players))
	}
	if c.reply.Rules != nil {
		fmt.Fprintf(&b, "# %d rules\n", len(c.reply.Rules))
	}
	fmt.Fprintf(&b, "id %s\n%s", g.ID, dump(g))
	goldenOffsets(&b, c, g)
	return b.String()
}

// goldenOffsets adds a line with the offset of each mod's name in the joined binary
// pages, if there are any.
func goldenOffsets(b *strings.Builder, c *captured, g *Game) {
	d := decoder{g: new(Game), in: c.reply}
	if _, ok := d.openPages(2, 3); !ok || len(g.Mods) == 0 {
		return
	}
	plain := d.buf
	fmt.Fprintf(b, "# names of the mods in %d bytes of pages, at", len(plain))
	for _, m := range g.Mods {
		fmt.Fprintf(b, " %#x", bytes.Index(plain, append([]byte{byte(len(m.Name))}, m.Name...))+1)
	}
	b.WriteString("\n")
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	diffLines(t, name, got, string(want))
}
