package scan

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestTwoScansMakeOneKey: of two scans that begin at the same time, the second does not
// replace the key of the first. The script playernames.txtar has the rest.
func TestTwoScansMakeOneKey(t *testing.T) {
	output := filepath.Join(t.TempDir(), "census.ndjson")
	a, _ := OpenPlayerKey("", output)
	b, _ := OpenPlayerKey("", output)
	if err := a.Store(); err != nil {
		t.Fatal(err)
	}
	if err := b.Store(); err == nil || !strings.Contains(err.Error(), "another scan has just created") {
		t.Errorf("the second: %v", err)
	}
	if c, err := OpenPlayerKey("", output); err != nil || c.ID() != a.ID() {
		t.Errorf("the file has %v, %v, want that of the first", c.ID(), err)
	}
}
