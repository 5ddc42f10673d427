package inputs

import (
	"os"
	"syscall"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// ReloadOnHangup reloads the exclusion files on each SIGHUP, until end is called.
// If there are no such files it does not handle SIGHUP, which then ends the scan.
func ReloadOnHangup(t *console.Terminal, x *list.Exclusions, files []string) (end func()) {
	if len(files) == 0 {
		return func() {}
	}
	return shutdown.Handle(func(os.Signal) { reloadExclusions(t, x) }, syscall.SIGHUP)
}

// reloadExclusions reloads the exclusion files and prints the outcome.
func reloadExclusions(t *console.Terminal, x *list.Exclusions) {
	rules, err := x.Reload()
	if err != nil {
		t.Log.Warn("exclusions not reloaded", "error", err)
		t.Say("exclusions: %v", err)
		t.Hint("the exclusions stay as they were: correct the file and send SIGHUP again")
		return
	}
	t.Log.Info("exclusions reloaded", "rules", rules)
	t.Say("exclusions: read again, %d rules hold", rules)
}
