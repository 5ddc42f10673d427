package main

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// inputNotes are the lists, as they were read, and then the other arguments.
func (s *scanRun) inputNotes() []ledger.Input {
	all := []ledger.Input{}
	for i, in := range s.list.Inputs() {
		note := ledger.Input{
			Name: in.Name, Format: in.Format, Compression: in.Compression, Torn: in.Truncated,
			Bytes: in.Bytes, SHA256: in.SHA256, Targets: in.Targets, Invalid: in.Invalid,
		}
		if i < len(s.fetched.sources) { // they come before all others
			note.Master = s.flags.from.note(s.fetched.err == nil)
		}
		all = append(all, note)
	}
	for _, arg := range inputs.NotFiles(s.inputs) {
		all = append(all, ledger.Input{Name: arg, Format: ledger.Argument})
	}
	return all
}

// note is what was asked of the master.
func (f *scanMasterFlags) note(whole bool) *ledger.MasterList {
	n := &ledger.MasterList{
		Protocol: "web", Address: publicURL(f.URL), Region: f.Region.String(),
		Filter: f.Filter.String(), Whole: whole,
	}
	if f.UDP != "" {
		n.Protocol, n.Address = "udp", f.UDP
	}
	return n
}

// publicURL is a Web API's URL without user, password and query.
func publicURL(s string) string {
	u, err := url.Parse(cmp.Or(s, master.DefaultWeb))
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// checkInputs refuses to write over what is read: with --order input a list would
// be cut off while it is read, and nobody would know.
func (f *scanFlags) checkInputs(args []string) error {
	read := slices.Concat(args, f.exclude.files)
	if err := inputs.Overwritten("--summary", f.summary, read); err != nil {
		return err
	}
	if f.saved.path != "" {
		for _, own := range checkpointFiles(f.saved.path) {
			if err := inputs.Overwritten("--checkpoint", own, read); err != nil {
				return err
			}
		}
	}
	if f.out.force || f.out.append && f.targets.order == flagvalue.Order(list.OrderInput) {
		return inputs.Overwritten("--output", f.out.output, read)
	}
	return nil
}
