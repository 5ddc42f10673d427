package main

import (
	"bytes"
	"errors"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/bench/fleet"
	fleetjudge "github.com/a2sscan/a2sscan/bench/fleet/judge"
	"github.com/a2sscan/a2sscan/bench/fleet/replay"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/record"
)

// replayFlags are the flags of fleet that are about a recorded census.
type replayFlags struct {
	replay  string
	list    string
	compare string
}

func (f *replayFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.replay, "replay", "",
		"serve the servers of the census `FILE` instead: the datagrams that scan --raw kept, or such as say the same")
	fs.StringVar(&f.list, "list", "",
		"with --replay: write the targets to `FILE`, each with the address it was recorded at; -: standard output")
	fs.StringVar(&f.compare, "compare", "",
		"with --replay: hold the census `FILE`, of a scan of the replay, against the recorded one; serve nothing")
}

// noReplay are the flags that choose simulated servers.
var noReplay = []string{"alive", "hostile", "kinds", "hostile-kinds", "master", "web"}

// checkReplay refuses what makes no sense together, and sets what is else by
// default.
func (f *fleetFlags) checkReplay(cmd *cobra.Command) error {
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	if f.replay == "" {
		if given("list") || given("compare") {
			return console.Fail(console.ExitUsage, "--list and --compare need --replay").
				WithHint("a simulated fleet is a network, which scan takes as it is")
		}
		return nil
	}
	for _, name := range noReplay {
		if given(name) {
			return console.Fail(console.ExitUsage, "--replay and --%s exclude each other", name).
				WithHint("the servers are those of the census")
		}
	}
	switch {
	case f.replay == "-" && (f.truth || given("compare")):
		return console.Fail(console.ExitUsage, "--replay - with --truth or --compare: standard input can't be read twice").
			WithHint("name a file")
	case given("compare") && (f.truth || f.span != 0 || given("list")):
		return console.Fail(console.ExitUsage, "--compare goes with neither --truth nor --list nor --for").
			WithHint("--compare compares two files and ends")
	case given("compare") && f.takesFree():
		return console.Fail(console.ExitUsage, "--compare needs the number of each port").
			WithHint("a replay that takes a free port says which on its line")
	case f.truth && f.list == "-" && !f.toFile():
		return console.Fail(console.ExitUsage, "--truth and --list would both write to standard output").
			WithHint("name a file for one of them")
	}
	if !given("network") {
		f.network = "127.0.0.0/8"
	}
	if !given("port") {
		f.ports = ""
	}
	return nil
}

// recording is a census that is to be replayed.
type recording struct {
	*replay.Recording
	sockets *fleet.Sockets // they hold the free ports that were asked for; nil without
	file    string
	config  fleet.Config
	reasons map[string]int // why records are left out, and how many
	skipped map[int]bool   // which lines those are
}

