package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/masterlist"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/simulation"
	"github.com/a2sscan/a2sscan/sink"
)

// web runs the master command against a Web API on loopback whose handler is answer. It
// returns the command's exit code and output.
func web(t *testing.T, answer http.HandlerFunc, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	server := httptest.NewServer(answer)
	defer server.Close()
	key := filepath.Join(t.TempDir(), "key")
	check(t, os.WriteFile(key, []byte("SECRETSECRET"), 0o600))
	var out, errs bytes.Buffer
	args = append([]string{"master", "--url", server.URL, "--key-file", key}, args...)
	code = run(args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// TestMasterHostile: text from a master is shown escaped. The key is never shown,
// even if the master sends it back in its list.
func TestMasterHostile(t *testing.T) {
	code, stdout, stderr := web(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"response":{"servers":[{"addr":"\u001b[31m%s"},{"addr":"127.0.0.1:7","name":"\u001b]0;%s\u0007\u202e"}]}}`,
			r.URL.Query().Get("key"), "title")
	}, "--json")
	if code != console.ExitOK || strings.ContainsAny(stdout+stderr, "\x1b\x07\u202e") {
		t.Errorf("exit code %d: %q %q", code, stdout, stderr)
	}
	if strings.Contains(stdout+stderr, "SECRET") || !strings.Contains(stderr, "1 without an address") {
		t.Errorf("%q %q", stdout, stderr)
	}
}

// TestMasterHostileStatus: the key is not shown even if a master sends it back in
// an error.
func TestMasterHostileStatus(t *testing.T) {
	t.Parallel() // most of the time it waits between requests
	code, stdout, stderr := web(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Bad", "\x1b[31m?"+r.URL.RawQuery)
	})
	if code != console.ExitInput || strings.Contains(stdout+stderr, "SECRET") || strings.Contains(stderr, "\x1b") {
		t.Errorf("a bad header: exit code %d: %q %q", code, stdout, stderr)
	}
	for _, status := range []int{301, 400, 401, 404, 418, 500} {
		_, stdout, stderr := web(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/?"+r.URL.RawQuery)
			w.Header().Set("Retry-After", r.URL.RawQuery)
			http.Error(w, r.URL.String(), status)
		})
		if strings.Contains(stdout+stderr, "SECRET") || !strings.Contains(stderr, fmt.Sprint(status)) {
			t.Errorf("%d: %q %q", status, stdout, stderr)
		}
	}
}

// TestKeyInTheWrongPlace gives a key where it does not belong. It must appear
// neither on the screen nor in the log.
func TestKeyInTheWrongPlace(t *testing.T) {
	const key = "0123456789ABCDEF0123456789abcdef"
	dir := t.TempDir()
	t.Chdir(dir)
	logFile := filepath.Join(dir, "log")
	config := "[scan]\nmaster = 'web'\nkey-file = '" + key + "'\n"
	check(t, os.WriteFile("c.toml", []byte(config), 0o666))
	for _, args := range [][]string{
		{"master", "--web", "--key-file", key, "--log-file", logFile},
		{"master", "--web", "--key-file", "./" + key},
		{"master", "--web", key},
		{"master", "--web", "--key", key},
		{"master", "--web", "--key=" + key},
		{"master", "--web", "--url", "https://127.0.0.1:1/?key=" + key},
		{"master", "--udp", "https://127.0.0.1:1/?key=" + key + "&limit=5"},
		{"master", "--udp", "127.0.0.1:1/?KEY=" + key[:20]},
		{"master", "--udp", key},
		{"scan", "--master", "127.0.0.1:1/?key=" + key},
		{"scan", "--master", "web", "--key-file", key, "--log-file", logFile},
		{"scan", "--config", "c.toml"},
	} {
		code, out, said := runIn(args...)
		shown := out + said
		if b, err := os.ReadFile(logFile); err == nil {
			shown += string(b)
		}
		if code == 0 || said == "" || strings.Contains(shown, key[:20]) {
			t.Errorf("%q: exit code %d, %s", args, code, shown)
		}
	}
}

// TestSharedKeyFile: if other users can read a key file, there is a warning, but
// the list is fetched.
func TestSharedKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.txt")
	check(t, os.WriteFile(path, []byte("0123456789ABCDEF0123456789ABCDEF\n"), 0o600))
	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true, 0o644: true} {
		check(t, os.Chmod(path, mode))
		code, out, said := web(t, func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"response":{"servers":[{"addr":"127.0.0.1:27015"}]}}`)
		}, "--key-file", path)
		if code != 0 || out != "127.0.0.1:27015\n" || warned != strings.Contains(said, "other users of this machine can read the key") {
			t.Errorf("%v: exit code %d, %s%s", mode, code, out, said)
		}
	}
}

