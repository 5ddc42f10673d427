package scanrun

import (
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
)

// statusKind returns how progress is shown: not at all with --quiet, unless
// --status is given.
func (o *Options) statusKind() progress.Kind {
	if o.Quiet && !o.Status.Given {
		return progress.None
	}
	return progress.Kind(o.Status.String())
}
