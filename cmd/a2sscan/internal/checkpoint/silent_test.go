package checkpoint

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
)

// silentSnapshot returns a snapshot with n silent targets numbered from first,
// every third with a tag. The second pass has started for looked of them.
func silentSnapshot(first, n, looked int) *scanner.Snapshot {
	s := &scanner.Snapshot{SecondPassed: looked}
	for i := first; i < first+n; i++ {
		s.Silent = append(s.Silent, 127<<40|uint64(i)<<16|27015)
		if i%3 == 0 {
			s.SilentLabels = slices.Grow(s.SilentLabels, 1)[:len(s.SilentLabels)+1]
			l := &s.SilentLabels[len(s.SilentLabels)-1]
			l.Index, l.Tag, l.Master = len(s.Silent)-1, "tag", "{}"
		}
	}
	return s
}

// silentTargets returns the targets numbered first to last-1.
func silentTargets(first, last int) (all []scanner.Target) {
	for i := first; i < last; i++ {
		ip := netip.AddrFrom4([4]byte{127, byte(i >> 16), byte(i >> 8), byte(i)})
		t := scanner.Target{Addr: netip.AddrPortFrom(ip, 27015)}
		if i%3 == 0 {
			t.Tag, t.Master = "tag", "{}"
		}
		all = append(all, t)
	}
	return all
}

// TestSilentFile: the file grows with each checkpoint. A run that resumes from any
// checkpoint finds the targets that were waiting then, ignores what was written
// later, and appends its own targets.
func TestSilentFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "silent")
	check(t, os.WriteFile(path, []byte("left over from an abandoned scan"), 0o666))
	one := silentFile{path: path}
	var states []SilentState
	for _, s := range []*scanner.Snapshot{
		silentSnapshot(0, 0, 0), silentSnapshot(0, 10, 0), silentSnapshot(0, 10, 0),
		silentSnapshot(0, 500, 0), silentSnapshot(0, 500, 7), silentSnapshot(0, 900, 7),
	} {
		st, err := one.save(s, 0)
		check(t, err)
		states = append(states, st)
	}
	one.close(false)
	if states[0] != (SilentState{}) || states[1] != states[2] || states[3].Targets != 500 {
		t.Errorf("%+v", states)
	}
	two := silentFile{path: path}
	waiting, err := two.load(states[4])
	check(t, err)
	if got := slices.Collect(waiting); !reflect.DeepEqual(got, silentTargets(7, 500)) {
		t.Errorf("%d targets wait, or the wrong ones", len(got))
	}
	// The second process finds the other 493 waiting, adds 3 and starts the second
	// pass of 20.
	st, err := two.save(silentSnapshot(7, 496, 20), 7)
	check(t, err)
	two.close(false)
	three := silentFile{path: path}
	waiting, err = three.load(st)
	if err != nil || st.SecondPassed != 27 {
		t.Fatalf("%+v, %v", st, err)
	}
	if got := slices.Collect(waiting); !reflect.DeepEqual(got, silentTargets(27, 503)) {
		t.Errorf("%d targets wait, or the wrong ones", len(got))
	}
	if info, err := os.Stat(path); err != nil || info.Size() != st.Bytes {
		t.Errorf("%v, %v: data after the checkpoint is still there", info.Size(), err)
	}
	three.close(true)
	if _, err := three.load(st); !errors.Is(err, errSilent) {
		t.Errorf("%v for a missing file", err)
	}
	check(t, os.WriteFile(path, make([]byte, st.Bytes), 0o666))
	if _, err := three.load(st); !errors.Is(err, errSilent) {
		t.Errorf("%v for another file", err)
	}
}
