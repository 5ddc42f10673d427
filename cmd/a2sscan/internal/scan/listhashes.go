package scan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// listsDiffer compares the lists of this run with the hashes of the earlier lists. It
// describes how the lists have changed, or returns "" if all hashes are equal.
func listsDiffer(now []list.Input, was []string) string {
	if len(now) != len(was) {
		return fmt.Sprintf("the number of lists of targets has changed from %d to %d", len(was), len(now))
	}
	for i, l := range now {
		switch {
		case l.SHA256 == was[i]:
		case slices.Contains(was, l.SHA256):
			return "the lists of targets are in a different order"
		default:
			return console.Plain(l.Name, 100) + " has changed"
		}
	}
	return ""
}

// maxStdin is the maximum length of a list on standard input, in bytes, because HashLists
// keeps this list in memory. 50 million addresses have this length.
const maxStdin = 1 << 30

// HashLists hashes the lists before the scan sends anything. Only --order input needs
// this, because such a scan sends while it reads; for a random order, the scan reads all
// lists first anyway. HashLists returns the reader to use instead of stdin.
func (k *Checkpointer) HashLists(args []string, stdin io.Reader) (io.Reader, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	for _, arg := range args {
		name, h := arg, sha256.New()
		info, err := os.Stat(arg)
		switch {
		case arg == "-":
			k.terminal.Say("reading standard input to the end before the first packet, because of --checkpoint with --order input")
			name = "standard input"
			var all []byte
			all, err = disk.ReadAll(stdin, name, maxStdin)
			h.Write(all)
			stdin = bytes.NewReader(all)
		case err != nil || info.IsDir():
			continue // not a list: list.Open handles it
		case !info.Mode().IsRegular():
			return nil, console.Fail(console.ExitUsage, "%s can't be read twice, as --checkpoint with --order input requires", console.Plain(arg, 100)).
				WithHint("omit --order input, or send the list to standard input")
		default:
			var f *os.File
			if f, err = os.Open(arg); err == nil {
				_, err = io.Copy(h, f)
				f.Close()
			}
		}
		if err != nil {
			return nil, console.Fail(console.ExitInput, "%s: %w", console.Plain(name, 200), console.WithoutPath(err))
		}
		k.lists = append(k.lists, list.Input{Name: name, SHA256: hex.EncodeToString(h.Sum(nil))})
	}
	return stdin, nil
}

// Loaded stores the hashes of the lists for the next checkpoint. For a resumed scan it
// prints which scan is resumed, or returns an error if the lists differ from the lists of
// the checkpoint. Call Loaded after list.Load.
func (k *Checkpointer) Loaded(list *list.List) error {
	if !k.Enabled {
		return nil
	}
	if k.lists == nil {
		k.lists = list.Inputs()
	}
	for _, in := range k.lists {
		k.plan.Lists = append(k.plan.Lists, in.SHA256)
	}
	k.size, _ = list.Size()
	if !k.Resumes {
		return nil
	}
	why := listsDiffer(k.lists, k.Past.Plan.Lists)
	if was := k.Past.Size; why == "" && was > 0 && k.size > 0 && was != k.size { // places in the checkpoint are no longer valid
		why = fmt.Sprintf("the version of a2sscan that started the scan found %s in the lists, but this version finds %s",
			console.Plural(was, "target"), console.Grouped(k.size))
	}
	if why != "" {
		return k.refuseResume(why)
	}
	k.sayResumed()
	return nil
}
