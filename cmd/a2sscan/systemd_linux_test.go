package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

const unitFolder = "../../packaging/systemd"

// TestUnits: systemd finds no mistake in the units.
func TestUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("SKIPPED, THE UNITS WERE NOT VERIFIED BY SYSTEMD: there is no systemd-analyze in PATH " +
			"(Debian: package systemd); TestUnitCommand holds the commands all the same")
	}
	program, err := os.Executable()
	check(t, err)
	dir := t.TempDir()
	var units []string
	for _, name := range []string{"a2sscan.service", "a2sscan-watch.service", "a2sscan.timer"} {
		unit := unitFile(t, name)
		unit = strings.ReplaceAll(unit, "/usr/bin/a2sscan", program) // the program must exist
		path := filepath.Join(dir, name)
		check(t, os.WriteFile(path, []byte(unit), 0o666))
		units = append(units, path)
	}
	out, err := exec.Command(analyze, append([]string{"verify"}, units...)...).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "a2sscan") {
			t.Errorf("%s", line)
		}
	}
	if err != nil && !t.Failed() {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = exec.Command(analyze, "security", "--offline=true", "--threshold=20", filepath.Join(dir, "a2sscan-watch.service")).CombinedOutput()
	if err != nil {
		t.Errorf("the exposure level of the watch is above 2.0: %v\n%s", err, out)
	}
}

func unitFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(unitFolder, name))
	check(t, err)
	return string(b)
}

// TestUnitCommand: the command in the service is valid. systemd does not restart it after
// those exit codes that need a person's attention.
func TestUnitCommand(t *testing.T) {
	for _, name := range []string{"a2sscan-watch.service", "a2sscan.service"} {
		line := regexp.MustCompile(`(?m)^ExecStart=/usr/bin/(.*)$`).FindStringSubmatch(unitFile(t, name))
		if line == nil {
			t.Fatal("no command in the service")
		}
		checkCommandLine(t, line[1])
	}
	unit := unitFile(t, "a2sscan.service")
	for _, want := range []string{"\nType=exec\n", "\nOnFailure=a2sscan-alert.service\n", "\nRestartPreventExitStatus=1 5 6 7 8\n", "\nSuccessExitStatus=4\n"} {
		if !strings.Contains(unit, want) {
			t.Errorf("the service lacks %s", strings.TrimSpace(want))
		}
	}
}

// TestServiceConfig: the configurations of the services are valid, even if every flag
// in their comments is set, and they show the defaults.
func TestServiceConfig(t *testing.T) {
	configured(t, "watch", "config", "listen", "public-name", "page-link", "exclude-file",
		"reference", "names", "maintenance", "crowd", "remind", "webhook-format", "webhook-role")
	a, set := configured(t, "scan", "rotate", "mmdb", "exclude-file", "config", "min-hitrate", "max-send-errors",
		"max-runtime", "max-outage", "metrics")
	if rotate := set.Lookup("rotate").Value.String(); rotate != "1G" || len(a.configFile.Flags) < 12 {
		t.Errorf("rotate = %s; %d flags", rotate, len(a.configFile.Flags))
	}
}

// configured runs a command's configuration with every flag in its comments set. All but
// the examples must have their defaults.
func configured(t *testing.T, name string, examples ...string) (*app, *pflag.FlagSet) {
	t.Helper()
	text, err := os.ReadFile("../../packaging/etc/" + name + ".toml")
	check(t, err)
	path := filepath.Join(t.TempDir(), name+".toml")
	check(t, os.WriteFile(path, regexp.MustCompile(`(?m)^#([a-z-]+ = )`).ReplaceAll(text, []byte("$1")), 0o666))
	a := &app{term: console.New(os.Stderr), out: &results{}}
	cmd, _, _ := a.rootCommand().Find([]string{name})
	check(t, cmd.ParseFlags([]string{"--config", path}))
	if _, err := a.configure(cmd, nil); err != nil {
		t.Fatal(err)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Value.String() != f.DefValue && !slices.Contains(examples, f.Name) {
			t.Errorf("%s: %s = %s, but the default is %s", name, f.Name, f.Value, f.DefValue)
		}
	})
	return a, cmd.Flags()
}
