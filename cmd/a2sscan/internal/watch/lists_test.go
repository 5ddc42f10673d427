package watch

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// relisted is a watch whose lists are read again. The test holds changing except in after,
// so the watch can't read what the test changes.
type relisted struct {
	*Watch
	t          *testing.T
	changing   sync.Mutex
	said       *strings.Builder
	file       string
	hangup     chan os.Signal
	fails      bool
	unclear    bool // the file of windows can't be read
	servers    int  // in the list
	references int
	excluded   netip.Addr
	loads      int
	fetched    int
	extended   int
	changes    int
}

// start starts relist in a bubble.
func (l *relisted) start(every time.Duration) {
	l.t.Helper()
	l.said, l.hangup, l.file = &strings.Builder{}, make(chan os.Signal), filepath.Join(l.t.TempDir(), "servers.txt")
	state := newState(l.t)
	rules := usual()
	for i := range l.references {
		rules.References = append(rules.References, newFake(100+i).addr)
	}
	rules.Excluded = func(a netip.Addr) bool {
		l.changing.Lock()
		defer l.changing.Unlock()
		return a == l.excluded
	}
	l.Watch = &Watch{Options: &Options{Rules: rules, DB: state, Log: &Log{}, Terminal: console.New(l.said)}, watcher: New(rules, time.Now())}
	l.Lists = Lists{
		Load: func(_ context.Context, fetch bool) (*List, error) {
			l.changing.Lock()
			defer l.changing.Unlock()
			if l.loads++; fetch {
				l.fetched++
			}
			if l.fails {
				return nil, errors.New("no such file")
			}
			all := &List{Labels: map[netip.AddrPort]string{newFake(0).addr: "Survival"}}
			for i := range l.servers {
				all.Addrs = append(all.Addrs, newFake(i).addr)
			}
			return all, nil
		},
		Windows: func() ([]Window, error) {
			l.changing.Lock()
			defer l.changing.Unlock()
			if l.unclear {
				return nil, errors.New("line 1: no time")
			}
			return windows(l.t, time.UTC, "Creative daily 04:00-05:00"), nil
		},
		Extend: func() {
			l.changing.Lock()
			defer l.changing.Unlock()
			l.extended++
		},
		Files: []string{l.file}, Every: every, Reload: l.hangup,
	}
	l.change()
	check(l.t, l.list(l.t.Context(), atStart))
	l.changing.Lock()
	ctx, cancel := context.WithCancel(l.t.Context())
	ended := make(chan error)
	go func() { ended <- l.relist(ctx) }()
	l.t.Cleanup(func() { cancel(); check(l.t, <-ended) })
}

// change gives the file another size.
func (l *relisted) change() {
	l.changes++
	check(l.t, os.WriteFile(l.file, make([]byte, l.changes), 0o666))
}

// after lets time pass, and checks how often the lists were read by then, and the last
// thing that was said.
func (l *relisted) after(d time.Duration, loads int, said string) {
	l.t.Helper()
	l.changing.Unlock()
	time.Sleep(d)
	synctest.Wait()
	l.changing.Lock()
	if l.loads != loads {
		l.t.Errorf("read %d times, want %d", l.loads, loads)
	}
	if text := l.said.String(); !strings.Contains(text, said) || said == "" && text != "" {
		l.t.Errorf("said %q, want %q", text, said)
	}
	l.said.Reset()
}

// TestListChanged: a file that changed is read when it is the same at two looks, and a list
// that fails or shrank waits for SIGHUP.
func TestListChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &relisted{t: t, servers: 13}
		l.start(6 * time.Hour)
		l.after(10*time.Minute, 1, `maintenance of "Creative" matches no server of the list`)
		l.servers = 15
		l.change()
		l.after(time.Minute, 1, "")
		if l.extended != 1 {
			t.Errorf("additions to exclusions were read %d times", l.extended)
		}
		l.change() // somebody still writes it
		l.after(time.Minute, 1, "")
		l.after(time.Minute, 2, "list read again: 15 servers, 2 new, 0 removed")
		if l.fetched != 1 {
			t.Errorf("the master was asked %d times", l.fetched)
		}
		l.servers = 14
		l.change()
		l.after(2*time.Minute, 3, "list read again: 14 servers, 0 new, 1 removed")

		l.fails = true
		check(t, os.Remove(l.file))
		l.after(2*time.Minute, 4, "continues with the old list: no such file")
		l.after(20*time.Minute, 4, "")
		l.fails, l.servers = false, 6
		l.change()
		l.after(2*time.Minute, 5, "the new list has 6 servers instead of 14")
		l.after(20*time.Minute, 5, "")
		l.hangup <- os.Interrupt
		l.after(time.Second, 6, "list read again: 6 servers, 0 new, 8 removed")
		if l.fetched != 2 {
			t.Errorf("the master was asked %d times", l.fetched)
		}
		l.after(6*time.Hour, 7, "list read again: 6 servers, 0 new, 0 removed")
		l.servers = 0
		l.hangup <- os.Interrupt
		l.after(time.Second, 8, "the new list has 0 servers instead of 6")
		if l.size != 6 {
			t.Errorf("%d servers", l.size)
		}
	})
}

// TestMaintenanceMended: a file of windows that is wrong, and then right again, is mentioned
// each time.
func TestMaintenanceMended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &relisted{t: t, servers: 3}
		l.start(6 * time.Hour)
		l.after(time.Minute, 1, "matches no server of the list")
		l.unclear = true
		l.change()
		l.after(2*time.Minute, 2, "so the old windows still apply: line 1: no time")
		l.unclear = false
		l.change()
		l.after(2*time.Minute, 3, "maintenance windows read again: 1 window\n")
	})
}

// TestListReferences: references do not count as servers of the list, so the same list can be
// read again however many references there are.
func TestListReferences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &relisted{t: t, servers: 2, references: 3}
		l.start(6 * time.Hour)
		l.change()
		l.after(2*time.Minute, 2, "list read again: 2 servers, 0 new, 0 removed")
		l.excluded = newFake(101).addr.Addr()
		l.change()
		l.after(2*time.Minute, 3, "the reference 127.0.12.5:27015 is excluded now, so the watch does not check it\n")
		l.servers = 0
		l.change()
		l.after(2*time.Minute, 4, "the new list has 0 servers instead of 2")
	})
}

// TestListNever: without an interval, only SIGHUP reads lists again.
func TestListNever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &relisted{t: t, servers: 3}
		l.start(0)
		l.change()
		l.after(24*time.Hour, 1, "maintenance")
		l.hangup <- os.Interrupt
		l.after(time.Second, 2, "list read again: 3 servers, 0 new, 0 removed")
	})
}

// TestLabels: the label of a server in the list is its name in events and in the state, if
// the user wants that, and a window of maintenance always finds it.
func TestLabels(t *testing.T) {
	for _, names := range []bool{false, true} {
		rules := usual()
		rules.Names = names
		x := newWorld(t, 2, rules)
		x.w.Label(map[netip.AddrPort]string{x.servers[1].addr: "Creative"})
		if labels := x.w.take().labels; len(labels) > 0 != names || labels == nil {
			t.Errorf("names %v: labels %v", names, labels)
		}
		x.maintain("Creative daily 12:10-12:40")
		x.run(3 * time.Minute)
		x.servers[1].dead = true
		x.run(5 * time.Minute)
		e := x.events[0]
		if want := map[bool]string{true: "Creative"}[names]; e.Label != want || !e.Planned || strings.Contains(Text(&e), "Creative") != names {
			t.Errorf("names %v: %+v, %s", names, e, Text(&e))
		}
	}
}
