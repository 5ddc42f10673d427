package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// keyVariable is the environment variable that may hold the Web API's key.
const keyVariable = "STEAM_WEB_API_KEY"

// masterFlags say which list to fetch from a master, and how: what the
// commands that fetch one have in common.
type masterFlags struct {
	filterFlags
	keyFile string
	limits  limits
	timeout time.Duration
	retries count
	maxWait time.Duration

	udp string // host:port; empty: the Web API
	url string // of the Web API; empty: Valve's
}

// add names the flags. Those that another command has for its own purposes
// get the prefix.
func (f *masterFlags) add(fs *pflag.FlagSet, prefix string) {
	f.filterFlags.add(fs)
	fs.StringVar(&f.keyFile, "key-file", "", "`FILE` with the Web API's key (default: the variable "+keyVariable+")")
	fs.Var(&f.limits, prefix+"rate", "requests in any span of time, `N/D[,N/D]`; 0: no limit (default what masters bear: "+
		limitsText(master.UDPLimits)+"; Web API: "+limitsText(master.WebLimits)+")")
	fs.DurationVar(&f.timeout, prefix+"timeout", 0, "how long to wait for an answer, `D` (default 3s; Web API: 1m)")
	fs.Var(&f.retries, prefix+"retries", "requests repeated for one answer (default 3; Web API: 4)")
	fs.DurationVar(&f.maxWait, prefix+"max-wait", 0, "how long to wait for a master that fell silent, or asks to wait: `D` (default 61s; Web API: 5m)")
}

// check refuses what makes no sense.
func (f *masterFlags) check() error {
	if f.timeout < 0 || f.maxWait < 0 {
		return console.Fail(console.ExitUsage, "a time to wait for the master is negative").
			WithHint("durations have a unit: 500ms, 30s, 2m")
	}
	if f.udp == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(f.udp)
	n, bad := strconv.ParseUint(port, 10, 16)
	if err != nil || bad != nil || n == 0 || host == "" {
		return console.Fail(console.ExitUsage, "master %s: want HOST:PORT", console.Quoted(withoutKeys(f.udp), 80)).
			WithHint("for instance %s", master.DefaultUDP)
	}
	return nil
}

// limits is a flag's list of limits: 15/1m,60/5m.
type limits []master.Limit

// Set reads N/D, with commas between them, or 0.
func (l *limits) Set(s string) error {
	*l = limits{}
	if s == "0" {
		return nil
	}
	for word := range strings.SplitSeq(s, ",") {
		count, span, _ := strings.Cut(word, "/")
		n, err1 := strconv.Atoi(count)
		d, err2 := time.ParseDuration(span)
		if err1 != nil || err2 != nil || n < 1 || d <= 0 {
			return errors.New("want requests in a span of time, such as 15/1m,60/5m, or 0")
		}
		*l = append(*l, master.Limit{Requests: n, In: d})
	}
	return nil
}

func (l *limits) String() string { return limitsText(*l) }

func limitsText(ls []master.Limit) string {
	var words []string
	for _, l := range ls {
		words = append(words, fmt.Sprintf("%d/%s", l.Requests, span(l.In)))
	}
	return strings.Join(words, ",")
}

// span writes a time as people type it: 5m, not 5m0s.
func span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	return s
}

// Type is the word that stands for the value in the help.
func (l *limits) Type() string { return "N/D" }

// count is a flag's number of repetitions, of which 0 is another than none
// given.
type count struct {
	n   int
	set bool
}

// Set reads a number.
func (c *count) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 16)
	*c = count{int(n), true}
	if err != nil {
		return errors.New("want a number such as 3")
	}
	return nil
}

func (c *count) String() string {
	if !c.set {
		return ""
	}
	return strconv.Itoa(c.n)
}

// Type is the word that stands for the value in the help.
func (c *count) Type() string { return "N" }

// config is the number as package master has it, where 0 is the default.
func (c *count) config() int {
	if !c.set {
		return 0
	}
	return flagvalue.OrOff(c.n)
}

