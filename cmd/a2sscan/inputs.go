package main

import (
	"cmp"
	"net/url"
	"os"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// inputNotes are the lists, as they were read, and then the other arguments.
func inputNotes(list *list.List, args []string, from *scanMasterFlags) []ledger.Input {
	all := []ledger.Input{}
	for i, in := range list.Inputs() {
		note := ledger.Input{
			Name: in.Name, Format: in.Format, Compression: in.Compression, Torn: in.Truncated,
			Bytes: in.Bytes, SHA256: in.SHA256, Targets: in.Targets, Invalid: in.Invalid,
		}
		if i < len(from.sources) { // they come before all others
			note.Master = from.note()
		}
		all = append(all, note)
	}
	for _, arg := range unlisted(args) {
		all = append(all, ledger.Input{Name: arg, Format: "argument"})
	}
	return all
}

// note is what was asked of the master.
func (f *scanMasterFlags) note() *ledger.MasterList {
	n := &ledger.MasterList{
		Protocol: "web", Address: publicURL(f.URL), Region: f.Region.String(),
		Filter: f.Filter.String(), Whole: f.partial == nil,
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

// tornInput is the error of a run in which a list was cut off: what was there
// was scanned.
func tornInput(list *list.List) error {
	for _, in := range list.Inputs() {
		if in.Truncated {
			return console.Fail(console.ExitInput, "%s can't be read whole: its compressed data ends early", console.Plain(in.Name, 100)).
				WithHint("%d targets were read from it; --strict refuses such a list before anything is sent", in.Targets)
		}
	}
	return nil
}

// checkInputs refuses to write over what is read: with --order input a list would
// be cut off while it is read, and nobody would know.
func (f *scanFlags) checkInputs(args []string) error {
	read := slices.Concat(args, f.excludeFlags.files)
	if err := writtenOver("--summary", f.summary, read); err != nil {
		return err
	}
	if f.checkpoint != "" {
		for _, own := range checkpointFiles(f.checkpoint) {
			if err := writtenOver("--checkpoint", own, read); err != nil {
				return err
			}
		}
	}
	if f.force || f.append && f.order == flagvalue.Order(list.OrderInput) {
		return writtenOver("--output", f.output, read)
	}
	return nil
}

// writtenOver is the error of a flag that names a file which is read.
func writtenOver(flag, path string, read []string) error {
	for _, in := range read {
		if sameFile(in, path) {
			return console.Fail(console.ExitUsage, "%s names a file that is read: %s", flag, console.Plain(in, 200)).
				WithHint("it would be written over: name another one")
		}
	}
	return nil
}

// sameFile reports whether two names are those of one regular file.
func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && x.Mode().IsRegular() && os.SameFile(x, y)
}
