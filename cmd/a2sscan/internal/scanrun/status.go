package scanrun

import (
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
)

// statusKind is how status lines are shown: --quiet means none, unless
// --status says otherwise.
func (o *Options) statusKind() progress.Kind {
	if o.Quiet && !o.Status.Given {
		return progress.None
	}
	return progress.Kind(o.Status.String())
}
