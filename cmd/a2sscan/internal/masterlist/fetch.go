// Package masterlist fetches lists of servers from masters, reads them from files,
// and writes them to files.
package masterlist

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	_ "golang.org/x/crypto/x509roots/fallback" // root certificates, for a system that has none

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// KeyVariable is the name of the environment variable that may hold the Web API's
// key.
const KeyVariable = "STEAM_WEB_API_KEY"

// Options choose the list to fetch from a master. The field Where holds the HOST:PORT of a
// master server, the URL of a Web API, "web", or nothing. Check sets UDP or URL from Where.
// If UDP is empty, Fetch uses the Web API at URL or, if URL is empty too, Valve's Web API.
// The key of the Web API is in the file KeyFile, or in the environment: see KeyVariable.
type Options struct {
	Where    string
	Keep     bool   // store the master's data in records
	UDP      string // HOST:PORT of a master server
	URL      string // URL of a Web API
	KeyFile  string
	Region   master.Region
	App      uint32 // Steam application; 0: any
	NotEmpty bool   // only servers with players
	Filter   Filter // further conditions
}

// Filter is the value of a flag: conditions in the syntax that masters use.
type Filter struct{ master.Filter }

// Set parses a filter and appends its conditions.
func (f *Filter) Set(s string) error {
	more, err := master.ParseFilter(s)
	f.Filter = append(f.Filter, more...)
	return err
}

// Type returns the word that stands for the value in the help text.
func (f *Filter) Type() string { return "TEXT" }

// Repeatable returns true, because Set appends the conditions of each use of the flag.
func (f *Filter) Repeatable() bool { return true }

// Conditions returns all conditions of the request.
func (o *Options) Conditions() master.Filter {
	var f master.Filter
	if o.App != 0 {
		f = append(f, master.Condition{Key: "appid", Value: strconv.FormatUint(uint64(o.App), 10)})
	}
	if o.NotEmpty {
		f = append(f, master.Condition{Key: "empty", Value: "1"}) // despite its name, this selects servers with players
	}
	return append(f, o.Filter.Filter...)
}

// Check sets UDP or URL if Where has an address. If this is the address of a master server,
// Check returns an error if the address is not valid, or if KeyFile is set.
func (o *Options) Check() error {
	switch isURL := strings.Contains(o.Where, "://"); {
	case isURL:
		o.URL = o.Where
	case o.Where != "" && o.Where != "web":
		o.UDP = o.Where
	}
	if o.UDP == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(o.UDP)
	n, bad := strconv.ParseUint(port, 10, 16)
	switch {
	case o.KeyFile != "":
		return console.Fail(console.ExitUsage, "--key-file works only with a Web API").WithHint("omit --key-file: a master server needs no key")
	case err == nil && console.CheckPort(port) != nil:
		return console.Fail(console.ExitUsage, "master %s: %w", console.Quoted(console.WithoutKeys(o.UDP), 80), console.CheckPort(port))
	case err != nil || bad != nil || n == 0 || host == "":
		return console.Fail(console.ExitUsage, "master %s is not a valid HOST:PORT", console.Quoted(console.WithoutKeys(o.UDP), 80)).
			WithHint("use HOST:PORT, such as 203.0.113.5:27011")
	}
	return nil
}

// KeyShown returns the error for a flag whose value seems to contain the key of the Web
// API.
func KeyShown(flag string) error {
	return console.Fail(console.ExitUsage, "--%s: the value looks like a key, so it is not shown", flag).
		WithHint("put the key into a file that --key-file names, or into the environment variable %s", KeyVariable)
}

