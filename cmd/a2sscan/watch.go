package main

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/livepage"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/masterlist"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/scanrun"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// watchFlags are the flags of watch.
type watchFlags struct {
	rules     watch.Rules
	downAfter string
	events    []string
	reference []string

	lists       []string
	ports       string
	resolve     bool
	listEvery   time.Duration
	from        masterlist.Options
	checkMaster func() error
	exclude     scanrun.Exclude

	rate        flagvalue.Rate
	addressRate flagvalue.Rate
	timeouts    timeoutFlags
	source      flagvalue.Source

	state      string
	keepHourly time.Duration
	keepDaily  time.Duration
	output     string
	rotate     flagvalue.Rotation
	hook       hookFlags
	page       pageFlags
	log        logFlag
	status     flagvalue.StatusKind
	quiet      bool
	maxRuntime time.Duration
}

// hookFlags are the flags of the webhook.
type hookFlags struct {
	file   string
	format string
	events []string
	test   bool
}

// pageFlags are the flags of the live page.
type pageFlags struct {
	listen flagvalue.ListenAddr
	names  []string
	title  string
	link   string
	labels atomic.Pointer[map[netip.AddrPort]string] // what the latest list calls servers
}

// hookVariable is the environment variable that may hold the URL of the webhook.
const hookVariable = "A2SSCAN_WEBHOOK"

func watchCommand(a *app) *cobra.Command {
	f := &watchFlags{
		rate: scanner.DefaultRate, addressRate: scanner.DefaultAddressRate,
	}
	cmd := &cobra.Command{
		Use:   "watch [TARGET…]",
		Short: "Watch servers all day: who is up, who is down, what changed",
		Long: `Asks every server once a minute, and prints an event when one goes down, comes
back, restarts, moves or changes. TARGETs are those of scan: files, addresses,
networks, host names, and - for standard input.

A check asks for info, with the challenge that the server gave last: usually one
datagram out and one in. When something changes, and every ten minutes, the
watch asks for players and rules, too. It spreads the checks evenly.

A server is down after three checks in a row without an answer, each with all
retries. When most servers fall silent at once, the network of this machine is
the suspect: the watch reports blind, then seeing, and calls nothing down in
between, for ten minutes at most. Time in which it did not ask, because the
machine slept or the program did not run, is unseen, never down.

Events are lines of JSON, or readable lines on a terminal. --state keeps
servers, events and uptime in an SQLite database, so that the next watch goes on
where this one ends, and a2sscan uptime and sqlite3 can read them. With --state
and --output, each event is in the file exactly once, even after a crash.

--listen serves a live page: who is up, people over time, events, a page for
each server, JSON at /api/, and metrics for Prometheus at /metrics. It only
reads, and asks for no password: whoever reaches the port sees it. For the
Internet, put a web server with TLS in front, and name it with --public-name:

  Caddy:  status.example.org {
            reverse_proxy 127.0.0.1:8080
          }
  nginx:  server { listen 443 ssl; server_name status.example.org;
            location / { proxy_pass http://127.0.0.1:8080;
                         proxy_set_header Host $host; } }

Ctrl-C (SIGINT) and SIGTERM end the watch. SIGHUP makes it read lists and
exclusions again, unless it came because the terminal was closed.`,
		Example: `  a2sscan watch servers.txt --state watch.db --listen 8080
  a2sscan watch servers.txt --webhook-file discord.url --webhook-format discord
  a2sscan watch --master web --app 252490 --key-file key.txt --state rust.db`,
		RunE: func(_ *cobra.Command, args []string) error { return f.run(a, append(args, f.lists...)) },
	}
	f.add(cmd)
	return cmd
}

