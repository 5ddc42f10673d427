package scan

import (
	"cmp"
	"net/url"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/scanner/master"
)

type fetchedList struct {
	sources []list.Source
	err     error // why the list is incomplete; nil: it is complete
}

// fetchFirst fetches the list to scan if --master is given. If the master fails before
// the end of its list, the scan queries the servers fetched so far.
func (s *Run) fetchFirst() error {
	if s.plan.From.Where == "" {
		return nil
	}
	// Check the output now, because fetching may take minutes, and the user should learn of
	// a bad --output before that.
	if _, err := s.planOutput(); err != nil {
		return err
	}
	ctx, end := Interruptible(s.plan.Exclude.hangupEnds())
	defer end()
	var source *list.Source
	var stats master.Stats
	err := s.online(ctx, func() (err error) {
		source, stats, err = s.plan.From.Load(ctx, s.term, s.plan.Quiet)
		return err
	})
	switch {
	case source == nil:
		return err
	case err != nil:
		s.fetched.err = err
		s.term.Say("the list is incomplete: scanning the %s fetched so far", console.Plural(int(stats.Servers), "server"))
		s.term.Report(err)
	}
	s.fetched.sources = []list.Source{*source}
	return nil
}

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
			m := &s.plan.From
			note.Master = &ledger.MasterList{Protocol: "udp", Address: m.UDP, Region: m.Region.String(),
				Filter: m.Conditions().String(), Whole: s.fetched.err == nil}
			if m.UDP == "" { // the URL is shown without user, password and query
				u, err := url.Parse(cmp.Or(m.URL, master.DefaultWeb))
				if note.Master.Protocol, note.Master.Address = "web", ""; err == nil {
					note.Master.Address = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
				}
			}
		}
		all = append(all, note)
	}
	for _, arg := range NotFiles(s.inputs) {
		all = append(all, ledger.Input{Name: arg, Format: ledger.Argument})
	}
	return all
}
