package main

import (
	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// excludeFlags choose the addresses that are sent nothing.
type excludeFlags struct {
	allowReserved bool
	networks      []string
	files         []string
}

func (f *excludeFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringSliceVar(&f.networks, "exclude", nil,
		"send nothing to `NETS`: addresses, networks or ranges such as 203.0.113.5-203.0.113.20, commas between them; may be repeated")
	fs.StringArrayVar(&f.files, "exclude-file", nil,
		"send nothing to the networks in `FILE`, one a line with its reason behind a #; may be repeated; read again on SIGHUP, which ends a scan without this flag")
	fs.BoolVar(&f.allowReserved, "allow-reserved", false,
		"ask addresses in special-purpose networks too (private, loopback, documentation …)")
}

// open reads the files.
func (f *excludeFlags) open(waiting func(pipe string)) (*list.Exclusions, error) {
	x, err := list.NewExclusions(list.ExclusionConfig{
		AllowReserved: f.allowReserved, Networks: f.networks, Files: f.files, Waiting: waiting,
	})
	if err != nil {
		return nil, inputs.ExclusionFailure(err)
	}
	return x, nil
}

// hangupEnds reports whether SIGHUP has no other use than to end the scan.
func (f *excludeFlags) hangupEnds() bool { return len(f.files) == 0 }
