package main

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// exporter is the only package that may import Prometheus' library. Only packages whose
// rows name exporter, and packages above them, may depend on it.
const exporter = "cmd/a2sscan/internal/metrics"

const module = "github.com/a2sscan/a2sscan/"

// simulatedServers stands for this package and for those in its folder.
const simulatedServers = "bench/fleet"

// arrows maps each package to the packages of this module that it may import. It may
// also import what those may import in turn, so the packages form layers. Tests may
// import more.
var arrows = map[string][]string{
	"wire":                     {},
	"reasm":                    {"wire"},
	"scanner/udp":              {},
	"scanner/thread":           {},
	"scanner/timing":           {},
	"scanner/target":           {},
	"scanner/list":             {"scanner/target"},
	"scanner/master":           {"wire"},
	"scanner/game":             {"wire"},
	"scanner/internal/session": {"wire", "scanner/timing"},
	"scanner/internal/trips":   {"scanner/timing"},
	"scanner/congestion":       {"scanner/internal/trips"},
	"scanner":                  {"scanner/internal/session", "scanner/congestion", "reasm", "wire", "scanner/thread", "scanner/udp", "scanner/target", "scanner/game"},
	"sink/record":              {"scanner"},
	"sink/disk":                {},
	"sink":                     {"sink/record", "sink/disk"},
	"sink/census":              {"sink"},

	simulatedServers: {"sink/record", "scanner/master"},

	"cmd/a2sscan/internal/browser":    {},
	"cmd/a2sscan/internal/console":    {},
	"cmd/a2sscan/internal/ledger":     room(),
	"cmd/a2sscan/internal/flags":      room(),
	"cmd/a2sscan/internal/metrics":    room("ledger"),
	"cmd/a2sscan/internal/doctor":     {"scanner", "cmd/a2sscan/internal/console"},
	"cmd/a2sscan/internal/transcript": {"sink/record", "cmd/a2sscan/internal/console"},
	"cmd/a2sscan/internal/censusfile": append(room("ledger"), "sink/census"),
	"cmd/a2sscan/internal/decode":     room("censusfile"),
	"cmd/a2sscan/internal/report":     room("censusfile"),
	"cmd/a2sscan/internal/masterlist": append(room("censusfile"), "scanner/master"),
	"cmd/a2sscan/internal/scan":       room("masterlist", "metrics", "flags"),
	"cmd/a2sscan/internal/simulation": append(room("scan"), simulatedServers),
	"cmd/a2sscan/internal/watch/db":   {"sink/disk", "sink/census"},
	"cmd/a2sscan/internal/watch":      room("watch/db", "report"),
	"cmd/a2sscan/internal/watch/page": room("watch", "metrics"),
}

// room returns what a package of the program may import: the layers below, console, and
// others, which are paths below cmd/a2sscan/internal.
func room(others ...string) []string {
	allowed := []string{"scanner/list", "sink", "cmd/a2sscan/internal/console"}
	for _, other := range others {
		allowed = append(allowed, internalPackages+other)
	}
	return allowed
}

// skipShort skips a test under -short, which is how the race detector runs.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED under -short: it takes long, and go test without -short runs it")
	}
}

// TestArrows: no package imports a package of a layer above its own. A datagram
// passes through the layers from the lowest up, and a layer may know only those
// that the datagram has passed already.
func TestArrows(t *testing.T) {
	skipShort(t)
	for pkg, deps := range dependencies(t) {
		if bad := forbidden(pkg, deps); len(bad) > 0 {
			t.Errorf("%s imports %s, but may import only %q", pkg, bad, arrows[rowOf(pkg)])
		}
	}
}

// heavy are the libraries that read lists: list formats, compression and text
// encodings. Importing scanner must not bring them in.
var heavy = []string{
	"github.com/gaissmai/bart", "github.com/klauspost/compress", "golang.org/x/text", module + "scanner/list",
}

// forbidden returns the dependencies that pkg may not import.
func forbidden(pkg string, deps []string) (bad []string) {
	row := rowOf(pkg)
	_, fixed := arrows[row]
	allowed := append(reachable(row), row)
	internal := strings.HasPrefix(pkg, internalPackages)
	for _, dep := range deps {
		own, ours := strings.CutPrefix(dep, module)
		switch {
		case ours && (own == "cmd/a2sscan" || fixed && !slices.Contains(allowed, rowOf(own))):
			bad = append(bad, own)
		case internal && (dep == "github.com/spf13/cobra" || dep == "github.com/spf13/pflag"):
			bad = append(bad, dep) // only main knows flags
		case (pkg == "scanner" || pkg == "scanner/target") && slices.ContainsFunc(heavy, func(lib string) bool { return strings.HasPrefix(dep+"/", lib+"/") }):
			bad = append(bad, dep)
		case !ours && pkg == "wire" && strings.Contains(dep, "."):
			bad = append(bad, dep) // wire may import only the standard library
		case fixed && pkg != exporter && !slices.Contains(allowed, exporter) && strings.HasPrefix(dep, "github.com/prometheus/"):
			bad = append(bad, dep) // metrics must not cost time per datagram
		}
	}
	return bad
}

// rowOf returns the row of arrows that pkg belongs to.
func rowOf(pkg string) string {
	if strings.HasPrefix(pkg, simulatedServers+"/") {
		return simulatedServers
	}
	return pkg
}

// internalPackages is the common prefix of the program's own packages.
const internalPackages = "cmd/a2sscan/internal/"

// reachable returns the packages that pkg may import, directly or in turn.
func reachable(pkg string) (all []string) {
	for _, below := range arrows[pkg] {
		all = append(append(all, below), reachable(below)...)
	}
	return all
}

// dependencies lists the packages of the module with everything that each imports.
// Packages that the standard library vendors count as part of it.
func dependencies(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Deps}} {{.}}{{end}}`, module+"...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg := strings.TrimPrefix(fields[0], module)
		all[pkg] = slices.DeleteFunc(fields[1:], func(dep string) bool {
			return strings.HasPrefix(dep, "vendor/")
		})
	}
	for pkg := range all {
		if _, fixed := arrows[pkg]; strings.HasPrefix(pkg, internalPackages) && !fixed {
			t.Errorf("package %s is not in the table", pkg)
		}
	}
	for pkg := range arrows {
		if _, ok := all[pkg]; !ok {
			t.Fatalf("package %s is not there: %d packages listed", pkg, len(all))
		}
	}
	return all
}
