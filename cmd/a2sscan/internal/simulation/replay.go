package simulation

import (
	"bytes"
	"errors"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/bench/fleet"
	fleetjudge "github.com/a2sscan/a2sscan/bench/fleet/judge"
	"github.com/a2sscan/a2sscan/bench/fleet/replay"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/census"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Recording is a census to replay.
type Recording struct {
	*replay.Recording
	sockets *fleet.Sockets // open sockets, if free ports had to be chosen; nil: not open yet
	file    string
	config  fleet.Config
	reasons map[string]int // number of records that can't be replayed, per reason
	skipped map[int]bool   // numbers of the records that can't be replayed
}

// Record reads the census and assigns an address to each of its servers.
func (r *Runner) Record(o *Options) (*Recording, error) {
	rec := &Recording{
		Recording: replay.NewRecording(), file: o.Replay,
		reasons: map[string]int{}, skipped: map[int]bool{},
	}
	var err error
	if rec.config, err = o.Config(); err != nil {
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
	census.ReportTail(r.Term, o.Replay, tail)
	r.reportSkipped(rec)
	if rec.Len() == 0 {
		return nil, console.Fail(console.ExitInput, "%s: no server that can be replayed", console.Plain(o.Replay, 200)).
			WithHint("name a file that scan wrote, best with --raw")
	}
	if o.TakesFreePorts() {
		if rec.sockets, err = fleet.Listen(rec.config.Ports); err != nil {
			return nil, Failure(err)
		}
		rec.config.Ports = rec.sockets.Ports()
	}
	if err := rec.Place(rec.config.Network, rec.config.Ports); err != nil {
		rec.sockets.Close()
		return nil, console.Fail(console.ExitUsage, "%w", err).
			WithHint("choose a larger --network, or more ports with --port")
	}
	return rec, nil
}

// each calls do with each line of the recorded census and the line's number. It
// returns the length of a partial record at the end.
func (rec *Recording) each(do func(n int, line []byte) error) (tail int64, err error) {
	return census.EachOf(rec.file, do)
}

// maxKeys is the maximum number of differing keys that are printed per record.
const maxKeys = 5

// maxReasons is the maximum number of reasons for skipping records that are
// printed.
const maxReasons = 5

func (r *Runner) reportSkipped(rec *Recording) {
	if len(rec.skipped) == 0 {
		return
	}
	r.Term.Say("%s: %d records can't be replayed", console.Plain(rec.file, 100), len(rec.skipped))
	reasons := slices.Sorted(maps.Keys(rec.reasons))
	for _, reason := range reasons[:min(len(reasons), maxReasons)] {
		r.Term.Say("%d: %s", rec.reasons[reason], console.Plain(reason, 200))
	}
}

// replay serves a recorded census. If the options ask for it, it instead compares
// another census with the recorded one, or writes the records that a perfect scan
// would write.
func (r *Runner) replay(o *Options) error {
	rec, err := r.Record(o)
	if err != nil {
		return err
	}
	if o.Compare != "" {
		return r.compareReplay(o, rec)
	}
	if err := r.WriteList(o.List, rec); err != nil {
		return err
	}
	if o.Truth {
		return r.replayTruth(o, rec)
	}
	servers, err := rec.Open()
	if err != nil {
		return Failure(err)
	}
	defer servers.Close()
	ctx, end := shutdown.Interruptible(true) // catch signals before the line that says ready
	defer end()
	r.reportReplay(o, rec)
	return r.serve(ctx, o, servers, nil)
}

// Open opens the sockets of the replay, or uses those that are already open.
func (rec *Recording) Open() (*fleet.Fleet, error) {
	if rec.sockets != nil {
		return replay.On(rec.sockets, rec.config, rec.Recording)
	}
	return replay.Open(rec.config, rec.Recording)
}

func (r *Runner) reportReplay(o *Options, rec *Recording) {
	s := &rec.Stats
	r.Term.Say("replaying %s with their own datagrams, %d with datagrams made from their records; %d silent, %d unreachable",
		console.Plural(s.Raw, "server"), s.Remade, s.Silent, s.Unreachable)
	if s.Moved > 0 {
		r.Term.Say("%d of them have another address: their own is taken, or its port is not one of --port", s.Moved)
	}
	r.Term.Say("ready: %d servers on %v, %s, %s", rec.Len(), rec.config.Network, portsText(rec.Ports()), o.until())
	list := "LIST"
	if o.List != "" && o.List != "-" {
		list = console.Plain(o.List, 200)
	} else {
		r.Term.Hint("--list LIST writes the targets to a file")
	}
	r.Term.Hint("scan them with: %s scan %s --allow-reserved", o.Program, list)
}

// maxPortsNamed is the maximum number of ports that a message lists. If there are
// more, it has only their number.
const maxPortsNamed = 8

// portsText formats ports for messages.
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

// WriteList writes the targets to a file, whose content it replaces, or to standard
// output if path is "-". It does nothing if path is empty.
func (r *Runner) WriteList(path string, rec *Recording) error {
	switch path {
	case "":
		return nil
	case "-":
		return rec.WriteList(r.Stdout)
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

// eachServed calls do for each replayed server, with its index and its line in the
// census. It returns an error if the census has changed.
func (rec *Recording) eachServed(do func(i int, line []byte) error) error {
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

func (rec *Recording) changed() error {
	return console.Fail(console.ExitInput, "%s: changed while it was read", console.Plain(rec.file, 200))
}

// eachTruth calls do for each replayed server, with its index, the name of its scan
// and the result that a perfect scan would have.
func (rec *Recording) eachTruth(do func(i int, scan string, r *scanner.Result) error) error {
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

// replayTruth writes the records that a perfect scan of the replay would write.
func (r *Runner) replayTruth(o *Options, rec *Recording) error {
	out, err := r.Plan(o.ScanID)
	if err != nil {
		return err
	}
	if err := out.Open(); err != nil {
		return output.Failure(err)
	}
	err = rec.eachTruth(func(_ int, scan string, want *scanner.Result) error {
		if o.ScanID != "" {
			scan = o.ScanID
		}
		out.WriteAs(scan, want)
		return nil
	})
	return errors.Join(err, out.Finish())
}

// compareReplay compares another census with the recorded one.
func (r *Runner) compareReplay(o *Options, rec *Recording) error {
	c := fleetjudge.NewComparison()
	err := rec.eachServed(func(i int, line []byte) error {
		at, _ := rec.At(i)
		return c.Want(at, line)
	})
	if err != nil {
		return err
	}
	bad := 0
	tail, err := census.EachOf(o.Compare, func(_ int, line []byte) error {
		if c.Got(line) != nil {
			bad++
		}
		return nil
	})
	if err != nil {
		return err
	}
	census.ReportTail(r.Term, o.Compare, tail)
	r.Term.Say("%d servers: %d as recorded, %d differ, %d missing, %d not recorded or twice, %d bad lines",
		c.Servers, c.Same, len(c.Differ)+c.MoreDiffer, c.Missing(), c.Others, bad)
	return r.endCompare(o, rec, c, bad)
}

// endCompare prints the differences of each record. If there are any differences or
// bad lines, it returns an error.
func (r *Runner) endCompare(o *Options, rec *Recording, c *fleetjudge.Comparison, bad int) error {
	if c.Good() && bad == 0 {
		return nil
	}
	got := map[netip.AddrPort][]byte{}
	_, err := census.EachOf(o.Compare, func(_ int, line []byte) error {
		if at, err := fleetjudge.AddrOf(line); err == nil && c.Differs(at) && got[at] == nil {
			got[at] = bytes.Clone(line)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = rec.eachTruth(func(i int, _ string, want *scanner.Result) error {
		if line := got[want.Addr]; line != nil {
			r.showDifferences(rec.Tag(i), record.Append(nil, "", want), line)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return console.Fail(console.ExitUsage, "not all servers are as recorded").
		WithHint("use the same --query, --retries and --timeout as the recorded scan; lost datagrams make a difference too")
}

// showDifferences prints the keys in which two records of a server differ, up to
// maxKeys of them.
func (r *Runner) showDifferences(server string, want, got []byte) {
	ds, err := record.Differences(want, got)
	if err != nil {
		return // a bad line, which compareReplay has counted
	}
	ds = slices.DeleteFunc(ds, func(d record.Difference) bool { return fleetjudge.LeftAside(d.Key) })
	for _, d := range ds[:min(len(ds), maxKeys)] {
		r.Term.Say("%s: %s was %s, is %s", console.Plain(server, 100), console.Plain(d.Key, 60),
			census.ValueText(d.One), census.ValueText(d.Other))
	}
}
