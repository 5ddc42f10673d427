package transcript

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// facts are what may change from one query to the next.
var facts = [...]string{"verdict", "name", "map", "players", "bots", "version", "rules"}

// values returns the values of the facts: only that of the verdict if it is to be brief.
// The server did not send those that are "".
func (s *Session) values(brief bool) (v [len(facts)]string) {
	v[0] = s.Verdict.plain()
	r := s.Result
	if r.HasInfo && !brief {
		in, people := &r.Info, r.Population()
		copy(v[1:], []string{console.Quoted(string(in.Name), 60), console.Quoted(string(in.Map), 40),
			fmt.Sprintf("%d of %d", people.People, people.Places), fmt.Sprint(people.Bots),
			console.Quoted(string(in.Version), 40)})
	}
	if r.HasRules && !brief {
		v[6] = fmt.Sprint(len(r.Rules))
	}
	return v
}

// Watch queries the server at intervals until ctx ends. It writes a line whenever
// something has changed, such as "players 3 of 24 → 4 of 24", or, if it is to be
// brief, the verdict. out must be beside t's status line.
func Watch(ctx context.Context, t *console.Terminal, out io.Writer, every time.Duration, brief bool,
	ask func() (*Session, error)) error {
	defer t.ClearStatus()
	var was [len(facts)]string
	for n := 1; ; n++ {
		s, err := ask()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		var changed []string
		now := s.values(brief)
		for i, value := range now {
			switch old := was[i]; {
			case value == old || value == "":
			case old == "":
				changed = append(changed, facts[i]+" "+value)
			default:
				changed = append(changed, facts[i]+" "+old+" → "+value)
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
