package masterlist

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/a2sscan/a2sscan/scanner/master"
)

// TestOutputTaken: a file that another program creates while a list is fetched stays as it
// is, unless the list may replace it.
func TestOutputTaken(t *testing.T) {
	for _, force := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "servers.txt")
		o, err := NewOutput(path, force, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Add(&master.Server{Addr: netip.MustParseAddrPort("203.0.113.7:27015")}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("mine"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := o.Close(true); (err == nil) != force {
			t.Errorf("force %v: %v", force, err)
		}
		want := map[bool]string{false: "mine", true: "203.0.113.7:27015\n"}[force]
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Errorf("force %v: the file has %q, want %q", force, got, want)
		}
	}
}
