package censusfile

import (
	"bytes"
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/record"
)

// MergeOptions selects the parts and the output of a merge.
type MergeOptions struct {
	Files   []string
	Output  string
	Force   bool   // replace an existing output
	Summary string // path of the summary; empty means beside the output
	Scan    string // name of the merged scan; empty means the name of the first part

	// Plan returns an empty plan. Merge calls it for each part, and decodes the plan of the
	// part into the result.
	Plan    func() Plan
	Command []string // the command line, for the summary
	Build   ledger.Build
}

// Plan is the plan of a scan. It must be a pointer, because Merge decodes JSON into it.
type Plan interface {
	// Merged returns the settings that Merge uses. Except for shard, each setting whose
	// tag "same" contains "shards" must be equal in all parts.
	Merged() (shard *string, maxTargets uint64, unanswered bool)
}

// Merge checks the parts and writes the merged census and its summary. If the parts do not
// make one census, Merge leaves no output, and the exit code of its error is
// console.ExitNumbers.
func Merge(t *console.Terminal, o MergeOptions) error {
	m := &merger{term: t, options: o}
	if err := m.check(); err != nil {
		return err
	}
	if err := m.write(); err != nil {
		return err
	}
	s, path := &m.sum, o.Summary
	if path == "" && IsFile(o.Output) {
		path = o.Output + ".summary.json" // beside the output
	}
	if path != "" {
		if err := s.WriteFile(path); err != nil {
			return console.Fail(console.ExitOutput, "summary: %w", err)
		}
	}
	t.Say("merged: %s with %s", console.Plural(uint64(len(m.parts)), "part"), console.Plural(s.Records, "record"))
	t.Say("targets: %s", s.Targets.Ledger())
	t.Say("found: %s", m.tally.Line(s.Targets.Finished))
	if o.Output != "-" {
		t.Say("written: %s", console.Plain(o.Output, 200))
	}
	return nil
}

type merger struct {
	term    *console.Terminal
	options MergeOptions
	parts   []*part

	sum      ledger.Summary
	tally    ledger.Tally
	attempts []uint64 // number of servers by the attempt that they answered first
	out      *sink.Output
}

// gap prints the problems of the parts. If there are any, it returns an error.
func (m *merger) gap(problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	m.term.ClearStatus()
	for i, p := range problems {
		if i == 20 {
			m.term.Say("and %s", console.Plural(uint64(len(problems)-i), "more problem"))
			break
		}
		m.term.Say("%s", console.Plain(p, 400))
	}
	return console.Fail(console.ExitNumbers, "the parts do not form one census").
		WithHint("each part is the census of one shard, with its summary beside it; scan missing or incomplete shards with the same command, then merge again")
}

// check makes one part of the files with the same summary. It compares the summaries of the
// parts with each other, and each part with its own summary.
func (m *merger) check() error {
	for _, f := range m.options.Files {
		beside := census.Beside(f, ".summary.json")
		at := slices.IndexFunc(m.parts, func(p *part) bool { return p.summary == beside })
		if at >= 0 {
			m.parts[at].files = append(m.parts[at].files, f)
			continue
		}
		m.parts = append(m.parts, &part{name: console.Plain(f, 200), files: []string{f}, summary: beside})
	}
	var gaps []string
	for _, p := range m.parts {
		gap, err := p.load(m.options.Plan())
		if err != nil {
			return err
		}
		if gap != "" {
			gaps = append(gaps, gap)
		}
	}
	if len(gaps) == 0 {
		gaps = differences(m.parts)
	}
	if len(gaps) == 0 { // the sums are right only with all shards
		m.sum.Counts, gaps = sumLedgers(m.parts)
	}
	if len(gaps) > 0 {
		return m.gap(gaps)
	}
	for _, p := range m.parts {
		s := &p.sum
		want := &census.Summary{Scan: s.Scan, Output: s.Output, Records: s.Records, Bytes: s.Bytes, Sum: s.Sum, Division: s.Parts}
		want.Targets.ByStatus = s.Targets.Statuses()
		_, problems, err := Check(p.files, []*census.Summary{want}, ReadProgress(m.term))
		if err != nil {
			return Failure(err)
		}
		gaps = append(gaps, problems...)
	}
	m.term.ClearStatus()
	return m.gap(gaps)
}

// write writes the records of all parts, and compares their number with the ledger.
func (m *merger) write() (err error) {
	m.describe()
	m.out, err = sink.Create(m.options.Output, sink.Options{Replace: m.options.Force, FlushEvery: -1})
	if err != nil {
		return WriteFailure(err)
	}
	for _, p := range m.parts {
		if err == nil {
			err = m.copy(p)
		}
	}
	if err == nil {
		m.tally.AtAsk = m.attempts
		m.sum.SetAnswers(&m.tally, len(m.attempts))
		_, _, unanswered := m.parts[0].plan.Merged()
		m.sum.CheckRecords(unanswered)
		if m.sum.SayWrong(m.term); !m.sum.Consistent {
			err = console.Fail(console.ExitNumbers, "the numbers of the merged census do not add up")
		}
	}
	if err != nil {
		m.out.Close()
		m.out.Discard()
		return err
	}
	if err := m.out.Close(); err != nil {
		m.out.Keep()
		return WriteFailure(err)
	}
	m.sum.Bytes, m.sum.Sum = m.out.File().Bytes, m.out.File().Sum
	return WriteFailure(m.out.Commit())
}

