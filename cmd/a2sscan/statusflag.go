package main

import (
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
)

// statusKind is how status lines are shown: --quiet means none, unless
// --status says otherwise.
func (f *scanFlags) statusKind() progress.Kind {
	if f.quiet && !f.status.Given {
		return progress.None
	}
	return progress.Kind(f.status.String())
}