// key reads the Web API's key. No error quotes what may be one.
func (f *masterFlags) key() (master.Key, error) {
	text, where := []byte(os.Getenv(keyVariable)), "the variable "+keyVariable
	if f.keyFile != "" {
		var err error
		where = f.keyFile
		if text, err = readStart(f.keyFile, 4096); err != nil {
			if err := noKeyIn("key-file", []string{f.keyFile}); err != nil {
				return master.Key{}, err // no such file, and it would be quoted
			}
			return master.Key{}, console.Fail(console.ExitInput, "key: %w", err)
		}
	} else if len(text) == 0 {
		return master.Key{}, console.Fail(console.ExitUsage, "the Web API needs a key").
			WithHint("--key-file FILE, or the variable %s; steamcommunity.com/dev/apikey gives one", keyVariable)
	}
	k, err := master.ParseKey(text)
	if err != nil {
		return k, console.Fail(console.ExitUsage, "%s: %w", where, err)
	}
	return k, nil
}

// readStart reads a file, or its first most bytes.
func readStart(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// fetcher is a list being fetched.
type fetcher struct {
	*masterFlags
	page     func(datagram []byte) error // told each page of a master over UDP; nil: nobody
	handle   func(*master.Server) error
	progress func(master.Progress)
}

// fetch fetches the list. Its error has an exit code.
func (f *fetcher) fetch(ctx context.Context) (master.Stats, error) {
	var stats master.Stats
	var err error
	if f.udp != "" {
		stats, err = f.fetchUDP(ctx)
	} else if stats, err = f.fetchWeb(ctx); err != nil && stats.Requests == 0 && ctx.Err() == nil {
		return stats, asUsage(err)
	}
	if filter := (*master.FilterError)(nil); errors.As(err, &filter) {
		return stats, asUsage(err)
	}
	return stats, f.failure(ctx, err)
}

// asUsage gives an error that has no exit code the one of a command line that
// makes no sense.
func asUsage(err error) error {
	if _, ok := errors.AsType[*console.Failure](err); ok {
		return err
	}
	return console.Fail(console.ExitUsage, "%w", err)
}

func (f *fetcher) fetchUDP(ctx context.Context) (master.Stats, error) {
	return master.FetchUDP(ctx, master.UDPConfig{
		Addr: f.udp, Region: master.Region(f.region), Filter: f.filter, Limits: f.limits,
		Timeout: f.timeout, Retries: f.retries.config(), Silence: f.maxWait,
		Page: f.page, Progress: f.progress,
	}, f.handle)
}

func (f *fetcher) fetchWeb(ctx context.Context) (master.Stats, error) {
	key, err := f.key()
	if err != nil {
		return master.Stats{}, err
	}
	trustRoots()
	return master.FetchWeb(ctx, master.WebConfig{
		URL: f.url, Key: key, Region: master.Region(f.region), Filter: f.filter, Limits: f.limits,
		Timeout: f.timeout, Retries: f.retries.config(), MaxWait: f.maxWait,
		Progress: f.progress,
	}, f.handle)
}

// errEnough ends a list that has as many servers as are wanted.
var errEnough = errors.New("enough")

// failure gives the error of a list its exit code, and a hint.
func (f *fetcher) failure(ctx context.Context, err error) error {
	if own, ok := errors.AsType[*console.Failure](err); ok {
		return own // the output's
	}
	switch {
	case err == nil, errors.Is(err, errEnough):
		return nil
	case ctx.Err() != nil:
		return console.Fail(console.ExitInterrupted, "interrupted")
	}
	return console.Fail(console.ExitInput, "%w", err).WithHint("%s", f.advice(err))
}

// advice says what can be done about a list that did not come to its end.
func (f *fetcher) advice(err error) string {
	switch {
	case errors.Is(err, master.ErrKey):
		return "is the key in --key-file or " + keyVariable + " the right one, and still valid?"
	case errors.Is(err, master.ErrSlow):
		return "ask again later, or wait longer with --max-wait"
	case errors.Is(err, master.ErrRefused):
		return "is the filter one that this master knows, and --url its address?"
	case errors.Is(err, master.ErrTooLarge), errors.Is(err, master.ErrTooMany):
		return "a filter that fewer servers meet makes a shorter list"
	case errors.Is(err, master.ErrNoProgress):
		return "the master may be at fault: ask again later, or for parts of the list with filters"
	case errors.Is(err, master.ErrMalformed), errors.Is(err, master.ErrTruncated):
		return "is that the address of a master? if so, ask again later"
	}
	return "is the address right, and nothing between here and there that stops the packets?"
}

// who names the master for a person.
func (f *masterFlags) who() string {
	if f.udp != "" {
		return "master " + f.udp
	}
	return "Web API"
}

// listProgress makes status lines of a list being fetched.
type listProgress struct {
	start time.Time
	mu    sync.Mutex
	last  master.Progress
	until time.Time // of the wait
}

func newListProgress() *listProgress { return &listProgress{start: time.Now()} }

func (p *listProgress) tell(now master.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.until = now, time.Now().Add(now.Wait)
}

func (p *listProgress) line() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.last
	parts := []string{console.Clock(time.Since(p.start)), listCounts(&s.Stats)}
	if s.Retries > 0 {
		parts = append(parts, fmt.Sprintf("%d asked again", s.Retries))
	}
	if left := time.Until(p.until); left > 0 && s.Why != master.WaitNothing {
		parts = append(parts, fmt.Sprintf("%v, %.0f s", s.Why, math.Ceil(left.Seconds())))
	}
	return strings.Join(parts, "; ")
}

