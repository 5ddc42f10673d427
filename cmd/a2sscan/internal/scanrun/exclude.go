package scanrun

import (
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// Exclude chooses the addresses that are sent nothing.
type Exclude struct {
	AllowReserved bool
	Networks      []string
	Files         []string
}

// open reads the files.
func (x *Exclude) open(waiting func(pipe string)) (*list.Exclusions, error) {
	all, err := list.NewExclusions(list.ExclusionConfig{
		AllowReserved: x.AllowReserved, Networks: x.Networks, Files: x.Files, Waiting: waiting,
	})
	if err != nil {
		return nil, inputs.ExclusionFailure(err)
	}
	return all, nil
}

// hangupEnds reports whether SIGHUP has no other use than to end the scan.
func (x *Exclude) hangupEnds() bool { return len(x.Files) == 0 }
