package masterlist

import (
	"context"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/redact"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// FetchShown fetches the list, and shows its progress in the log and, unless quiet
// is set, in a status line. It calls flush with each report of progress.
func (o *Options) FetchShown(ctx context.Context, t *console.Terminal, h Handlers, quiet bool, flush func() error) (master.Stats, error) {
	for _, key := range o.Filter.Unknown() {
		t.Say("filter %s: no known master understands it; masters ignore what they do not understand", console.Quoted(key, 40))
	}
	if o.KeyFileIsShared() {
		t.Say("warning: other users of this machine can read the key in %s", console.Plain(redact.Keys(o.KeyFile), 200))
		t.Hint("chmod 600 makes it yours alone")
	}
	p := NewProgress()
	h.Progress = func(now master.Progress) {
		p.Update(now)
		flush() // if it fails, the next write returns the error again
	}
	if !quiet {
		defer t.RepeatStatus(progress.Interval(t), p.Line)()
	}
	t.Log.Info("list begun", "from", o.Source())
	stats, err := o.Fetch(ctx, h)
	if err != nil {
		t.Log.Warn("list not complete", "from", o.Source(), "servers", stats.Servers, "requests", stats.Requests, "error", err)
	} else {
		t.Log.Info("list fetched", "from", o.Source(), "servers", stats.Servers, "requests", stats.Requests, "end", stats.End.String())
	}
	return stats, err
}

// EmptyList returns the error for a list without servers.
func (o *Options) EmptyList(s *master.Stats) error {
	return console.Fail(console.ExitInput, "%s: the list is empty", o.Source()).WithHint("%s", o.emptyHint(s))
}

// emptyHint returns a hint at why the list is empty.
func (o *Options) emptyHint(s *master.Stats) string {
	switch {
	case s.Elsewhere > 0:
		return "all of the servers are in other regions: omit --region"
	case s.Invalid > 0:
		return "no entry had an address: check that it is a master"
	case len(o.Filter) > 0 || master.Region(o.Region) != master.World:
		return "no server meets the filter: remove some of its conditions"
	}
	return "the master knows no servers, or does not list them"
}