// listCounts says how much of a list there is.
func listCounts(s *master.Stats) string {
	where := "in " + console.Plural(int(s.Replies), "answer")
	if s.Replies == 0 && s.Servers > 0 {
		where = "of an answer that was not read to its end"
	}
	return console.Plural(int(s.Servers), "server") + " " + where + ", " + console.Bytes(s.Bytes)
}

// maxCapped is how many questions are named whose answers were cut.
const maxCapped = 10

// sayList says how a list ended, and what was odd about it.
func sayList(t *console.Terminal, who string, s *master.Stats) {
	t.Say("%s: %s, %s", who, listCounts(s), console.Plural(int(s.Requests), "request"))
	if text := amounts([]amount{
		{s.Unscannable[master.Relay], "with " + master.Relay.String()},
		{s.Unscannable[master.NoAddress], "with " + master.NoAddress.String()},
		{s.Unscannable[master.NoPort], "with " + master.NoPort.String()},
	}); text != "" {
		t.Say("servers that nobody can ask: %s", text)
	}
	if text := amounts([]amount{
		{s.Duplicates, "named more than once"},
		{s.Elsewhere, "in other regions"},
		{s.Invalid, "without an address"},
	}); text != "" {
		t.Say("left out: %s", text)
	}
	if text := amounts([]amount{
		{s.Retries, console.Things(s.Retries, "request") + " repeated"},
		{s.Truncated, console.Things(s.Truncated, "page") + " cut off"},
		{s.Repeated, console.Things(s.Repeated, "page") + " that came twice"},
		{s.Foreign, console.Things(s.Foreign, "datagram") + " without a page"},
		{s.Odd, console.Things(s.Odd, "server") + " with a field of another type"},
	}); text != "" {
		t.Say("oddities: %s", text)
	}
	for i, c := range s.Capped {
		if i == maxCapped {
			t.Say("%d more such answers", len(s.Capped)-maxCapped)
			break
		}
		t.Say("cut at the cap: %v", c)
	}
}

// amount is a number and what there are so many of.
type amount struct {
	n    uint64
	what string
}

// amounts lists those that are not zero.
func amounts(all []amount) string {
	var parts []string
	for _, a := range all {
		if a.n > 0 {
			parts = append(parts, console.Grouped(a.n)+" "+a.what)
		}
	}
	return strings.Join(parts, ", ")
}
