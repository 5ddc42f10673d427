package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeyInTheWrongPlace types a key where it does not belong. It must appear neither
// on the screen nor in the log.
func TestKeyInTheWrongPlace(t *testing.T) {
	const key = "0123456789ABCDEF0123456789abcdef"
	dir := t.TempDir()
	t.Chdir(dir)
	logFile := filepath.Join(dir, "log")
	config := "[scan]\nmaster = 'web'\nkey-file = '" + key + "'\n"
	if err := os.WriteFile("c.toml", []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"master", "--web", "--key-file", key, "--log-file", logFile, "--log-level", "debug"},
		{"master", "--web", "--key-file", "./" + key},
		{"master", "--web", key},
		{"master", "--web", "--key", key},
		{"master", "--web", "--key=" + key},
		{"master", "--web", "--url", "https://127.0.0.1:1/?key=" + key},
		{"master", "--udp", "https://127.0.0.1:1/?key=" + key + "&limit=5"},
		{"master", "--udp", "127.0.0.1:1/?KEY=" + key[:20]},
		{"master", "--udp", key},
		{"scan", "--master", "127.0.0.1:1/?key=" + key},
		{"scan", "--master", "web", "--key-file", key, "--log-file", logFile, "--log-level", "debug"},
		{"scan", "--master", "web", "--key-file", key, "--print-config"},
		{"scan", "--master", "https://127.0.0.1:1/?key=" + key, "--print-config"},
		{"scan", "--config", "c.toml", "--print-config"},
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
