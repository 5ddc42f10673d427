// Package masterlist fetches lists of servers from masters, reads them from files,
// and writes them to files.
package masterlist

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/redact"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// KeyVariable is the name of the environment variable that may hold the Web API's
// key.
const KeyVariable = "STEAM_WEB_API_KEY"

// Options choose the list to fetch from a master, and how to fetch it.
type Options struct {
	UDP     string // host:port of a master server; empty: the Web API
	URL     string // URL of the Web API; empty: Valve's
	KeyFile string // file with the Web API's key; empty: the key is in KeyVariable
	Region  Region
	Filter  master.Filter
	Limits  Limits
	Timeout time.Duration // maximum time to wait for one answer
	Retries Count
	MaxWait time.Duration // maximum time to wait for a master that is silent or asks to wait
}

// Check returns an error if an option is not valid.
func (o *Options) Check() error {
	if o.Timeout < 0 || o.MaxWait < 0 {
		return console.Fail(console.ExitUsage, "a time to wait for the master is negative").
			WithHint("durations have a unit: 500ms, 30s, 2m")
	}
	if o.UDP == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(o.UDP)
	n, bad := strconv.ParseUint(port, 10, 16)
	if err != nil || bad != nil || n == 0 || host == "" {
		return console.Fail(console.ExitUsage, "master %s: want HOST:PORT", console.Quoted(redact.Keys(o.UDP), 80)).
			WithHint("for instance %s", master.DefaultUDP)
	}
	return nil
}

// KeyShown returns the error for a flag whose value seems to contain the key
// itself.
func KeyShown(flag string) error {
	return console.Fail(console.ExitUsage, "--%s: it contains a key, or what looks like one, which is not shown", flag).
		WithHint("put the key into a file that --key-file names, or into the variable %s", KeyVariable)
}

// key reads the Web API's key. Its errors never quote a string that may be a key.
func (o *Options) key() (master.Key, error) {
	text, where := []byte(os.Getenv(KeyVariable)), "the variable "+KeyVariable
	if o.KeyFile != "" {
		var err error
		where = o.KeyFile
		if text, err = readStart(o.KeyFile, 4096); err != nil {
			if redact.LooksLikeKey(o.KeyFile) {
				return master.Key{}, KeyShown("key-file") // the error would quote it
			}
			return master.Key{}, console.Fail(console.ExitInput, "key: %w", err)
		}
	} else if len(text) == 0 {
		return master.Key{}, console.Fail(console.ExitUsage, "the Web API needs a key").
			WithHint("--key-file FILE, or the variable %s; steamcommunity.com/dev/apikey gives one", KeyVariable)
	}
	k, err := master.ParseKey(text)
	if err != nil {
		return k, console.Fail(console.ExitUsage, "%s: %w", where, err)
	}
	return k, nil
}

// KeyFileIsShared reports whether other users of this machine can read the file
// with the Web API's key. A pipe or a device counts as private.
func (o *Options) KeyFileIsShared() bool {
	if o.KeyFile == "" || runtime.GOOS == "windows" { // on Windows, mode bits do not say who can read a file
		return false
	}
	info, err := os.Stat(o.KeyFile)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o044 != 0
}

// readStart reads the first bytes of a file, at most most of them.
func readStart(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// Handlers receive what a master sends.
type Handlers struct {
	Server   func(*master.Server) error
	Page     func(datagram []byte) error // each page of a master over UDP; may be nil
	Progress func(master.Progress)       // may be nil
}

// Fetch fetches the list and passes it to h. Its errors have exit codes.
func (o *Options) Fetch(ctx context.Context, h Handlers) (master.Stats, error) {
	var stats master.Stats
	var err error
	if o.UDP != "" {
		stats, err = o.fetchUDP(ctx, h)
	} else if stats, err = o.fetchWeb(ctx, h); err != nil && stats.Requests == 0 && ctx.Err() == nil {
		return stats, asUsage(err)
	}
	if filter := (*master.FilterError)(nil); errors.As(err, &filter) {
		return stats, asUsage(err)
	}
	return stats, o.failure(ctx, err)
}

// asUsage returns err with the exit code of a wrong command line, unless err
// already has an exit code.
func asUsage(err error) error {
	if _, ok := errors.AsType[*console.Failure](err); ok {
		return err
	}
	return console.Fail(console.ExitUsage, "%w", err)
}

func (o *Options) fetchUDP(ctx context.Context, h Handlers) (master.Stats, error) {
	return master.FetchUDP(ctx, master.UDPConfig{
		Addr: o.UDP, Region: master.Region(o.Region), Filter: o.Filter, Limits: o.Limits,
		Timeout: o.Timeout, Retries: o.Retries.config(), Silence: o.MaxWait,
		Page: h.Page, Progress: h.Progress,
	}, h.Server)
}

func (o *Options) fetchWeb(ctx context.Context, h Handlers) (master.Stats, error) {
	key, err := o.key()
	if err != nil {
		return master.Stats{}, err
	}
	trustRoots()
	return master.FetchWeb(ctx, master.WebConfig{
		URL: o.URL, Key: key, Region: master.Region(o.Region), Filter: o.Filter, Limits: o.Limits,
		Timeout: o.Timeout, Retries: o.Retries.config(), MaxWait: o.MaxWait,
		Progress: h.Progress,
	}, h.Server)
}

// ErrEnough is returned by a handler to end a list early. Fetch then returns no
// error.
var ErrEnough = errors.New("enough")

// failure returns the error of fetching a list with its exit code and a hint. It
// returns nil for ErrEnough.
func (o *Options) failure(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*console.Failure](err); ok {
		return err // the error comes from a handler
	}
	switch {
	case err == nil, errors.Is(err, ErrEnough):
		return nil
	case ctx.Err() != nil:
		return console.Fail(console.ExitInterrupted, "interrupted")
	}
	return console.Fail(console.ExitInput, "%w", err).WithHint("%s", advice(err))
}

// advice returns a hint for a list that did not end properly.
func advice(err error) string {
	switch {
	case errors.Is(err, master.ErrKey):
		return "check the key in --key-file or " + KeyVariable + ""
	case errors.Is(err, master.ErrSlow):
		return "try again later, or wait longer with --master-max-wait"
	case errors.Is(err, master.ErrRefused):
		return "check that this master knows the filter, and that --url is its address"
	case errors.Is(err, master.ErrTooLarge), errors.Is(err, master.ErrTooMany):
		return "use a filter that fewer servers meet"
	case errors.Is(err, master.ErrNoProgress):
		return "the master may be at fault: try again later, or fetch parts of the list with filters"
	case errors.Is(err, master.ErrMalformed), errors.Is(err, master.ErrTruncated):
		return "check that it is the address of a master; if so, try again later"
	}
	return "check the address, and that no firewall drops the packets"
}

// Source returns the name of the master for messages.
func (o *Options) Source() string {
	if o.UDP != "" {
		return "master " + o.UDP
	}
	return "Web API"
}