func (f *watchFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVarP(&f.output, "output", "o", "-", "append events to `PATH`: lines of JSON, compressed if .zst or .gz follows; -: standard output")
	fs.Var(&f.rotate, "rotate", "begin a new file of events after this size or duration, such as 1G or 24h; the old one gets its start time and a number in its name")
	fs.StringVar(&f.state, "state", "", "keep servers, events and uptime in the SQLite database `FILE` (default: in memory only)")
	fs.DurationVar(&f.keepHourly, "keep-hours", 7*24*time.Hour, "keep uptime by the hour for `D`; later there is one row per server and day")
	fs.DurationVar(&f.keepDaily, "keep-days", 400*24*time.Hour, "keep uptime by the day, and events, for `D`")
	fs.DurationVar(&f.rules.Every, "every", time.Minute, "check each server once in `D`")
	fs.DurationVar(&f.rules.FullEvery, "full-every", 10*time.Minute, "ask each server for players and rules, too, once in `D`")
	fs.StringVar(&f.downAfter, "down-after", "3", "a server is down after `N` checks in a row without an answer, or after this time, such as 3m, in which all checks stayed without one")
	fs.DurationVar(&f.rules.Damp, "damp", 10*time.Minute, "report at most one pair of events of a kind per server in `D`, such as down and up, and count the rest")
	fs.DurationVar(&f.rules.BlindMax, "blind-max", 10*time.Minute, "when most servers are silent for `D`, call them down after all")
	fs.StringSliceVar(&f.reference, "reference", nil, "servers that are always up, as a `LIST` of IP:PORT: the watch is blind when they are all silent, and only then; may be repeated")
	fs.StringSliceVar(&f.events, "events", nil, "report only these kinds of events: a `LIST` of "+strings.Join(watch.KindNames(), ", ")+" (default: all; but map only for games that keep their map for weeks)")
	fs.StringVar(&f.hook.file, "webhook-file", "", "post events to the URL in `FILE` (default: the URL in the variable "+hookVariable+")")
	fs.StringVar(&f.hook.format, "webhook-format", "json", "format of these posts: `WORD` is json or discord")
	fs.StringSliceVar(&f.hook.events, "webhook-events", []string{"down", "up", "blind", "seeing"}, "post only these kinds of events: a `LIST`")
	fs.BoolVar(&f.hook.test, "webhook-test", false, "post a test message to the webhook, and end")
	fs.Var(&f.page.listen, "listen", "serve the live page over HTTP at this port of 127.0.0.1, or at ADDRESS:PORT; port 0: any free port (default off)")
	fs.StringSliceVar(&f.page.names, "public-name", nil, "also answer requests for this host `NAME` of a web server in front of the live page; may be repeated (default: only addresses and localhost)")
	fs.StringVar(&f.page.title, "page-title", "Game servers", "`TEXT` at the top of the live page")
	fs.StringVar(&f.page.link, "page-link", "", "`URL` of your own site, to which the live page links (default: no link)")
	fs.StringVarP(&f.ports, "port", "p", "", "`LIST` of ports for networks and bare addresses, such as 27015,27020-27030 (default for one address: 27015)")
	fs.StringArrayVarP(&f.lists, "list", "l", nil, "read targets from `FILE`; may be repeated (also -iL)")
	fs.BoolVar(&f.resolve, "resolve", false, "also look up host names in lists, and watch all their IPv4 addresses")
	fs.DurationVar(&f.listEvery, "list-every", 6*time.Hour, "read lists again, and fetch that of --master, once in `D`; 0: never")
	fs.VarP(&f.rate, "rate", "r", "send at most `N` datagrams per second, such as 800, 5k or 1.5M; if that is too few, a cycle takes longer")
	fs.Var(&f.addressRate, "per-address-rate", "send at most `N` datagrams per second to one address; 0: no limit")
	f.timeouts.add(cmd)
	fs.Var(&f.source, "source", "address of this machine to send from (default: the system chooses)")
	addExclusions(fs, &f.exclude)
	f.log.add(cmd)
	f.checkMaster = addMaster(fs, &f.from)
	fs.DurationVar(&f.maxRuntime, "max-runtime", 0, "end after `D`, such as 6h; 0: never (default 0)")
	fs.Var(&f.status, "status", "progress on standard error: text (every second on a terminal, else every minute), json (one object per second) or none")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "print no progress (unless --status asks for it), only errors")
}

