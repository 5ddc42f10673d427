package census

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Summary holds the keys of a scan's summary file that a reader of the census needs.
type Summary struct {
	// The numbers of one scan. The fields that Census.run computes are not set.
	Run

	Schema   int         `json:"schema"`
	Scan     string      `json:"scan"`
	Shard    string      `json:"shard"`
	Output   string      `json:"output"`
	Records  uint64      `json:"records"`
	Bytes    int64       `json:"bytes"`
	Sum      string      `json:"xxh64"`
	Division []sink.Part `json:"parts"` // nil if the output is a single file

	Earlier []sink.Scan `json:"earlier"` // scans whose records the output had before this scan

	Inputs       []runList `json:"inputs"`
	Servers      uint64    `json:"servers"`
	FirstAnswers struct {
		Chance *float64 `json:"answer_chance"`
		Missed *float64 `json:"missed_estimate"`
	} `json:"first_answers"`

	name string
}

// Scans returns the scans that the summary describes, the latest last.
func (s *Summary) Scans() []sink.Scan {
	return append(slices.Clone(s.Earlier), sink.Scan{Name: s.Scan, Start: s.Start, Ended: s.Ended, Records: s.Records, ByStatus: s.Targets.ByStatus})
}

// partNumber matches what sink.PartName inserts into the name of a census: the time at which
// the scan began, and the number of the part.
var partNumber = regexp.MustCompile(`-\d{8}T\d{6}Z-\d{5}`)

// Beside returns the name of a file that belongs beside a census. file is the census or one of
// its parts, and suffix, for example, .summary.json.
func Beside(file, suffix string) string {
	if at := partNumber.FindStringIndex(filepath.Base(file)); at != nil {
		start := len(file) - len(filepath.Base(file))
		return file[:start+at[1]-len("-00001")] + suffix
	}
	return file + suffix
}

// The keys that every summary has.
var always = []string{"schema", "scan", "start", "ended", "output", "records", "targets"}

// ReadSummaries reads the named summaries, oldest first. If names is nil, it reads the
// summaries that exist beside the files of a census. The name "-" stands for standard
// input.
func ReadSummaries(files, names []string) (all []*Summary, err error) {
	beside := names == nil
	if beside {
		for _, file := range files {
			names = append(names, Beside(file, ".summary.json"))
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		text, err := ReadFile(name)
		if beside && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s := &Summary{name: name}
		var found map[string]json.RawMessage
		if json.Unmarshal(text, s) != nil || json.Unmarshal(text, &found) != nil {
			return nil, fmt.Errorf("%s is not the summary of a scan", name)
		}
		for _, key := range always {
			if found[key] == nil {
				return nil, fmt.Errorf("%s is not the summary of a scan: it lacks %s", name, key)
			}
		}
		if err := sink.CheckSummary(s.Schema); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b *Summary) int {
		return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.Scan+" "+a.Shard, b.Scan+" "+b.Shard))
	})
	return all, nil
}

// maxFile is the maximum length of a summary or stats file in bytes: enough for the summary of
// a census of 50,000 parts. All lists of stats have a limit.
const maxFile = 8 << 20

// ReadFile reads a summary or a stats file. The name "-" stands for standard input.
func ReadFile(name string) ([]byte, error) {
	if name == "-" {
		return disk.ReadAll(os.Stdin, "standard input", maxFile)
	}
	return disk.ReadFile(name, maxFile)
}

// find yields the files that the scan wrote, each with its index in names, or -1 if
// it is not there. A file may have been moved or, if there is only one, renamed.
func (s *Summary) find(names []string) iter.Seq2[sink.Part, int] {
	parts := s.Division
	if parts == nil {
		parts = []sink.Part{{Name: s.Output, Bytes: s.Bytes, Sum: s.Sum}}
		for _, scan := range s.Scans() { // the file has the records of all these scans
			parts[0].Records += scan.Records
		}
	}
	base := func(name string) string {
		if s.Division == nil {
			return "" // the summary is about a single file, which may have any name
		}
		return baseOf(name)
	}
	// Files in other folders may have the same name, so the files beside the summary come first.
	named, beside := map[string]int{}, map[string]int{}
	for i, name := range slices.Backward(names) {
		named[baseOf(name)] = i
		if Beside(name, ".summary.json") == s.name {
			beside[base(name)] = i
		}
	}
	return func(yield func(sink.Part, int) bool) {
		for _, part := range parts {
			at, found := beside[base(part.Name)]
			if !found {
				at, found = named[baseOf(part.Name)]
			}
			if !found && (len(parts) != 1 || len(names) != 1) {
				at = -1
			}
			if !yield(part, at) {
				return
			}
		}
	}
}