// key reads the Web API's key. Its errors never quote a string that may be a key.
func (o *Options) key() (master.Key, error) {
	text, where := []byte(os.Getenv(KeyVariable)), "the variable "+KeyVariable
	switch {
	case o.KeyFile != "":
		where = o.KeyFile
		f, err := os.Open(o.KeyFile)
		if err == nil {
			text, err = io.ReadAll(io.LimitReader(f, 4096))
			f.Close()
		}
		if err != nil && console.LooksLikeKey(o.KeyFile) {
			return master.Key{}, KeyShown("key-file") // the system's error would show the key
		}
		if err != nil {
			return master.Key{}, console.Fail(console.ExitInput, "key: %w", err)
		}
	case len(text) == 0:
		return master.Key{}, console.Fail(console.ExitUsage, "the Web API needs a key").
			WithHint("use --key-file FILE, or the environment variable %s; get a key at steamcommunity.com/dev/apikey", KeyVariable)
	}
	k, err := master.ParseKey(text)
	if err != nil {
		err = console.Fail(console.ExitUsage, "%s: %w", where, err)
	}
	return k, err
}

// ErrEnough is the error that a handler returns to end a list early. Fetch then returns no
// error.
var ErrEnough = errors.New("enough")

// Fetch fetches the list and calls handle with each server in it. Unless quiet is set,
// Fetch shows its progress in a status line. The errors of Fetch have exit codes.
func (o *Options) Fetch(ctx context.Context, t *console.Terminal, handle func(*master.Server) error, quiet bool) (master.Stats, error) {
	cfg := master.Config{UDP: o.UDP, URL: o.URL, Region: o.Region, Filter: o.Conditions()}
	host, _, _ := net.SplitHostPort(o.UDP)
	if o.UDP == "" {
		key, err := o.key()
		if err != nil {
			return master.Stats{}, err
		}
		cfg.Key = key
		if u, err := url.Parse(o.URL); err == nil {
			host = u.Hostname()
		}
	}
	// A master on this machine is a simulation or a cache. Such a master has no limits, and
	// is not worth a long wait.
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() {
		cfg.Unlimited, cfg.Retries, cfg.MaxWait = true, 1, time.Second
	}
	// On Windows, mode bits do not say who can read a file. A pipe or a device counts as private.
	info, missing := os.Stat(o.KeyFile)
	if missing == nil && runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o044 != 0 {
		t.Say("warning: other users of this machine can read the key in %s", console.Plain(console.WithoutKeys(o.KeyFile), 200))
		t.Hint("run chmod 600 on the file, so that only you can read it")
	}
	p := &status{start: time.Now()}
	cfg.Progress = func(now master.Stats) {
		p.mu.Lock()
		p.last, p.until = now, time.Now().Add(now.Wait)
		p.mu.Unlock()
	}
	if !quiet {
		defer t.RepeatStatus(t.StatusInterval(), p.line)()
	}
	t.Log.Info("fetching list", "from", o.Source())
	stats, err := master.Fetch(ctx, cfg, handle)
	for _, key := range stats.Unknown {
		t.Say("filter %s: no known master understands this filter, and masters ignore unknown filters", console.Quoted(key, 40))
	}
	err = o.failure(ctx, &stats, err)
	if err != nil {
		t.Log.Warn("list not complete", "from", o.Source(), "servers", stats.Servers, "requests", stats.Requests, "error", err)
	} else {
		t.Log.Info("list fetched", "from", o.Source(), "servers", stats.Servers, "requests", stats.Requests, "end", stats.End)
	}
	return stats, err
}

// failure adds an exit code and a hint to an error of master.Fetch. It returns nil for
// ErrEnough, and returns an error of a handler unchanged.
func (o *Options) failure(ctx context.Context, stats *master.Stats, err error) error {
	_, own := errors.AsType[*console.Failure](err)
	hint := "check the address, and that no firewall drops the packets"
	switch {
	case err == nil, errors.Is(err, ErrEnough):
		return nil
	case own:
		return err
	case ctx.Err() != nil:
		return console.Fail(console.ExitInterrupted, "interrupted")
	case stats.Requests == 0 && (o.UDP == "" || errors.Is(err, master.ErrRefused)):
		return console.Fail(console.ExitUsage, "%w", err)
	case strings.Contains(o.UDP, ".steampowered.com:") && errors.Is(err, master.ErrNoReply):
		err = fmt.Errorf("%w; Valve's master server has been silent since October 2025", err)
		hint = "use the Web API instead, with --key-file FILE"
	case errors.Is(err, master.ErrKey):
		hint = "check the key in --key-file or " + KeyVariable
	case errors.Is(err, master.ErrSlow):
		hint = "try again later"
	case errors.Is(err, master.ErrRefused):
		hint = "check that this master knows the filter, and that --url is the address of the master"
	case errors.Is(err, master.ErrTooMuch):
		hint = "use a filter that fewer servers match"
	case errors.Is(err, master.ErrMalformed):
		hint = "the master may be at fault: check its address and try again later, or fetch parts of the list with filters"
	}
	return console.Fail(console.ExitInput, "%w", err).WithHint("%s", hint)
}