// check completes the rules from the flags.
func (f *watchFlags) check() (err error) {
	if f.rules.Kinds, err = watch.ParseKinds(f.events); err != nil {
		return console.Fail(console.ExitUsage, "--events: %w", err)
	}
	for _, s := range f.reference {
		addr, err := netip.ParseAddrPort(s)
		if err != nil || !addr.Addr().Is4() {
			return console.Fail(console.ExitUsage, "--reference %s: want an IPv4 address and a port", console.Quoted(s, 40))
		}
		f.rules.References = append(f.rules.References, addr)
	}
	if f.rules.DownAfter, err = strconv.Atoi(f.downAfter); err != nil {
		var silent time.Duration
		silent, err = time.ParseDuration(f.downAfter)
		if silent > 0 {
			f.rules.DownAfter = 1 + int((silent+f.rules.Every-1)/max(f.rules.Every, 1))
		}
	}
	if err != nil {
		return console.Fail(console.ExitUsage, "--down-after %s: want a number of checks, or a time such as 3m", console.Quoted(f.downAfter, 40))
	}
	if err := f.timeouts.check(); err != nil {
		return err
	}
	if err := f.checkMaster(); err != nil {
		return err
	}
	if err := f.from.Check(); err != nil {
		return err
	}
	f.rules.Attempts = 1 + f.timeouts.retries
	link, err := url.Parse(f.page.link)
	return console.FirstBroken(
		console.Rule{Broken: f.rules.Every < 5*time.Second, Err: "--every is below 5s", Hint: "each check repeats its request for several seconds before it gives up"},
		console.Rule{Broken: f.rules.FullEvery < f.rules.Every, Err: "--full-every is below --every", Hint: "choose a multiple of --every"},
		console.Rule{Broken: f.rules.DownAfter < 1 || f.rules.DownAfter > watch.MaxDownAfter, Err: "--down-after is not from 1 to 16,384 checks", Hint: "3 is a good choice: datagrams may be lost"},
		console.Rule{Broken: f.rules.Damp < 0 || f.rules.BlindMax < 0 || f.listEvery < 0 || f.maxRuntime < 0, Err: "a duration is negative", Hint: "0 switches it off"},
		console.Rule{Broken: f.keepHourly < time.Hour || f.keepDaily < f.keepHourly, Err: "--keep-hours is below 1h or above --keep-days", Hint: "rows of hours become rows of days"},
		console.Rule{Broken: f.rate < 1, Err: "--rate is below 1", Hint: "a watch needs a rate, such as 5k"},
		console.Rule{Broken: len(f.page.names) > 0 && !f.page.listen.Given, Err: "--public-name without --listen", Hint: "the live page is at --listen, such as --listen 8080"},
		console.Rule{Broken: f.page.link != "" && (err != nil || link.Scheme != "http" && link.Scheme != "https" || link.Host == ""), Err: "--page-link is no URL of a site", Hint: "it looks like https://example.org/"},
		console.Rule{Broken: f.rotate.On() && f.output == "-", Err: "--rotate without --output", Hint: "the files are named after it: -o events.ndjson"},
		console.Rule{Broken: !slices.Contains([]string{"json", "discord"}, f.hook.format), Err: "--webhook-format is json or discord", Hint: "json has everything, discord is for people"},
	)
}

// run watches until a signal ends it.
func (f *watchFlags) run(a *app, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := a.openLog(&f.log); err != nil {
		return err
	}
	for _, path := range []string{f.state, f.output} {
		if err := inputs.Overwritten("--state or --output", path, args); err != nil {
			return err
		}
	}
	hook, err := f.hook.open()
	if err != nil {
		return err
	}
	if f.hook.test {
		return f.hook.sendTest(a.term, hook)
	}
	note := func(s string) { a.term.Say("%s", s) }
	exclusions, err := f.exclude.Open(note)
	if err != nil {
		return err
	}
	f.rules.Excluded = exclusions.Excluded
	hangup := !console.IsTerminal(a.in)
	ctx, end := shutdown.Interruptible(!hangup)
	defer end()
	if f.maxRuntime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.maxRuntime)
		defer cancel()
	}
	db, err := f.openState(a.term)
	if err != nil {
		return err
	}
	show, closePage, err := f.openPage(a, db)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	defer closePage()
	log, err := f.openLog(a)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	a.sends = true
	debug.SetGCPercent(30) // most of the memory is a table that does not change
	reload := make(chan struct{}, 1)
	if hangup && !signal.Ignored(syscall.SIGHUP) {
		defer shutdown.Handle(func(os.Signal) {
			if _, err := exclusions.Reload(); err != nil {
				a.term.Say("exclusions stay as they were: %v", err)
			}
			select {
			case reload <- struct{}{}:
			default:
			}
		}, syscall.SIGHUP)()
	}
	load := func(ctx context.Context) ([]netip.AddrPort, error) {
		addrs, err := f.load(ctx, a, exclusions, args)
		if err == nil {
			f.sayStretched(a.term, len(addrs))
		}
		return addrs, err
	}
	err = watch.Run(ctx, &watch.Options{
		Rules: f.rules, DB: db, Log: log, Hook: hook, Load: load, ListEvery: f.listEvery, Reload: reload,
		Answers: f.state != "", Hourly: f.keepHourly, Daily: f.keepDaily, Terminal: a.term, Status: f.showStatus(a.term), Show: show,
		Scan: scanner.Config{
			Rate: f.rate.Limit(), AddressRate: f.addressRate.Limit(), Timeout: f.timeouts.auto.Or(0), Source: f.source.AddrPort(),
		},
	})
	closePage()
	return errors.Join(err, db.Close())
}