// servedMaster lets a master answer until stop is called, which returns its error.
func servedMaster(m *fleet.Master) (stop func() error, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	err = m.Listen()
	go func() { done <- m.Serve(ctx) }()
	return func() error { cancel(); return <-done }, err
}

// TestMasterToScan goes from a master to a census in one line of shell, and compares
// the census with the fleet. The list is passed as text, as JSON, through a file, and
// within one command.
func TestMasterToScan(t *testing.T) {
	t.Parallel()
	cfg, _ := serve(t, fleet.Config{
		Network: netip.MustParsePrefix("127.72.0.0/24"), Ports: []uint16{0, 0}, Kinds: kinds(false), Alive: 0.78, Seed: 60,
	})
	m, err := fleet.NewMaster(fleet.MasterConfig{Fleet: cfg, Also: []netip.AddrPort{
		netip.MustParseAddrPort("0.0.0.0:27015"), netip.MustParseAddrPort("127.72.0.1:0"),
	}})
	check(t, err)
	stop, err := servedMaster(m)
	check(t, err)
	t.Cleanup(func() { check(t, stop()) })
	const (
		udp  = `a2sscan master --udp "$MASTER" -q `
		web  = `a2sscan master --url "$WEB" -q `
		scan = `a2sscan scan -v --allow-reserved --rate 3k --timeout 400ms --retries 3 --cooldown 100ms -o "$OUT" `
	)
	tests := []struct {
		name, script string
		keepsMaster  bool
	}{
		{"text", udp + "| " + scan, false},
		{"web", web + "--json | " + scan + "--keep-master", true},
		{"file", web + `--json -o "$OUT.list"; ` + scan + `--keep-master "$OUT.list"`, true},
		{"one command", scan + `--master "$MASTER"`, false},
		{"one command, web", scan + `--master "$WEB" --keep-master`, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel() // most of the time they wait for slow servers
			out := filepath.Join(t.TempDir(), "census.ndjson.zst")
			cmd := exec.Command("sh", "-euc", test.script)
			cmd.Env = append(cmd.Environ(), "MASTER="+m.UDPAddr(), "WEB="+m.URL(), "OUT="+out, masterlist.KeyVariable+"=any")
			said, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			if !strings.Contains(string(said), " 2 unscannable ") {
				t.Errorf("0.0.0.0 and port 0 are not counted:\n%s", said)
			}
			report, err := simulation.CompareFile(cfg, out)
			if err != nil || !simulation.Proven(report) || report.Servers == 0 {
				t.Errorf("%v %s\n%s\n%s", err, simulation.Proof(report), strings.Join(report.Examples, "\n"), said)
			}
			t.Logf("%s\n%s", simulation.Proof(report), regexp.MustCompile(`(?m)^.*(rate|targets): .*$`).FindAllString(string(said), -1))
			checkKept(t, out, test.keepsMaster)
		})
	}
}

// checkKept fails the test unless every record has the master's entry or, if want is
// false, no record has it.
func checkKept(t *testing.T, census string, want bool) {
	t.Helper()
	r, err := sink.Open(census)
	check(t, err)
	defer r.Close()
	for {
		line, err := r.Next()
		if err != nil {
			return
		}
		if got := strings.Contains(string(line), `,"master":{`); got != want {
			t.Fatalf("record with the master's entry: %v: %.600s", got, line)
		}
	}
}
