package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

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
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED, NO WARNING WAS TRIED: Windows has no mode bits")
	}
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