// Load fetches the list and returns it as a source of targets. Unless quiet is set, it
// reports what was fetched. If the master fails before the end of the list, Load also
// returns an error, and the source has the servers that were received before the failure.
// The source is nil if there is no server, or if ctx is done.
func (o *Options) Load(ctx context.Context, t *console.Terminal, quiet bool) (*list.Source, master.Stats, error) {
	// Compressed NDJSON in memory takes about 10 bytes per server, or 80 bytes if it includes
	// the entry that the master sent.
	var packed bytes.Buffer
	pack, err := zstd.NewWriter(&packed, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, master.Stats{}, err
	}
	source := &list.Source{Name: o.Source()}
	var line []byte
	stats, err := o.Fetch(ctx, t, func(s *master.Server) error {
		var details []byte
		if o.Keep {
			details = s.Details
		}
		line = append(appendRecord(line[:0], s.Addr, details), '\n')
		source.Size += int64(len(line))
		_, err := pack.Write(line)
		return err
	}, quiet)
	if !quiet && stats.Requests > 0 {
		Report(t, o.Source(), &stats)
	}
	switch {
	case ctx.Err() != nil: // perhaps just after the end of the list
		return nil, stats, cmp.Or(err, error(console.Fail(console.ExitInterrupted, "interrupted")))
	case stats.Servers == 0 && err == nil:
		return nil, stats, o.EmptyList(&stats)
	case stats.Servers == 0:
		return nil, stats, err
	case err == nil && !quiet:
		t.Say("end: %s", stats.End)
	}
	if e := pack.Close(); e != nil {
		return nil, stats, e
	}
	source.Open = func() (io.ReadCloser, error) {
		d, err := zstd.NewReader(bytes.NewReader(packed.Bytes()), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return source, stats, err
}

// Source returns the name of the master for messages.
func (o *Options) Source() string {
	if o.UDP != "" {
		return "master " + o.UDP
	}
	return "Web API"
}

// EmptyList returns the error for a list without servers.
func (o *Options) EmptyList(s *master.Stats) error {
	hint := "the master has no servers, or does not list them"
	switch {
	case s.Elsewhere > 0:
		hint = "all of the servers are in other regions: omit --region"
	case s.Invalid > 0:
		hint = "no entry had an address: check that the given HOST:PORT or URL belongs to a master"
	case len(o.Conditions()) > 0 || o.Region != master.World:
		hint = "no server matches: omit --region, or some conditions of the filter"
	}
	return console.Fail(console.ExitInput, "%s: the list is empty", o.Source()).WithHint("%s", hint)
}

// Formats returns the formats of lists that masters send. Each format is detected from the
// first bytes of a file.
func Formats() []list.Format {
	return []list.Format{{Name: "Web API JSON", Sniff: master.IsAnswer, Read: func(r io.Reader, yield func(list.Entry) bool) error {
		err := master.ReadAnswers(r, func(item int, s *master.Server, bad error) error {
			e := list.Entry{Line: item, Fault: bad}
			switch {
			case bad == nil:
				e.Row, e.Master = s.Entry, s.Details
			case s == nil:
			case s.Addr.IsValid(): // IPv6: unscannable
				e.Text, e.Fault = []byte(s.Addr.String()), nil
			default:
				e.Text = s.Entry
			}
			if !yield(e) {
				return ErrEnough
			}
			return nil
		})
		if errors.Is(err, ErrEnough) {
			return nil
		}
		return err
	}}}
}
