package censusfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

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
	plan    Plan
	shard   list.Shard
}

// load reads the summary of a part, with its plan, and sets the shard. If the part can't be
// merged, gap says why.
func (p *part) load(plan Plan) (gap string, err error) {
	text, err := census.ReadFile(p.summary)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("%s has no summary: the file %s does not exist", p.name, console.Plain(p.summary, 200)), nil
	}
	s := &p.sum
	shard, _, _ := plan.Merged()
	p.plan, s.Plan = plan, plan
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err == nil {
		err = sink.CheckSummary(s.Schema)
	}
	if err != nil {
		return "", console.Fail(console.ExitInput, "can't read the summary %s: %v",
			console.Plain(p.summary, 200), console.WithoutPath(err))
	}
	switch {
	case s.Ended != ledger.EndedComplete:
		gap = "the scan ended with " + console.Quoted(s.Ended, 40)
	case s.Targets.Left() > 0:
		gap = "the scan did not finish " + console.Plural(s.Targets.Left(), "target")
	case !s.Consistent:
		gap = "the numbers of the summary do not add up"
	case s.Plan == nil || *shard == "":
		gap = "the summary has no plan, because another version of a2sscan wrote it"
	default:
		if p.shard, err = list.ParseShard(*shard, ""); err == nil {
			*shard = "" // otherwise the plans of two shards would always differ
			return "", nil
		}
		return fmt.Sprintf("%s: %v", p.name, err), nil
	}
	return p.name + ": " + gap, nil
}

// differences describes why the parts are not the shards of one scan.
func differences(parts []*part) (gaps []string) {
	first, count := parts[0], max(parts[0].shard.Count, 1)
	by := map[int]*part{}
	for _, p := range parts {
		if what, a, b := ledger.Difference(first.sum.Plan, p.sum.Plan, "shards"); what != "" {
			gaps = append(gaps, fmt.Sprintf("%s and %s are not parts of one scan: they differ in %s (%s and %s)", first.name, p.name, what, a, b))
		} else if a, b := first.sum.Names, p.sum.Names; a != b {
			gaps = append(gaps, fmt.Sprintf("the names of players in %s and %s are hashed with different keys (%s and %s)", first.name, p.name, a, b))
		}
		if n := max(p.shard.Count, 1); n != count {
			gaps = append(gaps, fmt.Sprintf("%s is shard %s, but %s belongs to a scan of %s", p.name, p.shard, first.name, console.Plural(count, "shard")))
			continue
		}
		if other := by[p.shard.Index]; other != nil {
			gaps = append(gaps, fmt.Sprintf("shard %s occurs twice: %s and %s", p.shard, other.name, p.name))
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

// sumLedgers adds up the ledgers of shards. Each shard reads the complete list, and counts
// the addresses of other shards as other_shard. The sum has no other_shard, and counts
// each target of the list once. The second result describes contradictions.
func sumLedgers(parts []*part) (all ledger.Counts, gaps []string) {
	first := &parts[0].sum.Counts
	for _, p := range parts {
		gaps = append(gaps, ledger.Differences(first, &p.sum.Counts, parts[0].name, p.name)...)
		all.Add(&p.sum.Counts)
	}
	if n := all.Targets.LeftOut() + all.Targets.Finished + all.Targets.Unfinished; n != all.Targets.Read {
		gaps = append(gaps, fmt.Sprintf("targets of the list: %d, but the parts account for %d", all.Targets.Read, n))
	}
	if _, most, _ := parts[0].plan.Merged(); most > 0 && len(parts) > 1 {
		gaps = append(gaps, "--max-targets limits each shard, so together the shards may miss a part of the list")
	}
	return all, gaps
}
