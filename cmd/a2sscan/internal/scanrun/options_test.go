package scanrun

import (
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
)

// TestStatusKind: with --quiet no status is shown, unless --status is given.
func TestStatusKind(t *testing.T) {
	for _, test := range []struct {
		quiet bool
		flag  string
		want  progress.Kind
	}{
		{false, "", "text"}, {true, "", "none"}, {false, "json", "json"}, {true, "json", "json"}, {false, "none", "none"},
	} {
		f := Options{Quiet: test.quiet}
		if test.flag != "" {
			if err := f.Status.Set(test.flag); err != nil {
				t.Fatal(err)
			}
		}
		if got := f.StatusKind(); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
	if new(flagvalue.StatusKind).Set("xml") == nil {
		t.Error("--status xml is accepted")
	}
}