// openPage opens the live page, if there is to be one. It reads the database beside the
// watch, unless that is in memory. closePage may be called twice.
func (f *watchFlags) openPage(a *app, db *watchdb.DB) (show func(*watch.View), closePage func(), err error) {
	if !f.page.listen.Given {
		return nil, func() {}, nil
	}
	beside := db
	if f.state != "" {
		if beside, err = watchdb.Read(f.state); err != nil {
			return nil, nil, stateFailure(f.state, err)
		}
	}
	page, err := livepage.Open(a.term, livepage.Options{
		Address: f.page.listen.String(), Names: f.page.names, Title: f.page.title, Link: f.page.link, Build: thisBuild(), DB: beside,
		Label: func(addr netip.AddrPort) string { return (*f.page.labels.Load())[addr] },
	})
	closeDB := func() {
		if beside != db {
			_ = beside.Close()
		}
	}
	if err != nil {
		closeDB()
		return nil, nil, err
	}
	return func(v *watch.View) { page.Show(v, a.term) }, sync.OnceFunc(func() { page.Close(); closeDB() }), nil
}

// openState opens the database.
func (f *watchFlags) openState(t *console.Terminal) (*watchdb.DB, error) {
	if f.state == "" {
		f.keepHourly, f.keepDaily = time.Hour, 24*time.Hour
		if !f.quiet {
			t.Say("without --state FILE, the watch forgets everything when it ends")
		}
	}
	db, err := watchdb.Open(f.state)
	return db, stateFailure(f.state, err)
}

// stateFailure explains why a database can't be opened.
func stateFailure(path string, err error) error {
	name := console.Plain(path, 200)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, disk.ErrLocked):
		return console.Fail(console.ExitInput, "--state %s: another watch has it open", name).WithHint("a2sscan uptime can read it meanwhile")
	case errors.Is(err, watchdb.ErrForeign), errors.Is(err, watchdb.ErrVersion):
		return console.Fail(console.ExitInput, "--state %s %w", name, err).WithHint("name another file: nothing was changed")
	}
	return console.Fail(console.ExitInput, "--state %s: %w", name, console.WithoutPath(err))
}

// openLog opens the output.
func (f *watchFlags) openLog(a *app) (*watch.Log, error) {
	if f.output == "-" || f.output == "" {
		onScreen := console.IsTerminal(a.out.w)
		return watch.Print(a.term.Beside(a.out), onScreen), nil
	}
	log, err := watch.OpenLog(f.output, *f.rotate.Plan(time.Time{}))
	if err != nil {
		return nil, console.Fail(console.ExitOutput, "%w", err).WithHint("name another file with -o: nothing was changed")
	}
	return log, nil
}

