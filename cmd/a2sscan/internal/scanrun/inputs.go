package scanrun

import (
	"cmp"
	"net/url"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/masterlist"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// inputNotes describes the inputs for the summary: first the lists, in the order in
// which they were read, then the other arguments.
func (s *Run) inputNotes() []ledger.Input {
	all := []ledger.Input{}
	for i, in := range s.list.Inputs() {
		note := ledger.Input{
			Name: in.Name, Format: in.Format, Compression: in.Compression, Torn: in.Truncated,
			Bytes: in.Bytes, SHA256: in.SHA256, Targets: in.Targets, Invalid: in.Invalid,
		}
		if i < len(s.fetched.sources) { // fetched lists come before all others
			note.Master = masterNote(&s.opts.From, s.fetched.err == nil)
		}
		all = append(all, note)
	}
	for _, arg := range inputs.NotFiles(s.inputs) {
		all = append(all, ledger.Input{Name: arg, Format: ledger.Argument})
	}
	return all
}

// masterNote describes the query to the master for the summary. whole is set if the
// master sent its complete list.
func masterNote(m *masterlist.Options, whole bool) *ledger.MasterList {
	n := &ledger.MasterList{
		Protocol: "web", Address: publicURL(m.URL), Region: m.Region.String(),
		Filter: m.Conditions().String(), Whole: whole,
	}
	if m.UDP != "" {
		n.Protocol, n.Address = "udp", m.UDP
	}
	return n
}

// publicURL returns the URL of a Web API without user, password and query. If s is
// empty, that is the default URL; if s is not a URL, publicURL returns "".
func publicURL(s string) string {
	u, err := url.Parse(cmp.Or(s, master.DefaultWeb))
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
