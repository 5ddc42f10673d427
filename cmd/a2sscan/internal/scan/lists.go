package scan

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// BadLines prints and logs lines of the input that name no target. It reports only the
// first console.MaxBadLines lines, so that a wrong file does not flood the screen.
type BadLines struct {
	Terminal *console.Terminal
	Resolves bool // host names in lists are looked up

	n     uint64
	hosts bool // a bad line begins with a host name that was not looked up
}

var namesHost = regexp.MustCompile(`^([A-Za-z0-9_-]+\.)+[A-Za-z][A-Za-z0-9-]*(:[0-9]+)?([\s,;]|$)`)

// Add counts a line, and reports the line if it is among the first console.MaxBadLines.
func (b *BadLines) Add(line list.Invalid) {
	b.n++
	b.hosts = b.hosts || !b.Resolves && namesHost.MatchString(line.Text)
	if b.n > console.MaxBadLines {
		return
	}
	b.Terminal.Log.Warn("no target", "file", line.File, "line", line.Line, "error", line.Err, "text", line.Text)
	b.Terminal.Say("%s:%d: %v: %s", console.Plain(line.File, 100), line.Line, line.Err, console.Quoted(line.Text, 60))
}

// Close prints how many lines Add counted but did not report. If a line begins with a host
// name that was not looked up, Close also prints a hint.
func (b *BadLines) Close() {
	if b.n > console.MaxBadLines {
		b.Terminal.Log.Warn("more lines without a target", "lines", b.n-console.MaxBadLines)
		b.Terminal.Say("no target in %s", console.Plural(b.n-console.MaxBadLines, "more line"))
	}
	if b.hosts {
		b.Terminal.Hint("use --resolve to look up host names in lists")
	}
}

// reloadOnHangup reloads the exclusion files on each SIGHUP, until the process ends. If
// there are no exclusion files, it does nothing.
func reloadOnHangup(t *console.Terminal, x *list.Exclusions, files []string) {
	if len(files) == 0 {
		return
	}
	HandleSignals(func(os.Signal) {
		rules, err := x.Reload(false)
		if err != nil {
			t.Log.Warn("exclusions not reloaded", "error", err)
			t.Say("exclusions: %v", err)
			t.Hint("the old exclusions still apply: correct the file and send SIGHUP again")
			return
		}
		t.Log.Info("exclusions reloaded", "rules", rules)
		t.Say("exclusions: read again, and now have %s", console.Plural(rules, "rule"))
	}, syscall.SIGHUP)
}

const lookupTime = 10 * time.Second

// Resolve looks up the IPv4 addresses of a host.
func Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", host)
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return nil, lookupError{dns}
	}
	return addrs, err
}

// lookupError is a DNS error without the host name, because the caller prints the name.
type lookupError struct{ dns *net.DNSError }

func (e lookupError) Error() string { return e.dns.Err }
func (e lookupError) Unwrap() error { return e.dns }

// ReportAddrs returns a resolver that calls lookup and prints the addresses that lookup
// found.
func ReportAddrs(t *console.Terminal, lookup resolver) resolver {
	return func(ctx context.Context, host string) ([]netip.Addr, error) {
		addrs, err := lookup(ctx, host)
		var shown []string
		for _, a := range addrs {
			shown = append(shown, a.Unmap().String())
		}
		if len(shown) > 0 {
			t.Say("%s resolves to %s", console.Plain(host, 60), strings.Join(shown, ", "))
		}
		return addrs, err
	}
}

// NotFiles returns the arguments that name no file and are not "-": addresses, ranges,
// networks and host names.
func NotFiles(args []string) []string {
	names := []string{}
	for _, arg := range args {
		if _, err := os.Stat(arg); err != nil && arg != "-" {
			names = append(names, arg)
		}
	}
	return names
}