// baseOf returns the name of a file without its directory and without disk.PartSuffix.
func baseOf(name string) string {
	return strings.TrimSuffix(path.Base(filepath.ToSlash(name)), disk.PartSuffix)
}

// Reading describes what was read from a file.
type Reading struct {
	sink.Part             // without Sum, Bytes is not set either
	Bad       uint64      // number of lines that are not records
	Why       error       // the fault of one of these lines
	Damage    sink.Damage // what was skipped
}

// Lost compares what was read with the summaries of the scans, and returns a sentence for each
// thing that is damaged or missing. If all is set, so is each file that was not read.
func Lost(files []Reading, summaries []*Summary, all bool) (lost []string) {
	say := func(format string, args ...any) { lost = append(lost, fmt.Sprintf(format, args...)) }
	var names []string
	for _, r := range files {
		names = append(names, r.Name)
		if r.Damage.Doubtful || r.Damage.Found() {
			say("%s is damaged: %s", r.Name, r.Damage)
		}
		if n := r.Damage.Truncated; n > 0 {
			say("%s is truncated: ignored %s after its last complete record", r.Name, plural(uint64(n), "byte", "bytes"))
		} else if r.Damage.Open && !r.Damage.Flushed {
			say("%s is truncated: its last compressed frame has no end", r.Name)
		}
		if r.Bad > 0 {
			say("%s: ignored %s: %v", r.Name, plural(r.Bad, "line that cannot be read", "lines that cannot be read; one of them"), r.Why)
		}
	}
	for _, s := range summaries {
		for part, at := range s.find(names) {
			switch {
			case at < 0 && all:
				say("%s is missing: the summary says that it has %s", part.Name, plural(part.Records, "record", "records"))
			case at < 0:
			case files[at].Sum != "" && files[at].Bytes != part.Bytes:
				say("%s has %d bytes, but the summary says %d", files[at].Name, files[at].Bytes, part.Bytes)
			case files[at].Sum != "" && part.Sum != "" && files[at].Sum != part.Sum:
				say("%s has xxh64 %s, but the summary says %s", files[at].Name, files[at].Sum, part.Sum)
			case s.Division != nil && part.Records > 0 && files[at].Records > part.Records:
				say("%s has %s, but the summary says %d", files[at].Name, plural(files[at].Records, "record", "records"), part.Records)
			case files[at].Records < part.Records:
				say("%s is truncated: it has %d of the %s that the summary counts", files[at].Name, files[at].Records, plural(part.Records, "record", "records"))
			}
		}
	}
	return lost
}

