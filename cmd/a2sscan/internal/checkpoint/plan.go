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

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// Plan is the part of a scan's command that must not change when the scan is
// resumed, because otherwise the runs would not add up to one census. A new field
// also needs a line in differs. State that changes during a scan belongs in
// Checkpoint.
type Plan struct {
	Targets       []string   `json:"targets"` // those that are not lists, as given on the command line
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
	PlayerKey     string     `json:"player_key,omitempty"` // ID of the key that hashes names; empty: names are written
	Databases     []Database `json:"mmdb,omitempty"`
	Columns       string     `json:"columns,omitempty"` // format and fields of an output that is not JSON
	Output        string     `json:"output"`            // absolute path
	Rotate        bool       `json:"rotate"`
	Store         string     `json:"store,omitempty"` // URL of the census in an object store; Output is then in a folder from which it is uploaded
}

// Database is a file of --mmdb, as saved in a checkpoint.
type Database struct {
	Type string `json:"type"`
}

// typesOf lists the types that the databases declare.
func typesOf(databases []Database) string {
	var types []string
	for _, db := range databases {
		types = append(types, db.Type)
	}
	return strings.Join(types, ", ")
}

// ListID identifies a list of targets by its content.
type ListID struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// differs describes the first difference between p and was; "" if there is none.
// It does not compare the lists, which have not been read yet.
func (p *Plan) differs(was *Plan) string {
	for _, c := range []struct {
		what     string
		now, was any
	}{
		{"the target list is", strings.Join(p.Targets, " "), strings.Join(was.Targets, " ")},
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
		{"--format and --fields are", p.Columns, was.Columns},
		{"the player key is", p.PlayerKey, was.PlayerKey},
		{"--mmdb is", typesOf(p.Databases), typesOf(was.Databases)},
		{"--output is", p.Output, was.Output},
		{"--output is", p.Store, was.Store},
		{"--rotate is", given(p.Rotate), given(was.Rotate)},
	} {
		if now, isText := c.now.(string); isText {
			c.now = inJSON(now)
		}
		if c.now != c.was {
			return fmt.Sprintf("%s %s, but was %s", c.what, orNone(c.now), orNone(c.was))
		}
	}
	return ""
}

// inJSON returns s as it is after encoding to JSON and decoding again. That changes
// file names that are not UTF-8.
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
		return fmt.Sprintf("there are %d lists of targets, but there were %d", len(now), len(was))
	}
	i := slices.IndexFunc(now, func(l ListID) bool {
		return !slices.ContainsFunc(was, func(w ListID) bool { return l.SHA256 == w.SHA256 })
	})
	if i < 0 {
		for i = range now {
			if now[i].SHA256 != was[i].SHA256 {
				return "the lists of targets are in a different order"
			}
		}
		return ""
	}
	return console.Plain(now[i].Name, 100) + " has changed"
}

// HashLists hashes the lists before anything is sent. It is needed for --order
// input, which scans while it reads; for a random order, the list is read first
// anyway. It returns the reader to use instead of stdin.
func (k *Checkpointer) HashLists(args []string, stdin io.Reader) (io.Reader, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	for _, arg := range args {
		h := sha256.New()
		switch info, err := os.Stat(arg); {
		case store.IsURL(arg):
			if err := hashObjects(k, arg); err != nil {
				return nil, err
			}
			continue
		case arg == "-":
			all, err := readStdin(k.terminal, h, stdin)
			if err != nil {
				return nil, err
			}
			arg, stdin = "standard input", all
		case err != nil || info.IsDir():
			continue // not a list: list.Open handles it
		case !info.Mode().IsRegular():
			return nil, console.Fail(console.ExitUsage, "--checkpoint with --order input: %s can't be read twice", console.Plain(arg, 100)).
				WithHint("omit --order input, or send the list to standard input")
		default:
			if err := hashFile(h, arg); err != nil {
				return nil, console.Fail(console.ExitInput, "%w", err)
			}
		}
		k.plan.Lists = append(k.plan.Lists, ListID{arg, hex.EncodeToString(h.Sum(nil))})
	}
	return stdin, nil
}

// hashObjects hashes the lists that arg, the URL of an object or a prefix, stands
// for.
func hashObjects(k *Checkpointer, arg string) error {
	lists, _, err := inputs.Objects([]string{arg})
	if err != nil {
		return err
	}
	for _, l := range lists {
		h := sha256.New()
		r, err := l.Open()
		if err != nil {
			return err
		}
		_, err = io.Copy(h, r)
		if r.Close(); err != nil {
			return console.Fail(console.ExitInput, "%s: %w", console.Plain(l.Name, 200), err)
		}
		k.plan.Lists = append(k.plan.Lists, ListID{l.Name, hex.EncodeToString(h.Sum(nil))})
	}
	return nil
}

// readStdin copies standard input into h and into memory. After a second it prints
// a message, because nothing is sent before the input ends.
func readStdin(t *console.Terminal, h io.Writer, stdin io.Reader) (*bytes.Buffer, error) {
	defer time.AfterFunc(time.Second, func() {
		t.Say("reading standard input to its end before the first packet, for --checkpoint with --order input")
	}).Stop()
	var all bytes.Buffer
	if _, err := io.Copy(io.MultiWriter(h, &all), stdin); err != nil {
		return nil, console.Fail(console.ExitInput, "standard input: %w", err)
	}
	return &all, nil
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

// Loaded returns an error if the lists differ from those of the checkpoint. Call it
// once the lists are read.
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
	if was := k.Past.Size; was > 0 && k.size > 0 && was != k.size { // saved places are no longer valid
		return k.refuseResume(fmt.Sprintf("the a2sscan that started it found %s in the lists, but this version finds %s",
			console.Plural(was, "target"), console.Grouped(k.size)))
	}
	k.sayResumed()
	return nil
}
