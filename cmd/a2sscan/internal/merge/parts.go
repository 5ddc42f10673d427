package merge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/census"
)

// part is one census to merge: its files, and the summary beside them.
type part struct {
	name    string // name of its first file, for messages
	files   []string
	summary string // path of the summary
	sum     ledger.Summary
	shard   list.Shard
}

// group groups files into parts. Files with the same summary are one part.
func group(files []string) (parts []*part) {
	for _, f := range files {
		beside := census.Beside(f, ".summary.json")
		at := slices.IndexFunc(parts, func(p *part) bool { return p.summary == beside })
		if at >= 0 {
			parts[at].files = append(parts[at].files, f)
			continue
		}
		parts = append(parts, &part{name: console.Plain(f, 200), files: []string{f}, summary: beside})
	}
	return parts
}

// load reads the summary of a part. gap says why the part can't be merged; it is ""
// if the part can. err is an error of reading or decoding the summary.
func (p *part) load() (gap string, err error) {
	text, err := store.Source().ReadFile(p.summary)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("%s has no summary: there is no %s", p.name, console.Plain(p.summary, 200)), nil
	}
	if err == nil {
		err = json.Unmarshal(text, &p.sum)
	}
	if err != nil {
		return "", console.Fail(console.ExitInput, "can't read the summary %s: %v",
			console.Plain(p.summary, 200), console.WithoutPath(err))
	}
	return p.unfit(), nil
}

// unfit returns why a part can't be merged, judging by its summary, or "" if it
// can. It sets the shard.
func (p *part) unfit() string {
	s := &p.sum
	switch {
	case s.Ended != ledger.EndedComplete:
		return fmt.Sprintf("%s is not complete: its scan ended with %s", p.name, console.Quoted(s.Ended, 40))
	case !s.Consistent:
		return fmt.Sprintf("%s has numbers that do not add up", p.name)
	case s.Plan == nil:
		return fmt.Sprintf("%s was written by a version whose summaries have no plan", p.name)
	}
	shard, err := list.ParseShard(s.Plan.Shard, "")
	if err != nil {
		return fmt.Sprintf("%s: %v", p.name, err)
	}
	p.shard = shard
	return ""
}

// verify compares the files of a part with its summary, and returns the problems.
func (p *part) verify(progress func(read, size int64)) ([]string, error) {
	s := &p.sum
	want := &sink.Expected{Scan: s.Scan, Records: s.Records, ByStatus: s.Targets.By("by_status"), Parts: s.Parts}
	if s.Parts == nil && s.Sum != "" {
		want.Parts = []sink.Part{{Name: s.Output, Bytes: s.Bytes, Sum: s.Sum}}
	}
	v, err := store.Source().Verify(p.files, want, progress)
	if err != nil {
		return nil, censusfile.Failure(err)
	}
	if v.Records != s.Records {
		v.Problems = append(v.Problems,
			fmt.Sprintf("%s has %d records, and its summary says %d", p.name, v.Records, s.Records))
	}
	if v.More > 0 {
		v.Problems = append(v.Problems, fmt.Sprintf("%s: %d more problems", p.name, v.More))
	}
	return v.Problems, nil
}

// note describes the part in the summary of the merged census.
func (p *part) note() ledger.Part {
	s := &p.sum
	return ledger.Part{
		Name: p.files[0], Scan: s.Scan, Shard: s.Plan.Shard, Seed: s.Seed,
		Start: s.Start, End: s.End, Records: s.Records, Sum: s.Sum,
	}
}

// loadAll reads the summaries of all parts and returns the reasons why parts can't
// be merged.
func loadAll(parts []*part) (gaps []string, err error) {
	for _, p := range parts {
		gap, err := p.load()
		if err != nil {
			return nil, err
		}
		if gap != "" {
			gaps = append(gaps, gap)
		}
	}
	return gaps, nil
}

// differences describes each part whose plan differs from that of the first part.
func differences(parts []*part) (gaps []string) {
	first := parts[0]
	for _, p := range parts[1:] {
		if d := first.sum.Plan.Differs(p.sum.Plan); d != "" {
			gaps = append(gaps, fmt.Sprintf("%s and %s are not parts of one scan: %s", first.name, p.name, d))
		}
	}
	return gaps
}

// missingShards returns a description of each shard that is missing, repeated, or
// of another number of shards.
func missingShards(parts []*part) (gaps []string) {
	count := max(parts[0].shard.Count, 1)
	by := map[int]*part{}
	for _, p := range parts {
		if n := max(p.shard.Count, 1); n != count {
			gaps = append(gaps, fmt.Sprintf("%s is shard %s, and %s one of %d shards", p.name, p.shard, parts[0].name, count))
			continue
		}
		if other := by[p.shard.Index]; other != nil {
			gaps = append(gaps, fmt.Sprintf("shard %s is there twice: %s and %s", p.shard, other.name, p.name))
		}
		by[p.shard.Index] = p
	}
	for i := range count {
		if by[i] == nil {
			gaps = append(gaps, fmt.Sprintf("shard %d/%d is missing", i, count))
		}
	}
	return gaps
}