// record reads the census that is to be replayed and gives its servers their
// places.
func (a *app) record(f *fleetFlags) (*recording, error) {
	rec := &recording{
		Recording: replay.NewRecording(), file: f.replay,
		reasons: map[string]int{}, skipped: map[int]bool{},
	}
	var err error
	if rec.config, err = f.config(); err != nil {
		return nil, err
	}
	tail, err := rec.each(func(n int, line []byte) error {
		if err := rec.Add(line); err != nil {
			rec.reasons[err.Error()]++
			rec.skipped[n] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	reportTail(a.Terminal, f.replay, tail)
	a.saySkipped(rec)
	if rec.Len() == 0 {
		return nil, console.Fail(console.ExitInput, "%s: no server that can be replayed", console.Plain(f.replay, 200)).
			WithHint("a file that scan wrote is wanted, best with --raw")
	}
	if f.takesFree() {
		if rec.sockets, err = fleet.Listen(rec.config.Ports); err != nil {
			return nil, fleetFailure(err)
		}
		rec.config.Ports = rec.sockets.Ports()
	}
	if err := rec.Place(rec.config.Network, rec.config.Ports); err != nil {
		rec.sockets.Close()
		return nil, console.Fail(console.ExitUsage, "%w", err).
			WithHint("a larger --network, or more ports with --port")
	}
	return rec, nil
}

// each calls do with every line of the recorded census and its number.
func (rec *recording) each(do func(n int, line []byte) error) (tail int64, err error) {
	return eachRecordOf(rec.file, do)
}

// maxReasons bounds how many reasons for leaving records out are said.
const maxReasons = 5

func (a *app) saySkipped(rec *recording) {
	if len(rec.skipped) == 0 {
		return
	}
	a.Say("%s: %d records can't be replayed", console.Plain(rec.file, 100), len(rec.skipped))
	reasons := slices.Sorted(maps.Keys(rec.reasons))
	for _, reason := range reasons[:min(len(reasons), maxReasons)] {
		a.Say("%d: %s", rec.reasons[reason], console.Plain(reason, 200))
	}
}

// replay serves a recorded census, or says what a scan of it is to find, or
// whether one found it.
func (a *app) replay(f *fleetFlags) error {
	rec, err := a.record(f)
	if err != nil {
		return err
	}
	if f.compare != "" {
		return a.compareReplay(f, rec)
	}
	if err := a.writeList(f.list, rec); err != nil {
		return err
	}
	if f.truth {
		return a.replayTruth(f, rec)
	}
	fl, err := rec.serve()
	if err != nil {
		return fleetFailure(err)
	}
	defer fl.Close()
	a.sayReplay(f, rec)
	ctx, end := shutdown.Interruptible(true)
	defer end()
	return a.serve(ctx, f, fl, nil)
}

// serve opens the sockets of the replay, unless they are open.
func (rec *recording) serve() (*fleet.Fleet, error) {
	if rec.sockets != nil {
		return replay.On(rec.sockets, rec.config, rec.Recording)
	}
	return replay.Open(rec.config, rec.Recording)
}

func (a *app) sayReplay(f *fleetFlags, rec *recording) {
	s := &rec.Stats
	a.Say("replaying %s with their own datagrams, %d with datagrams made of their records; %d silent, %d unreachable",
		console.Plural(s.Raw, "server"), s.Remade, s.Silent, s.Unreachable)
	if s.Moved > 0 {
		a.Say("%d of them are at another place: that of their own is taken, or its port is none of --port", s.Moved)
	}
	until := "until it is interrupted"
	if f.span > 0 {
		until = "for " + f.span.String()
	}
	a.Say("ready: %d servers on %v, %s, %s", rec.Len(), rec.config.Network, portsText(rec.Ports()), until)
	list := "LIST"
	if f.list != "" && f.list != "-" {
		list = console.Plain(f.list, 200)
	} else {
		a.Hint("--list LIST writes the targets to a file")
	}
	a.Hint("scan them with: %s scan %s --allow-reserved", self(), list)
}

// maxPortsNamed is how many ports a line names; of more it says how many.
const maxPortsNamed = 8

// portsText names ports for a person.
func portsText(ports []uint16) string {
	if len(ports) > maxPortsNamed {
		return console.Plural(len(ports), "port")
	}
	words := make([]string, len(ports))
	for i, port := range ports {
		words[i] = strconv.Itoa(int(port))
	}
	noun := "ports "
	if len(ports) == 1 {
		noun = "port "
	}
	return noun + strings.Join(words, ",")
}

// writeList writes the targets to a file, which is replaced.
func (a *app) writeList(path string, rec *recording) error {
	switch path {
	case "":
		return nil
	case "-":
		return rec.WriteList(a.out)
	}
	file, err := os.Create(path)
	if err == nil {
		err = errors.Join(rec.WriteList(file), file.Close())
	}
	if err != nil {
		return console.Fail(console.ExitOutput, "--list: %w", err)
	}
	return nil
}

// eachServed calls do with the recorded record of each server that is replayed,
// and with its index.
func (rec *recording) eachServed(do func(i int, line []byte) error) error {
	i := -1
	_, err := rec.each(func(n int, line []byte) error {
		if rec.skipped[n] {
			return nil
		}
		if i++; i == rec.Len() {
			return rec.changed()
		}
		return do(i, line)
	})
	return err
}

func (rec *recording) changed() error {
	return console.Fail(console.ExitInput, "%s: was changed while it was read", console.Plain(rec.file, 200))
}

// eachTruth calls do with the record that a scan of each replayed server is to
// make, and with its index.
func (rec *recording) eachTruth(do func(i int, scan string, r *scanner.Result) error) error {
	return rec.eachServed(func(i int, line []byte) error {
		scan, r, err := record.Read(line)
		if err != nil && !errors.Is(err, record.ErrNoRaw) {
			return rec.changed()
		}
		r.Addr, _ = rec.At(i)
		r.Tag = rec.Tag(i)
		return do(i, scan, r)
	})
}

// replayTruth writes the records of a perfect scan of the replay.
func (a *app) replayTruth(f *fleetFlags, rec *recording) error {
	out, err := f.plan(f.scanID)
	if err != nil {
		return err
	}
	if err := out.Open(); err != nil {
		return output.Failure(err)
	}
	err = rec.eachTruth(func(_ int, scan string, r *scanner.Result) error {
		if f.scanID != "" {
			scan = f.scanID
		}
		out.WriteAs(scan, r)
		return nil
	})
	return errors.Join(err, out.Close())
}

// compareReplay holds a census against the recorded one.
func (a *app) compareReplay(f *fleetFlags, rec *recording) error {
	c := fleetjudge.NewComparison()
	err := rec.eachServed(func(i int, line []byte) error {
		at, _ := rec.At(i)
		return c.Want(at, line)
	})
	if err != nil {
		return err
	}
	bad := 0
	tail, err := eachRecordOf(f.compare, func(_ int, line []byte) error {
		if c.Got(line) != nil {
			bad++
		}
		return nil
	})
	if err != nil {
		return err
	}
	reportTail(a.Terminal, f.compare, tail)
	a.Say("%d servers: %d as they were, %d differ, %d missing, %d not recorded or twice, %d lines that are no record",
		c.Servers, c.Same, len(c.Differ)+c.MoreDiffer, c.Missing(), c.Others, bad)
	return a.endCompare(f, rec, c, bad)
}

// endCompare shows some of what differs, and ends with exit code 1 if anything
// does.
func (a *app) endCompare(f *fleetFlags, rec *recording, c *fleetjudge.Comparison, bad int) error {
	if c.Good() && bad == 0 {
		return nil
	}
	got := map[netip.AddrPort][]byte{}
	_, err := eachRecordOf(f.compare, func(_ int, line []byte) error {
		if at, err := fleetjudge.AddrOf(line); err == nil && c.Differs(at) && got[at] == nil {
			got[at] = bytes.Clone(line)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = rec.eachTruth(func(i int, _ string, r *scanner.Result) error {
		if line := got[r.Addr]; line != nil {
			a.showDifferences(rec.Tag(i), record.Append(nil, "", r), line)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return console.Fail(console.ExitUsage, "not all servers are as they were").
		WithHint("the same --query, --retries and --timeout as the first time? was anything lost on the way?")
}

// showDifferences names the keys in which a server differs.
func (a *app) showDifferences(server string, want, got []byte) {
	ds, err := record.Differences(want, got)
	if err != nil {
		return // it is no record: counted
	}
	ds = slices.DeleteFunc(ds, func(d record.Difference) bool { return fleetjudge.LeftAside(d.Key) })
	for _, d := range ds[:min(len(ds), maxKeys)] {
		a.Say("%s: %s was %s, is %s", console.Plain(server, 100), console.Plain(d.Key, 60),
			valueText(d.One), valueText(d.Other))
	}
}
