package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flags"
)

// runIn runs the program in this process. cobra keeps every flag that has a completion,
// so each run leaks about 200 kB.
func runIn(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

// TestConfigErrors: the message about an error in a file has the line, the key and
// a hint.
func TestConfigErrors(t *testing.T) {
	tests := []struct{ command, file, want string }{
		{"scan", "[scan]\nraet = 1", "2: raet: scan has no such flag; did you mean rate?"},
		{"scan", "raet = 1", "1: raet: no command has such a flag; did you mean rate?"},
		{"scan", "[scan]\nper_address_rate = 1", "2: per_address_rate: scan has no such flag; did you mean per-address-rate?"},
		{"scan", "[scan]\nzzzzzz = 1", "2: zzzzzz: scan has no such flag; a2sscan scan --help lists the flags"},
		{"scan", "[scan]\nudp = 'x:1'", "2: udp: scan has no such flag; master has this flag: put the key under [master]"},
		{"scan", "\n[master]\nin-flight = 1", "3: in-flight: master has no such flag; scan has this flag: put the key under [scan]"},
		{"scan", "[scna]", "1: [scna]: no such command; did you mean [scan]?"},
		{"scan", "[scan.x]\nrate = 1", "1: [scan.x]: no such command; did you mean [scan]?"},
		{"scan", "[conquer]\nrate = 1", "1: [conquer]: no such command; name a table after a command, such as [scan]"},
		{"scan", "[[scan]]\nrate = 1", "1: [[scan]]: a command can have only one table; write [scan]"},
		{"scan", "[scan]\nrate = 'fast'", "2: rate: use auto, auto:20k, or a number such as 800, 5k or 1.5M; to see which values --rate takes, run: a2sscan scan --help"},
		{"scan", "[scan]\ntimeout = 1", `2: timeout: use auto, or a time such as 300ms, 5s or 2m; to see which values --timeout takes, run: a2sscan scan --help`},
		{"scan", "[scan]\nrate = [1, 2]", "2: rate: use one value, not a list; to see which values --rate takes"},
		{"scan", "[scan]\noutput = true", "2: output: use a string or a number, not true; to see which values --output takes"},
		{"scan", "[scan]\nstrict = 'many'", "2: strict: "},
		{"scan", "[scan]\nexclude = [{a = 1}]", "2: exclude: the value of a flag can't be a table"},
		{"scan", "scan = {rate = 1, raet = 2}", "1: raet: scan has no such flag; did you mean rate?"},
		{"scan", "scan.raet = 1", "1: raet: scan has no such flag; did you mean rate?"},
		{"scan", "[scan]\r\nraet = 1\r\n", "2: raet: scan has no such flag; did you mean rate?"},
		{"scan", "[scan]\nscan-id = '''\na'''\nraet = 1", "4: raet: scan has no such flag; "},
		{"scan", "[scan]\nkey = 'hush'", "2: key: scan has no such flag; did you mean key-file?"},
		{"scan", "steam_web_api_key = 'hush'", "1: steam_web_api_key: no command has such a flag; put the key of the Web API into a separate file"},
		{"scan", "config = 'x'", "1: config is for the command line only; a configuration file can't name another configuration file"},
		{"scan", "[scan]\nhelp = true", "2: help is for the command line only; type --help"},
		{"scan", "[scan]\nfresh = true", "2: fresh is for the command line only; type --fresh: in a file, fresh = true would discard the checkpoint in every run"},
		{"scan", "[scan]\nrate = 1\nrate = 2", "3: key rate is already defined; write TOML, such as "},
		{"scan", "\n\n[scan", "3: expected ']' to close table name; write TOML, such as "},
		{"scan", "[scan]\n\"\\u001b[31m\" = 1", `2: \x1b[31m: scan has no such flag; `},
		{"scan", "rate = 'fast'", "1: rate: use auto, auto:20k, or a number such as 800, 5k or 1.5M; " +
			"a key before the first table applies to every command that has --rate: put a key for one command into the command's table, such as [scan]"},
	}
	path := filepath.Join(t.TempDir(), "f.toml")
	for _, test := range tests {
		check(t, os.WriteFile(path, []byte(test.file+"\n"), 0o666))
		code, out, err := runIn(test.command, "--config", path)
		said := strings.ReplaceAll(strings.TrimSpace(err), "\na2sscan: hint: ", "; ")
		if want := "a2sscan: " + path + ":" + test.want; code != console.ExitUsage || out != "" || !strings.HasPrefix(said, want) {
			t.Errorf("%q: exit code %d, %q\n got %s\nwant %s", test.file, code, out, said, want)
		}
		if strings.Contains(err, "hush") {
			t.Errorf("%q: the secret is shown: %s", test.file, err)
		}
	}
}

// TestConfigUnread: a configuration file that can't be read is an input error.
func TestConfigUnread(t *testing.T) {
	long := filepath.Join(t.TempDir(), "long")
	check(t, os.WriteFile(long, make([]byte, flags.MaxFileSize+1), 0o666))
	for _, name := range []string{long + "er", t.TempDir(), long, ""} {
		code, out, err := runIn("scan", "--config", name)
		if code != console.ExitInput || out != "" || !strings.HasPrefix(err, "a2sscan: --config "+name) {
			t.Errorf("%s: exit code %d, %q, %s", name, code, out, err)
		}
	}
}

func newTree() *cobra.Command {
	a := &app{term: console.New(os.Stderr), out: &results{}}
	return a.rootCommand()
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
