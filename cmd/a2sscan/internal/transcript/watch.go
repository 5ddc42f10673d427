package transcript

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// fact is something that may change from one query to the next.
type fact struct{ label, value string }

// facts returns what Watch compares: only the verdict if it is to be brief. Facts that
// the server did not send are missing.
func (s *Session) facts(brief bool) []fact {
	all := []fact{{"verdict", s.Verdict.plain()}}
	r := s.Result
	if brief {
		return all
	}
	if r.HasInfo {
		in, people := &r.Info, r.Population()
		all = append(all, fact{"name", console.Quoted(string(in.Name), 60)}, fact{"map", console.Quoted(string(in.Map), 40)},
			fact{"players", fmt.Sprintf("%d of %d", people.People, people.Places)}, fact{"bots", fmt.Sprint(people.Bots)},
			fact{"version", console.Quoted(string(in.Version), 40)})
	}
	if r.HasRules {
		all = append(all, fact{"rules", fmt.Sprint(len(r.Rules))})
	}
	return all
}

// Watch queries the server at intervals until ctx ends. It writes a line whenever
// something has changed, such as "players 3 of 24 → 4 of 24", or, if it is to be
// brief, the verdict. out must be beside t's status line.
func Watch(ctx context.Context, t *console.Terminal, out io.Writer, every time.Duration, brief bool,
	ask func() (*Session, error)) error {
	defer t.ClearStatus()
	var was map[string]string
	for n := 1; ; n++ {
		s, err := ask()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		var changed []string
		now := map[string]string{}
		for _, f := range s.facts(brief) {
			now[f.label] = f.value
			switch old, known := was[f.label]; {
			case !known:
				changed = append(changed, f.label+" "+f.value)
			case old != f.value:
				changed = append(changed, f.label+" "+old+" → "+f.value)
			}
		}
		was = now
		if len(changed) > 0 {
			if _, err := fmt.Fprintf(out, "%s  %s\n", time.Now().Format(time.TimeOnly), strings.Join(changed, ", ")); err != nil {
				return err
			}
		}
		if t.Interactive {
			t.ShowStatus(fmt.Sprintf("asked %s, again every %v; Ctrl-C ends", console.Plural(n, "time"), every))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}
