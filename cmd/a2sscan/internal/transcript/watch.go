package transcript

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Brief returns the verdict and its first sentence. For a screen, it wraps the
// sentence.
func (s *Session) Brief(v *Verdict, onScreen bool) string {
	facts := []string{v.Text[0]}
	if onScreen {
		facts = console.Wrap(facts[0], s.Log.width, 0)
	}
	return fmt.Sprintf("verdict: %s\n%s\n", strings.ReplaceAll(v.Word, "_", " "), strings.Join(facts, "\n"))
}

// fact is something that may change from one query to the next.
type fact struct{ label, value string }

// facts returns what Watch compares: only the verdict if it is to be brief. Facts that
// the server did not send are missing.
func (s *Session) facts(v *Verdict, brief bool) []fact {
	all := []fact{{"verdict", strings.ReplaceAll(v.Word, "_", " ")}}
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

// changes describes the differences, as in "players 3 of 24 → 4 of 24".
func changes(was, now []fact) (all []string) {
	before := map[string]string{}
	for _, f := range was {
		before[f.label] = f.value
	}
	for _, f := range now {
		old, known := before[f.label]
		switch {
		case !known:
			all = append(all, f.label+" "+f.value)
		case old != f.value:
			all = append(all, f.label+" "+old+" → "+f.value)
		}
	}
	return all
}

// Watch queries the server at intervals until ctx ends, and writes a line whenever
// something has changed, or, if it is to be brief, the verdict. out must be beside t's
// status line.
func Watch(ctx context.Context, t *console.Terminal, out io.Writer, every time.Duration, brief bool,
	ask func() (*Session, *Verdict, error)) error {
	defer t.ClearStatus()
	var was []fact
	for n := 1; ; n++ {
		s, v, err := ask()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		now := s.facts(v, brief)
		if changed := changes(was, now); len(changed) > 0 {
			if _, err := fmt.Fprintf(out, "%s  %s\n", time.Now().Format(time.TimeOnly), strings.Join(changed, ", ")); err != nil {
				return err
			}
		}
		was = now
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
