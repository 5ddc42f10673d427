package census

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/sink"
)

// summary is what this package reads from the summary of a scan.
type summary struct {
	path string

	Scan       string    `json:"scan"`
	Shard      string    `json:"shard"`
	Records    uint64    `json:"records"`
	Start      time.Time `json:"start"`
	End        time.Time `json:"end"`
	Seconds    float64   `json:"seconds"`
	Resumed    int       `json:"resumed"`
	Ended      string    `json:"ended"`
	Consistent bool      `json:"consistent"`

	Inputs    []RunList    `json:"inputs"`
	Targets   RunTargets   `json:"targets"`
	Datagrams RunDatagrams `json:"datagrams"`

	RateAsked    *float64 `json:"rate_asked"`
	RateReached  float64  `json:"rate_reached"`
	Servers      uint64   `json:"servers"`
	FirstAnswers struct {
		Chance *float64 `json:"answer_chance"`
		Missed *float64 `json:"missed_estimate"`
	} `json:"first_answers"`
}

// partNumber matches what distinguishes the names of the parts of a census: the time of
// the scan and the number of the part.
var partNumber = regexp.MustCompile(`-\d{8}T\d{6}Z-\d{5}`)

// baseName returns what the names of the files beside a census begin with: the name
// of the census, or what the names of its parts have in common.
func baseName(file string) string {
	if at := partNumber.FindStringIndex(filepath.Base(file)); at != nil {
		start := len(file) - len(filepath.Base(file))
		return file[:start+at[1]-len("-00001")]
	}
	return file
}

// SummaryName returns the name that a2sscan scan gives to the summary of the census
// in file.
func SummaryName(file string) string { return baseName(file) + ".summary.json" }

// StatsName returns the name under which the stats of the census in file belong beside
// it.
func StatsName(file string) string { return baseName(file) + ".stats.json" }

// readSummaries reads the named summaries. If names is nil, it reads the summaries that
// exist beside the files.
func readSummaries(from sink.Source, files, names []string) (all []*summary, err error) {
	beside := names == nil
	if beside {
		for _, file := range files {
			names = append(names, SummaryName(file))
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		s, err := readSummary(from, name)
		if beside && isMissing(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b *summary) int {
		if c := a.Start.Compare(b.Start); c != 0 {
			return c
		}
		return strings.Compare(a.Scan+" "+a.Shard, b.Scan+" "+b.Shard)
	})
	return all, nil
}

func readSummary(from sink.Source, name string) (*summary, error) {
	text, err := from.ReadFile(name)
	if err != nil {
		return nil, err
	}
	s := &summary{path: name}
	if err := json.Unmarshal(text, s); err != nil || s.Ended == "" {
		return nil, fmt.Errorf("%s: not the summary of a scan", name)
	}
	return s, nil
}

// run returns the sums of the summaries, or nil if there are none.
func (c *Census) run() *Run {
	if len(c.summaries) == 0 {
		return nil
	}
	r := &Run{Ended: "complete", Consistent: true}
	var answered uint64
	for i, s := range c.summaries {
		r.add(s, i == 0)
		answered += s.Servers
	}
	r.Asked = r.Targets.Finished
	if r.Asked > 0 {
		r.HitRate = round6(float64(answered) / float64(r.Asked))
	}
	r.estimate(c.summaries, answered)
	return r
}

// add adds one summary; first says that it is the first.
func (r *Run) add(s *summary, first bool) {
	r.Summaries++
	if r.Ended == "complete" {
		r.Ended = s.Ended
	}
	if first || s.Start.Before(r.Start) {
		r.Start = s.Start
	}
	if s.End.After(r.End) {
		r.End = s.End
	}
	if first {
		r.RateAsked = s.RateAsked
	}
	r.Seconds = max(r.Seconds, s.Seconds)
	r.Resumed += s.Resumed
	r.Consistent = r.Consistent && s.Consistent
	r.RateReached += s.RateReached
	r.Targets.add(&s.Targets)
	r.Datagrams.add(&s.Datagrams)
	for _, list := range s.Inputs {
		if !slices.Contains(r.Lists, list) {
			r.Lists = append(r.Lists, list)
		}
	}
}

func (t *RunTargets) add(o *RunTargets) {
	t.Read += o.Read
	t.Invalid += o.Invalid
	t.Unscannable += o.Unscannable
	t.Excluded += o.Excluded
	t.Duplicate += o.Duplicate
	t.OtherShard += o.OtherShard
	t.OverLimit += o.OverLimit
	t.Stopped += o.Stopped
	t.Finished += o.Finished
	t.Unfinished += o.Unfinished
	t.Unread += o.Unread
	t.ByStatus = addCounts(t.ByStatus, o.ByStatus)
}

func (d *RunDatagrams) add(o *RunDatagrams) {
	d.Sent += o.Sent
	d.Repeats += o.Repeats
	d.SendErrors += o.SendErrors
	d.Received += o.Received
	d.KernelDrops += o.KernelDrops
	d.ByClass = addCounts(d.ByClass, o.ByClass)
}

func addCounts(to, from map[string]uint64) map[string]uint64 {
	if to == nil {
		to = map[string]uint64{}
	}
	for word, n := range from {
		to[word] += n
	}
	return to
}

// estimate combines the loss estimates of the scans. It sets none if a scan has
// none.
func (r *Run) estimate(all []*summary, answered uint64) {
	var loss, chance float64
	for _, s := range all {
		f := &s.FirstAnswers
		if f.Missed == nil || f.Chance == nil {
			return
		}
		loss += *f.Missed
		chance += *f.Chance * float64(s.Servers)
	}
	loss = round6(loss)
	r.Missed = &loss
	if answered > 0 {
		chance = round6(chance / float64(answered))
		r.Chance = &chance
	}
}