// open returns the webhook that the flags name, or nil.
func (h *hookFlags) open() (*watch.Webhook, error) {
	kinds, err := watch.ParseKinds(h.events)
	if err != nil {
		return nil, console.Fail(console.ExitUsage, "--webhook-events: %w", err)
	}
	secret, where := os.Getenv(hookVariable), hookVariable
	if strings.Contains(h.file, "://") {
		return nil, console.Fail(console.ExitUsage, "--webhook-file takes the name of a file, not the URL itself").
			WithHint("everybody on this machine can read the command line: write the URL into a file, and name that")
	}
	if h.file != "" {
		b, err := os.ReadFile(h.file)
		if err != nil {
			return nil, console.Fail(console.ExitInput, "--webhook-file: %w", err)
		}
		secret, where = string(b), "--webhook-file "+console.Plain(h.file, 200)
	}
	if secret == "" {
		return nil, nil
	}
	hook, err := watch.NewWebhook(secret, h.format == "discord", kinds)
	if err != nil {
		return nil, console.Fail(console.ExitInput, "%s: %w", where, err)
	}
	return hook, nil
}

// sendTest posts a test message.
func (h *hookFlags) sendTest(t *console.Terminal, hook *watch.Webhook) error {
	if hook == nil {
		return console.Fail(console.ExitUsage, "--webhook-test without a webhook").WithHint("write its URL into a file, and name that with --webhook-file")
	}
	ctx, end := shutdown.Interruptible(false)
	defer end()
	if err := hook.Test(ctx); err != nil {
		return console.Fail(console.ExitOutput, "webhook: %w", err)
	}
	t.Say("the webhook took the test message")
	return nil
}

// load returns the servers that the arguments, lists and masters name.
func (f *watchFlags) load(ctx context.Context, a *app, exclusions *list.Exclusions, args []string) (addrs []netip.AddrPort, err error) {
	bad := inputs.NewBadLines(a.term, f.resolve)
	defer bad.Close()
	cfg := list.Config{
		Stdin: a.in, StdinIsTerminal: console.IsTerminal(a.in), Exclusions: exclusions, Invalid: bad.Add,
		Resolve: inputs.Resolve, OnlyArgs: !f.resolve, Note: func(s string) { a.term.Say("%s", s) },
	}
	if cfg.Sources, cfg.Args, err = inputs.Objects(args); err != nil {
		return nil, err
	}
	if f.ports != "" {
		if cfg.Ports, err = inputs.ParsePorts("--port", f.ports); err != nil {
			return nil, err
		}
	}
	cfg.Formats = masterlist.Formats()
	if f.from.Where != "" {
		fetched, _, err := f.from.Load(ctx, a.term, true)
		if err != nil {
			return nil, err
		}
		cfg.Sources = append(cfg.Sources, *fetched)
	}
	l, err := list.Open(cfg)
	if err != nil {
		return nil, inputs.TargetFailure(err)
	}
	if err := l.Load(ctx); err != nil {
		return nil, inputs.TargetFailure(err)
	}
	labels := map[netip.AddrPort]string{}
	for t := range l.From(0) {
		if addrs = append(addrs, t.Addr); t.Tag != "" {
			labels[t.Addr] = t.Tag
		}
	}
	f.page.labels.Store(&labels)
	return addrs, l.Err()
}

// sayStretched says if the rate is too low for the cycle.
func (f *watchFlags) sayStretched(t *console.Terminal, servers int) {
	// A check is a datagram, or a few more if one is lost or something changed; a full one is
	// four.
	datagrams := float64(servers) * (1.1 + 4*float64(f.rules.Every)/float64(f.rules.FullEvery))
	if need := datagrams / f.rules.Every.Seconds(); need > float64(f.rate) {
		t.Say("a cycle will take about %s instead of %s: %s need about %s datagrams a second, and --rate is %s",
			console.RoughDuration(time.Duration(datagrams/float64(f.rate)*float64(time.Second))), f.rules.Every,
			console.Plural(servers, "server"), console.Short(need), f.rate.String())
	}
}

// showStatus returns what prints the status lines.
func (f *watchFlags) showStatus(t *console.Terminal) func(*watch.Status) {
	kind, said := f.status.String(), time.Now()
	switch {
	case f.quiet && !f.status.Given, kind == "none":
		return nil
	case kind == "json":
		return func(s *watch.Status) { t.JSON(s) }
	case t.Interactive:
		return func(s *watch.Status) { t.ShowStatus(s.String()) }
	}
	return func(s *watch.Status) {
		if time.Since(said) >= time.Minute {
			said = time.Now()
			t.Say("%s", s)
		}
	}
}
