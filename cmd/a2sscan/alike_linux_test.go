package main

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet"
)

// TestInfoAlike scans simulated servers of the usual kinds, some with escape sequences
// in their names. The info that decode makes from the datagrams, and the info that cat,
// jq and DuckDB show, must be that of the record.
func TestInfoAlike(t *testing.T) {
	t.Parallel()
	_, port := serve(t, fleet.Config{
		Network: netip.MustParsePrefix("127.71.0.0/26"), Seed: 4,
		Hostile: 0.05, HostileKinds: []fleet.Kind{fleet.Escapes},
	})
	census := filepath.Join(t.TempDir(), "census.ndjson")
	ran(t, "scan", "127.71.0.0/26", "-p", port, "--allow-reserved", "--raw", "--cooldown", "0", "-q", "-o", census)
	written, err := os.ReadFile(census)
	if err != nil {
		t.Fatal(err)
	}
	want := infos(t, written)
	if len(want) < 60 {
		t.Fatalf("%d of 64 servers have an info", len(want))
	}
	t.Run("decode", func(t *testing.T) {
		again := census + ".decoded"
		ran(t, "decode", census, "-o", again)
		lines, err := os.ReadFile(again)
		if err != nil {
			t.Fatal(err)
		}
		alike(t, want, infos(t, lines))
	})
	t.Run("cat", func(t *testing.T) { alike(t, want, infos(t, ran(t, "cat", census))) })
	t.Run("jq", func(t *testing.T) {
		jq, err := exec.LookPath("jq")
		if err != nil {
			t.Skip("SKIPPED, NOTHING WAS READ WITH JQ: there is no jq in PATH (Debian: package jq)")
		}
		alike(t, want, infos(t, printed(t, exec.Command(jq, "-c", "select(.info) | {ip, info}", census))))
	})
	t.Run("DuckDB", func(t *testing.T) {
		from := strings.TrimSuffix(strings.TrimSpace(string(ran(t, "schema", "duckdb", census))), ";")
		alike(t, want, infos(t, duckDB(t, "", "SELECT to_json(c)::VARCHAR AS j FROM ("+from+") c WHERE info IS NOT NULL")))
	})
}

func printed(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// infos returns the info of each record, by IP address.
func infos(t *testing.T, lines []byte) map[string]any {
	t.Helper()
	all := map[string]any{}
	for line := range bytes.Lines(lines) {
		var r struct {
			IP   string
			Info map[string]any
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&r); err != nil {
			t.Fatalf("%v: %.200s", err, line)
		}
		if r.Info != nil {
			all[r.IP] = present(r.Info)
		}
	}
	return all
}

// present removes null values, because DuckDB has null for every absent key.
func present(object map[string]any) map[string]any {
	for key, v := range object {
		if part, ok := v.(map[string]any); ok {
			object[key] = present(part)
		} else if v == nil {
			delete(object, key)
		}
	}
	return object
}

func alike(t *testing.T, want, got map[string]any) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d servers, want %d", len(got), len(want))
	}
	for ip, info := range want {
		if !reflect.DeepEqual(got[ip], info) {
			t.Errorf("%s: %q\nwant %q", ip, got[ip], info)
		}
	}
}
