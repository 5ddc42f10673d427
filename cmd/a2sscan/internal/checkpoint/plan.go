package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// scanPlan is what of a scan's command has to be the same when the scan is
// gone on with: otherwise the two halves would not be one census.
type Plan struct {
	Targets       []string   `json:"targets"` // those that are no lists, as they were named
	Lists         []ListID   `json:"lists"`
	Ports         string     `json:"ports"`
	Order         string     `json:"order"`
	Seed          uint64     `json:"seed,omitempty"` // of the random order
	Shard         string     `json:"shard,omitempty"`
	Resolve       bool       `json:"resolve,omitempty"`
	Query         string     `json:"query"`
	MaxTargets    uint64     `json:"max_targets"`
	MaxPerAddress int        `json:"max_per_address"`
	Raw           bool       `json:"raw"`
	KeepMaster    bool       `json:"keep_master,omitempty"`
	Unanswered    bool       `json:"unanswered"`
	Databases     []Database `json:"mmdb,omitempty"`
	Output        string     `json:"output"` // absolute
	Rotate        bool       `json:"rotate"`
}

// Database is a file of --mmdb as a checkpoint has it.
type Database struct {
	Type   string      `json:"type"`
	Built  time.Time   `json:"built"`
	Before []time.Time `json:"before,omitempty"` // those of earlier parts
}

// typesOf names databases as they call themselves.
func typesOf(databases []Database) string {
	var types []string
	for _, db := range databases {
		types = append(types, db.Type)
	}
	return strings.Join(types, ", ")
}

// ListID tells a list of targets from all others.
type ListID struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// differs says in words what is another thing in p than it was, "" if nothing
// is. It leaves the lists aside: they are to be read first.
func (p *Plan) differs(was *Plan) string {
	for _, c := range []struct {
		what     string
		now, was any
	}{
		{"the targets are", strings.Join(p.Targets, " "), strings.Join(was.Targets, " ")},
		{"--port is", p.Ports, was.Ports},
		{"--order is", p.Order, was.Order},
		{"--seed is", p.Seed, was.Seed},
		{"--shard is", p.Shard, was.Shard},
		{"--resolve is", p.Resolve, was.Resolve},
		{"--query is", p.Query, was.Query},
		{"--max-targets is", p.MaxTargets, was.MaxTargets},
		{"--max-per-address is", p.MaxPerAddress, was.MaxPerAddress},
		{"--raw is", p.Raw, was.Raw},
		{"--keep-master is", p.KeepMaster, was.KeepMaster},
		{"--unanswered is", p.Unanswered, was.Unanswered},
		{"--mmdb is", typesOf(p.Databases), typesOf(was.Databases)},
		{"--output is", p.Output, was.Output},
		{"--rotate is", given(p.Rotate), given(was.Rotate)},
	} {
		if now, isText := c.now.(string); isText {
			c.now = inJSON(now)
		}
		if c.now != c.was {
			return fmt.Sprintf("%s %s, and was %s", c.what, orNone(c.now), orNone(c.was))
		}
	}
	return ""
}

// inJSON is a text as it comes back from JSON: a name of a file need not be UTF-8.
func inJSON(s string) string { return string([]rune(s)) }

func given(set bool) string {
	if set {
		return "given"
	}
	return "not given"
}

func orNone(v any) string {
	if s := console.Plain(fmt.Sprint(v), 100); s != "" {
		return s
	}
	return "none"
}

func listsDiffer(now, was []ListID) string {
	if len(now) != len(was) {
		return fmt.Sprintf("there are %d lists of targets, and there were %d", len(now), len(was))
	}
	i := slices.IndexFunc(now, func(l ListID) bool {
		return !slices.ContainsFunc(was, func(w ListID) bool { return l.SHA256 == w.SHA256 })
	})
	if i < 0 {
		for i = range now {
			if now[i].SHA256 != was[i].SHA256 {
				return "the lists of targets come in another order"
			}
		}
		return ""
	}
	return console.Plain(now[i].Name, 100) + " is not the list that it was"
}

// HashLists makes known what the lists hold before anything is sent, where
// they are given out while they are read. It returns what is to be read in the
// place of stdin. A list in random order is read first anyway.
func (k *Checkpointer) HashLists(args []string, stdin io.Reader) (io.Reader, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	for _, arg := range args {
		h := sha256.New()
		switch info, err := os.Stat(arg); {
		case arg == "-":
			var all bytes.Buffer
			if _, err := io.Copy(io.MultiWriter(h, &all), stdin); err != nil {
				return nil, console.Fail(console.ExitInput, "standard input: %w", err)
			}
			arg, stdin = "standard input", &all
		case err != nil || info.IsDir():
			continue // no list: target.Open says what it is
		case !info.Mode().IsRegular():
			return nil, console.Fail(console.ExitUsage, "--checkpoint with --order input: %s can't be read twice", console.Plain(arg, 100)).
				WithHint("leave --order input away, or send the list to standard input")
		default:
			if err := hashFile(h, arg); err != nil {
				return nil, console.Fail(console.ExitInput, "%w", err)
			}
		}
		k.plan.Lists = append(k.plan.Lists, ListID{arg, hex.EncodeToString(h.Sum(nil))})
	}
	return stdin, nil
}

func hashFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// Loaded compares the lists with those of the checkpoint, when they were read.
func (k *Checkpointer) Loaded(list *list.List) error {
	if !k.Enabled {
		return nil
	}
	if k.plan.Lists == nil {
		for _, in := range list.Inputs() {
			k.plan.Lists = append(k.plan.Lists, ListID{in.Name, in.SHA256})
		}
	}
	k.size, _ = list.Size()
	if k.Past == nil {
		return nil
	}
	if why := listsDiffer(k.plan.Lists, k.Past.Plan.Lists); why != "" {
		return k.refuseResume(why)
	}
	if was := k.Past.Size; was > 0 && k.size > 0 && was != k.size { // places are not what they were
		return k.refuseResume(fmt.Sprintf("the a2sscan that began it found %s in the lists, and this one finds %s",
			console.Plural(was, "target"), console.Grouped(k.size)))
	}
	k.sayResumed()
	return nil
}
