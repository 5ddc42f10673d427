package scanrun

import (
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// Exclude chooses addresses that the scan must send nothing to.
type Exclude struct {
	AllowReserved bool
	Networks      []string
	Files         []string
}

// Open reads the exclusion files and returns all exclusions. note is called
// if it waits for the writer of a named pipe.
func (x *Exclude) Open(note func(string)) (*list.Exclusions, error) {
	all, err := list.NewExclusions(x.AllowReserved, x.Networks, x.Files, note)
	if err != nil {
		return nil, inputs.ExclusionFailure(err)
	}
	return all, nil
}

// hangupEnds reports whether SIGHUP ends the scan. With exclusion files it reloads
// them instead.
func (x *Exclude) hangupEnds() bool { return len(x.Files) == 0 }