// copy writes the records of a shard under the name of the merged scan, and counts them.
// It checks that each IPv4 address belongs to the shard. This proves that no two shards
// have a record of the same IPv4 address.
func (m *merger) copy(p *part) error {
	var counting sync.Mutex // guards m.tally
	parser := func() func(*sink.Block) error {
		reader := record.NewReader()
		return func(b *sink.Block) error {
			for i, line := range b.Lines() {
				if len(bytes.TrimSpace(line)) == 0 {
					continue
				}
				rec, err := reader.Read(line)
				if err == nil && rec.Addr.Addr().Unmap().Is4() && !p.shard.Has(rec.Addr.Addr()) {
					err = fmt.Errorf("the address %v is not in shard %s", rec.Addr.Addr(), p.shard)
				}
				if err != nil {
					return fmt.Errorf("record %d: %w", b.First+i, err)
				}
				b.Out = append(rec.Rename(b.Out, m.sum.Scan), '\n')
				counting.Lock()
				m.tally.Add(&rec.Result)
				counting.Unlock()
			}
			return nil
		}
	}
	for _, file := range p.files {
		_, err := pipe(file, parser, func(b *sink.Block, fault error) (int, error) {
			for line := range bytes.Lines(b.Out) {
				m.sum.Records++
				if err := m.out.WriteLine(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
					return 0, WriteFailure(err)
				}
			}
			if fault != nil {
				fault = m.gap([]string{fmt.Sprintf("%s: %v", file, fault)})
			}
			return 0, fault
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// describe fills in the fields of the summary that do not depend on the records. Parts may
// have run at the same time or one after another, so the duration is from the first start
// to the last end. The rate is the sum of the rates of the parts. If a part has no rate
// limit, the merged scan has none.
func (m *merger) describe() {
	first, s := &m.parts[0].sum, &m.sum
	limit := 0.0
	shard, _, _ := m.parts[0].plan.Merged()
	*shard = "0/1"
	*s = ledger.Summary{
		Version: m.options.Build.Version, Commit: m.options.Build.Commit, Go: runtime.Version(), Command: m.options.Command,
		Scan: first.Scan, Names: first.Names, Inputs: first.Inputs, Order: first.Order, Output: m.options.Output, Start: first.Start, Plan: ledger.Select(first.Plan, "shards"),
		Ended: ledger.EndedComplete, Consistent: true,
		Counts: s.Counts,
		Faults: map[string]uint64{}, Exclusions: []list.Exclusion{},
	}
	s.RateAsked = &limit
	for _, p := range m.parts {
		one := &p.sum
		if one.Start.Before(s.Start) {
			s.Scan, s.Start = one.Scan, one.Start
		}
		if one.End.After(s.End) {
			s.End = one.End
		}
		s.Resumed += one.Resumed
		s.PeakOpen = max(s.PeakOpen, one.PeakOpen)
		s.PeakBytes = max(s.PeakBytes, one.PeakBytes)
		s.PeakRSS = max(s.PeakRSS, one.PeakRSS)
		s.RecvBuffer = max(s.RecvBuffer, one.RecvBuffer)
		s.RecvBufferAsked = max(s.RecvBufferAsked, one.RecvBufferAsked)
		s.Merged = append(s.Merged, ledger.Part{
			Name: p.files[0], Scan: one.Scan, Shard: p.shard.String(), Seed: one.Seed,
			Start: one.Start, End: one.End, Records: one.Records, Sum: one.Sum,
		})
		for fault, n := range one.Faults {
			s.Faults[fault] += n
		}
		if s.RateReached += one.RateReached; one.RateAsked == nil {
			s.RateAsked = nil
		} else if s.RateAsked != nil {
			*s.RateAsked += *one.RateAsked
		}
		for i, n := range one.FirstAnswers.AtAsk {
			m.attempts = append(m.attempts, make([]uint64, max(0, i+1-len(m.attempts)))...)
			m.attempts[i] += n
		}
		for _, x := range one.Exclusions {
			same := func(y list.Exclusion) bool { return y.Network == x.Network && y.Source == x.Source }
			if at := slices.IndexFunc(s.Exclusions, same); at >= 0 {
				s.Exclusions[at].Targets += x.Targets
				s.Exclusions[at].Stopped += x.Stopped
			} else {
				s.Exclusions = append(s.Exclusions, x)
			}
		}
	}
	s.Seconds = s.End.Sub(s.Start).Round(time.Millisecond).Seconds()
	s.Scan = cmp.Or(m.options.Scan, s.Scan)
}
