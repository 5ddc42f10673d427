package watch

import (
	"context"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Lists has the functions that read which servers to watch, and says when to call them.
type Lists struct {
	// Load reads the exclusions and the lists, and returns the servers that are not excluded.
	// If fetch is true, Load fetches the list of a master. Otherwise it uses the list that it
	// fetched last.
	Load func(ctx context.Context, fetch bool) (*List, error)
	// Extend reads the files of exclusions, and adds what is new in them. Exclusions that are
	// no longer in the files apply until the next call of Load.
	Extend  func()
	Windows func() ([]Window, error) // reads the windows of maintenance
	// Files are the names of the files that these functions read. When a file changes, the
	// watch calls the functions.
	Files []string
	// Every is the time between two calls of Load and Windows. If it is 0, the watch does not
	// look for changes of files either, and calls the functions again only after a signal.
	Every time.Duration
	// Reload receives a signal when the watch should call Load and Windows at once.
	Reload <-chan os.Signal
}

// List is a list of servers.
type List struct {
	Addrs  []netip.AddrPort          // without duplicates
	Labels map[netip.AddrPort]string // the texts after the addresses
}

// reason says why the lists are read.
type reason int

const (
	atStart  reason = iota
	bySignal        // a much shorter list is accepted, too
	byChange        // the list of a master is not fetched
	byTime
)

// lookEvery is the time between two looks at the files. The watch reads a changed file only
// when two looks in a row have found the same size and time of change, because another
// program may still be writing the file.
const lookEvery = time.Minute

// look is the size and the time of change of a file, or zero if the file does not exist.
type look struct {
	size int64
	time time.Time
}

func lookAt(files []string) []look {
	found := make([]look, len(files))
	for i, name := range files {
		if info, err := os.Stat(name); err == nil {
			found[i] = look{info.Size(), info.ModTime()}
		}
	}
	return found
}

// relist reads the lists again when a file has changed, after each signal from Lists.Reload,
// and once every Lists.Every, until ctx ends.
func (r *Watch) relist(ctx context.Context) (err error) {
	var due, looks <-chan time.Time
	if r.Lists.Every > 0 {
		due, looks = time.Tick(r.Lists.Every), time.Tick(lookEvery)
	}
	for seen := r.read; err == nil; {
		why := byTime
		select {
		case <-ctx.Done():
			return nil
		case <-due:
		case <-r.Lists.Reload:
			why = bySignal
		case <-looks:
			why = byChange
			before := seen
			seen = lookAt(r.Lists.Files)
			if slices.Equal(seen, r.read) {
				continue
			} else if !slices.Equal(seen, before) {
				r.Lists.Extend()
				continue
			}
		}
		err = r.list(ctx, why)
		seen = r.read
	}
	return err
}

func (r *Watch) list(ctx context.Context, why reason) error {
	r.read = lookAt(r.Lists.Files)
	windows, err := r.Lists.Windows()
	switch {
	case err != nil && why == atStart:
		return err
	case err != nil:
		r.Terminal.Say("the maintenance windows can't be read, so the old windows still apply: %v", err)
	default:
		if why != atStart && len(windows)+len(r.windows) > 0 {
			r.Terminal.Say("maintenance windows read again: %s", console.Plural(len(windows), "window"))
		}
		r.windows = windows
	}
	now, err := r.Lists.Load(ctx, why != byChange)
	for _, a := range r.Rules.References {
		if r.Rules.Excluded != nil && r.Rules.Excluded(a.Addr()) {
			r.Terminal.Say("the reference %v is excluded now, so the watch does not check it", a)
			r.Terminal.Hint("remove the exclusion, or start the watch again with other references")
		}
	}
	switch {
	case err != nil && (why == atStart || ctx.Err() != nil):
		return err
	case err != nil:
		r.Terminal.Say("the new list can't be loaded, so the watch continues with the old list: %v", err)
		r.Terminal.Hint("correct the list: the watch reads the list again when it changes, or after SIGHUP")
	case len(now.Addrs) == 0 && why == atStart:
		return console.Fail(console.ExitInput, "there is no server to watch").WithHint("the list is empty, or all its servers are excluded; private networks need --allow-reserved")
	case len(now.Addrs) == 0 || len(now.Addrs)*2 < r.size && why != bySignal:
		r.Terminal.Say("the new list has %s instead of %d, so the watch continues with the old list", console.Plural(len(now.Addrs), "server"), r.size)
		r.Terminal.Hint("if the new list is complete, send SIGHUP to use it (the watch never uses an empty list)")
	default:
		r.size = len(now.Addrs)
		for _, a := range r.Rules.References {
			if !slices.Contains(now.Addrs, a) {
				now.Addrs = append(now.Addrs, a)
			}
		}
		r.mu.Lock()
		joined, left := r.watcher.Watch(now.Addrs, time.Now())
		r.watcher.Label(now.Labels)
		r.mu.Unlock()
		if why != atStart {
			r.Terminal.Say("list read again: %s, %s new, %s removed", console.Plural(r.size, "server"), console.Grouped(uint64(joined)), console.Grouped(uint64(left)))
		}
	}
	r.mu.Lock()
	idle := r.watcher.Maintain(r.windows, time.Now())
	r.mu.Unlock()
	for _, w := range idle {
		r.Terminal.Say("maintenance of %s matches no server of the list", console.Quoted(w.Who, 60))
	}
	return nil
}