func plural(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// run returns the sums of the summaries, or nil if there are no summaries.
func (c *Census) run() *Run {
	if len(c.summaries) == 0 {
		return nil
	}
	first := &c.summaries[0].Run
	r := &Run{Summaries: len(c.summaries), Ended: "complete", Consistent: true, Start: first.Start, RateAsked: first.RateAsked}
	described := map[string]bool{}
	for _, s := range c.summaries {
		for _, scan := range s.Scans() {
			described[scan.Name] = true
			if r.Ended == "complete" {
				r.Ended = scan.Ended
			}
		}
		if s.End.After(r.End) {
			r.End = s.End
		}
		r.Seconds = max(r.Seconds, s.Seconds)
		r.Resumed += s.Resumed
		r.Consistent = r.Consistent && s.Consistent
		r.RateReached += s.RateReached
		addCounts(&r.Targets, &s.Targets)
		addCounts(&r.Datagrams, &s.Datagrams)
		for _, list := range s.Inputs {
			if !slices.Contains(r.Lists, list) {
				r.Lists = append(r.Lists, list)
			}
		}
		r.Answered += s.Servers
	}
	if r.Ended == "complete" && slices.ContainsFunc(c.scans, func(name string) bool { return !described[name] }) {
		r.Ended = "unknown"
	}
	r.Asked = r.Targets.Finished
	if r.Asked > 0 {
		r.HitRate = round6(float64(r.Answered) / float64(r.Asked))
	}
	// There is an estimate of the losses only if every scan has one.
	var missed, chance float64
	for _, s := range c.summaries {
		f := &s.FirstAnswers
		if f.Missed == nil || f.Chance == nil {
			return r
		}
		missed += *f.Missed
		chance += *f.Chance * float64(s.Servers)
	}
	r.Missed = new(round6(missed))
	if r.Answered > 0 {
		r.Chance = new(round6(chance / float64(r.Answered)))
	}
	return r
}

// Run holds the sums of the summaries of all scans of a census, such as its shards.
type Run struct {
	Summaries  int       `json:"summaries" about:"how many summaries were read"`
	Ended      string    `json:"ended" about:"complete if all scans are complete; otherwise how the first incomplete scan ended; unknown if no summary describes a scan"`
	Start      time.Time `json:"start"`
	End        time.Time `json:"end"`
	Seconds    float64   `json:"seconds" about:"duration of the longest scan"`
	Resumed    int       `json:"resumed" about:"how often a scan was resumed"`
	Consistent bool      `json:"consistent" about:"true if the counts in the ledger of each scan add up"`

	Targets   runTargets   `json:"targets"`
	Datagrams runDatagrams `json:"datagrams"`

	Asked    uint64  `json:"asked" about:"finished targets"`
	Answered uint64  `json:"answered" about:"servers that sent any reply"`
	HitRate  float64 `json:"hit_rate" about:"share of the asked targets that answered, from 0 to 1"`

	Chance *float64 `json:"answer_chance,omitempty" about:"estimated probability that a request to a live server is answered"`
	Missed *float64 `json:"missed_estimate,omitempty" about:"estimated number of live servers that stayed silent because datagrams were lost"`

	RateAsked   *float64 `json:"rate_asked,omitempty" about:"requested rate in datagrams per second, from the first summary"`
	RateReached float64  `json:"rate_reached" about:"rate reached in datagrams per second, summed over all summaries"`

	Lists []runList `json:"lists,omitempty" about:"the inputs of the scans, each once"`
}

type runTargets struct {
	Read        uint64            `json:"read"`
	Invalid     uint64            `json:"invalid"`
	Unscannable uint64            `json:"unscannable"`
	Excluded    uint64            `json:"excluded"`
	Duplicate   uint64            `json:"duplicate"`
	OtherShard  uint64            `json:"other_shard"`
	OverLimit   uint64            `json:"over_limit"`
	Stopped     uint64            `json:"stopped"`
	Finished    uint64            `json:"finished"`
	Unfinished  uint64            `json:"unfinished"`
	Unread      uint64            `json:"unread"`
	ByStatus    map[string]uint64 `json:"by_status"`
}

type runDatagrams struct {
	Sent        uint64            `json:"sent"`
	Repeats     uint64            `json:"repeats"`
	SendErrors  uint64            `json:"send_errors"`
	Received    uint64            `json:"received"`
	ByClass     map[string]uint64 `json:"received_by_class"`
	KernelDrops uint64            `json:"kernel_drops"`
}

// runList describes one input of a scan.
type runList struct {
	SHA256  string `json:"sha256,omitempty" about:"SHA-256 hash of the raw bytes of the list"`
	Targets uint64 `json:"targets"`
}

// addCounts adds the counts in *from to the counts in *to. Both are structs of numbers and
// maps.
func addCounts[T any](to, from *T) {
	sum, more := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for i := range sum.NumField() {
		switch field := sum.Field(i); field.Kind() {
		case reflect.Uint64:
			field.SetUint(field.Uint() + more.Field(i).Uint())
		case reflect.Map:
			all := field.Addr().Interface().(*map[string]uint64)
			if *all == nil {
				*all = map[string]uint64{}
			}
			for word, n := range more.Field(i).Interface().(map[string]uint64) {
				(*all)[word] += n
			}
		}
	}
}
