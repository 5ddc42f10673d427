package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net/netip"
	"net/url"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flags"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/scan"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/page"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
)

type watchFlags struct {
	opts watch.Options
	scan.Targeting
	scan.Display
	targeting  targetingFlags
	out        censusfile.Destination
	rotate     sink.Rotation
	maxRuntime time.Duration
	log        logFlag
	state      string
	downAfter  string
	reference  []string
	hook       hookFlags
	listen     string // address; "": no live page
	page       page.Options
	panelEvery time.Duration
	names      string // value of --names: own or list
	windows    windowsFlag
	fetched    *list.Source // the latest list of the master; nil: none
	stdin      bytes.Buffer // what was read from standard input, which can be read only once
	loaded     bool         // the lists were read
}

type hookFlags struct {
	file   string
	panel  string // file with the URL of the panel; "": none
	format string
	events []string
	role   string
	test   bool
}

// hookVariable is the environment variable that may hold the URL of the webhook.
const hookVariable = "A2SSCAN_WEBHOOK"

func watchCommand(a *app) *cobra.Command {
	f := &watchFlags{panelEvery: a.panelEvery}
	cmd := &cobra.Command{
		Use:   "watch [TARGET…]",
		Short: "Watch servers all day: who is up, who is down, what changed",
		Long: `Queries every server once a minute, and prints an event when a server goes down,
comes back, restarts, moves or changes. A TARGET is what scan accepts: a file, an
address, a network, a host name, or - for standard input.

A check asks for info, with the latest challenge of the server. Usually the watch
sends one datagram and receives one. When something changes, and every ten
minutes, the watch asks for players and rules, too. It spreads the checks evenly.

A server is down after three checks in a row without an answer, each with all
retries. When most servers fall silent at once, the cause is probably the network
of this machine: the watch prints the event blind and, when the network works
again, the event seeing. Between these events, but for at most ten minutes, it
reports no server as down. Time without checks, because the machine slept or the
program did not run, counts as unseen, never as down.

Events are lines of JSON, or readable lines on a terminal. --state stores
servers, events and uptime in an SQLite database. The next watch continues from
this database, and a2sscan uptime and sqlite3 can read the database. With
--state and --output, each event is in the output file exactly once, even after a
crash. When the reader of the output stops reading, the watch continues, and
after ten seconds it reports that the output is blocked. The next watch with the
same --state writes the remaining events.

In the file of --maintenance, a line has WHO, WHEN and a reason. WHO is all, an
address, a network, or a name from a list, in double quotes if it has blanks.
WHEN is in the time zone of this machine, unless WHEN names a zone:

  all              daily 04:00-04:30          nightly restart
  "Survival EU"    Mon,Thu 23:30-00:30        weekly wipe
  203.0.113.0/24   2026-12-01T04:00Z/06:00Z   new hardware

When a server goes down in this time, its events are marked as planned, and are
not posted. If the server is still down at the end of this time, the watch
reports the outage at once.

--listen serves a live page: who is up, people over time, events, a page for
each server, JSON at /api/, and metrics for Prometheus at /metrics. The page is
read-only and has no password: anyone who reaches the port can see it. For the
Internet, put a web server with TLS in front, and give its name in --public-name:

  Caddy:  status.example.org {
            reverse_proxy 127.0.0.1:8080
          }
  nginx:  server { listen 443 ssl; server_name status.example.org;
            location / { proxy_pass http://127.0.0.1:8080;
                         proxy_set_header Host $host; } }

When a list, a file of exclusions or the file of --maintenance changes, the watch
reads the file again within two minutes. It ignores a new list that it can't
read, or that has less than half as many servers as the old list. SIGHUP makes
the watch read everything at once, and accept even a much shorter list. But if
standard input is a terminal, SIGHUP ends the watch, as do Ctrl-C (SIGINT) and
SIGTERM.`,
		Example: `  a2sscan watch servers.txt --state watch.db --listen 8080
  a2sscan watch servers.txt --webhook-file discord.url
  a2sscan watch --master web --app 252490 --key-file key.txt --state rust.db`,
		RunE: func(_ *cobra.Command, args []string) error { return f.run(a, append(args, f.targeting.lists...)) },
	}
	f.add(cmd)
	return cmd
}

func (f *watchFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVarP(&f.out.Path, "output", "o", "-", "append events to `PATH` as lines of JSON, compressed if PATH ends in .zst or .gz; -: standard output")
	fs.Var(&flags.Value[sink.Rotation]{To: &f.rotate, Parse: flags.ParseRotation, Word: "SIZE|TIME"}, "rotate", "begin a new file of events after this size or duration, such as 1G or 24h; the name of the old file gets its start time and a number")
	fs.StringVar(&f.state, "state", "", "store servers, events and uptime in the SQLite database `FILE` (default: in memory only)")
	fs.DurationVar(&f.opts.Hourly, "keep-hours", 7*24*time.Hour, "store hourly uptime for `D`, then merge the hours into one row per server and day")
	fs.DurationVar(&f.opts.Daily, "keep-days", 400*24*time.Hour, "store daily uptime and events for `D`")
	fs.DurationVar(&f.opts.Rules.Every, "every", time.Minute, "check each server once every `D`")
	fs.DurationVar(&f.opts.Rules.FullEvery, "full-every", 10*time.Minute, "ask each server for players and rules, too, once every `D`")
	fs.StringVar(&f.downAfter, "down-after", "3", "report a server as down after `N` checks in a row without an answer, or after a time without an answer, such as 3m")
	fs.DurationVar(&f.opts.Rules.Damp, "damp", 10*time.Minute, "report at most two events of a kind per server within `D`, and only count the rest; down and up are one kind")
	fs.DurationVar(&f.opts.Rules.BlindMax, "blind-max", 10*time.Minute, "if most servers are silent at once, suspect the network of this machine, and report these servers as down only after `D`")
	fs.StringSliceVar(&f.reference, "reference", nil, "`LIST` of servers (IP:PORT) that are always up; the watch is blind while all servers in LIST are silent, and never otherwise; may be repeated")
	fs.StringSliceVar(&f.opts.Rules.Kinds, "events", nil, "report only events of these kinds, besides the events of --crowd and --remind: a `LIST` of "+strings.Join(db.Kinds, ", ")+" (default: all kinds, but the kind map only for games whose maps last for weeks)")
	fs.StringVar(&f.hook.file, "webhook-file", "", "post events to the URL in `FILE` (default: the URL in the variable "+hookVariable+")")
	fs.StringVar(&f.hook.format, "webhook-format", "", "format of the posts: `WORD` is json or discord (default: discord if the URL is one of discord.com, otherwise json)")
	fs.StringSliceVar(&f.hook.events, "webhook-events", []string{"down", "up", "reminder", "crowd", "blind", "seeing"}, "post only these kinds of events: a `LIST`")
	fs.StringVar(&f.hook.panel, "webhook-panel", "", "show all servers in one message on Discord, edited once a minute, through the webhook whose URL is in `FILE`; needs --state")
	fs.StringVar(&f.hook.role, "webhook-role", "", "on Discord, mention the role with this `ID` when a server is down (default: mention nobody)")
	fs.BoolVar(&f.hook.test, "webhook-test", false, "post a test message to the webhook, then exit")
	fs.Var(&flags.Value[string]{To: &f.listen, Parse: flags.ParseListen, Word: "[ADDRESS:]PORT"}, "listen", "serve the live page over HTTP at this port of 127.0.0.1, or at ADDRESS:PORT; port 0: any free port (default off)")
	fs.StringSliceVar(&f.page.Names, "public-name", nil, "also serve the live page under the host `NAME`, such as status.example.org, behind a web server; may be repeated (default: only under IP addresses and localhost)")
	fs.StringVar(&f.page.Title, "page-title", "Game servers", "`TEXT` at the top of the live page")
	fs.BoolVar(&f.page.NoJoin, "no-join-links", false, "omit the links for joining a server (steam://connect/) from the live page")
	fs.StringVar(&f.page.Link, "page-link", "", "`URL` of your own site, to which the live page links (default: no link)")
	fs.StringVar(&f.names, "names", "own", "name of a server on the page, in events and in messages: `WORD` is own (what the server says) or list (the text after its address in the list)")
	fs.StringVar(&f.windows.path, "maintenance", "", "mark events as planned at the times in `FILE`, one per line: WHO WHEN [reason], such as \"all daily 04:00-04:30 restart\"; planned events are not posted")
	fs.IntVar(&f.opts.Rules.Crowd, "crowd", 0, "report the event crowd when a server reaches `N` people while the watch runs, and again only after it had fewer than half of N; 0: never (default 0)")
	fs.DurationVar(&f.opts.Rules.Remind, "remind", 0, "report a reminder once every `D` while a server stays down; 0: never (default 0)")
	f.targeting.add(cmd, &f.Targeting, "watch")
	fs.DurationVar(&f.opts.Lists.Every, "list-every", 6*time.Hour, "read all lists again, including the list of --master, once every `D`; 0: only after SIGHUP, even if a file changes")
	f.Rate.Rate = scanner.DefaultRate
	fs.VarP(&f.Rate.Rate, "rate", "r", "send at most `N` datagrams per second, such as 800, 5k or 1.5M; if this rate is too low, the watch checks servers less often")
	f.log.add(cmd)
	fs.DurationVar(&f.maxRuntime, "max-runtime", 0, "end after `D`, such as 6h; 0: never (default 0)")
	fs.Var(&flags.Value[scan.StatusKind]{To: &f.Status, Parse: scan.ParseStatusKind, Text: "text", Word: "KIND"}, "status", "progress on standard error: text (every second on a terminal, else every minute), json (one object per second) or none")
	fs.BoolVarP(&f.Quiet, "quiet", "q", false, "print no progress (unless --status asks for it), only errors")
}

// check completes the options from the flags.
func (f *watchFlags) check(args []string) (err error) {
	rules := &f.opts.Rules
	for flag, kinds := range map[string][]string{"--events": rules.Kinds, "--webhook-events": f.hook.events} {
		if err := watch.CheckKinds(kinds); err != nil {
			return console.Fail(console.ExitUsage, "%s: %w", flag, err)
		}
	}
	for _, s := range f.reference {
		addr, err := netip.ParseAddrPort(s)
		if err := console.CheckPort(s); err != nil {
			return console.Fail(console.ExitUsage, "--reference %s: %w", console.Quoted(s, 40), err)
		}
		if err != nil || !addr.Addr().Is4() {
			return console.Fail(console.ExitUsage, "--reference %s: use an IPv4 address and a port", console.Quoted(s, 40))
		}
		rules.References = append(rules.References, addr)
	}
	if rules.DownAfter, err = strconv.Atoi(f.downAfter); err != nil {
		var silent time.Duration
		silent, err = time.ParseDuration(f.downAfter)
		if silent > 0 {
			rules.DownAfter = 1 + int((silent+rules.Every-1)/max(rules.Every, 1))
		}
	}
	if err != nil {
		return console.Fail(console.ExitUsage, "--down-after %s: use a number of checks, or a time such as 3m", console.Quoted(f.downAfter, 40))
	}
	const paths = "--state or --output"
	err = cmp.Or(f.targeting.check(), f.From.Check(),
		censusfile.Overwritten(paths, f.state, args), censusfile.Overwritten(paths, f.out.Path, args))
	if err != nil {
		return err
	}
	if err := f.openHooks(); err != nil {
		return err
	}
	rules.Attempts, rules.Answers, rules.Names = 1+f.Retries, f.state != "", f.names == "list"
	f.opts.Scan = f.Targeting.Config()
	link, err := url.Parse(f.page.Link)
	zone := strings.TrimPrefix(os.Getenv("TZ"), ":")
	notZone := zone != "" && zone != "UTC" && time.Local.String() == "UTC" // Go takes a zone that it does not know as UTC
	_, notRole := strconv.ParseUint(f.hook.role, 10, 64)
	return console.FirstBroken(
		console.Rule{Broken: rules.Every < 5*time.Second, Err: "--every is below 5s", Hint: "use at least 5s: a check repeats its request for several seconds"},
		console.Rule{Broken: rules.FullEvery < rules.Every, Err: "--full-every is below --every", Hint: "choose a multiple of --every"},
		console.Rule{Broken: rules.DownAfter < 1, Err: "--down-after is below 1", Hint: "use a number such as 3, because datagrams may be lost"},
		console.Rule{Broken: min(rules.Damp, rules.BlindMax, rules.Remind, f.opts.Lists.Every, f.maxRuntime) < 0, Err: "--damp, --blind-max, --remind, --list-every or --max-runtime is negative", Hint: "use 0 to switch off what the flag does"},
		console.Rule{Broken: f.opts.Hourly < time.Hour || f.opts.Daily < f.opts.Hourly, Err: "--keep-hours is below 1h or above --keep-days", Hint: "use at least 1h for --keep-hours, and at least as much for --keep-days"},
		console.Rule{Broken: f.Rate.Rate < 1, Err: "--rate is below 1", Hint: "a watch needs a rate, such as 5k"},
		console.Rule{Broken: len(f.page.Names) > 0 && f.listen == "", Err: "--public-name needs --listen", Hint: "serve the live page with --listen, such as --listen 8080"},
		console.Rule{Broken: f.page.Link != "" && (err != nil || link.Scheme != "http" && link.Scheme != "https" || link.Host == ""), Err: "--page-link is not the URL of a site", Hint: "use a URL such as https://example.org/"},
		console.Rule{Broken: f.rotate.On() && !f.out.ToFile(), Err: "--rotate needs --output", Hint: "name the output, such as -o events.ndjson: each old file gets this name with a time and a number"},
		console.Rule{Broken: !slices.Contains([]string{"own", "list"}, f.names), Err: "--names must be own or list", Hint: "own shows the name that a server reports, and list shows the text after its address in the list"},
		console.Rule{Broken: rules.Crowd < 0, Err: "--crowd is below 0", Hint: "use 0 to report no crowd"},
		console.Rule{Broken: rules.Remind > 0 && rules.Remind < time.Minute, Err: "--remind is below 1m", Hint: "use a time such as 6h"},
		console.Rule{Broken: !slices.Contains([]string{"", "json", "discord"}, f.hook.format), Err: "--webhook-format must be json or discord", Hint: "json has all details, discord is text for people"},
		console.Rule{Broken: f.hook.role != "" && notRole != nil, Err: "--webhook-role must be a number", Hint: "send \\@ and the name of the role on Discord: the message then shows the role's ID, as <@&ID>"},
		console.Rule{Broken: f.hook.role != "" && (f.opts.Hook == nil || !f.opts.Hook.Discord), Err: "--webhook-role needs a webhook of Discord", Hint: "write the URL of the webhook into a file, and name the file with --webhook-file"},
		console.Rule{Broken: f.hook.panel != "" && f.state == "", Err: "--webhook-panel needs --state", Hint: "add --state watch.db: the watch stores the ID of its message in this database"},
		console.Rule{Broken: f.windows.path != "" && notZone, Err: "--maintenance: a2sscan does not know the time zone TZ=" + console.Quoted(zone, 60), Hint: "use the name of a zone, such as TZ=Europe/Berlin, or TZ=UTC"},
		console.Rule{Broken: f.hook.test && f.opts.Hook == nil, Err: "--webhook-test needs a webhook", Hint: "write the URL of the webhook into a file, and name the file with --webhook-file"},
	)
}

// openHooks opens the webhooks of the events and of the panel. With --public-name, their
// messages link to the live page.
func (f *watchFlags) openHooks() (err error) {
	if f.opts.Hook, err = f.hook.open(); err != nil {
		return err
	}
	if f.hook.panel != "" {
		secret, where, err := readSecret("--webhook-panel", f.hook.panel)
		if err != nil {
			return err
		}
		hook, err := watch.NewWebhook(secret, "discord", nil)
		if err != nil {
			return console.Fail(console.ExitInput, "%s: %w", where, err)
		}
		f.opts.Panel = &watch.Panel{Hook: hook, Title: f.page.Title, Every: f.panelEvery}
	}
	if len(f.page.Names) > 0 {
		site := "https://" + f.page.Names[0]
		if f.opts.Hook != nil {
			f.opts.Hook.Site = site
		}
		if f.opts.Panel != nil {
			f.opts.Panel.Hook.Site = site
		}
	}
	return nil
}

func (f *watchFlags) run(a *app, args []string) (err error) {
	a.term.Structured = f.StatusKind() == scan.StatusJSON
	if err := f.check(args); err != nil {
		return err
	}
	if err := a.openLog(&f.log); err != nil {
		return err
	}
	if f.hook.test {
		return f.hook.post(a, f.opts.Hook)
	}
	exclusions, err := f.Exclude.Open(func(note string) { a.term.Say("%s", note) })
	if err != nil {
		return err
	}
	for _, addr := range f.opts.Rules.References {
		if exclusions.Excluded(addr.Addr()) {
			return console.Fail(console.ExitUsage, "--reference %v: the server is excluded", addr).
				WithHint("omit the exclusion, or name another server; private networks need --allow-reserved")
		}
	}
	reload, hangup := f.hangups(a)
	ctx, end := scan.Interruptible(hangup)
	defer end()
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(f.maxRuntime, math.MaxInt64)) // MaxInt64 nanoseconds are 292 years
	defer cancel()
	state, err := f.openState(ctx, a)
	if f.over(a, ctx, err) {
		return nil
	}
	if err != nil {
		return stateFailure(f.state, err)
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	shown, err := f.openPage(a, state)
	if err != nil {
		return err
	}
	if shown != nil {
		defer shown.Close()
	}
	if err := f.openOutput(a); err != nil {
		return err
	}
	a.sends = true
	// Most of the heap is the table of servers, which is never garbage. With the default of
	// 100 %, garbage could double the memory.
	debug.SetGCPercent(30)
	f.opts.Rules.Excluded, f.opts.DB, f.opts.Terminal = exclusions.Excluded, state, a.term
	f.opts.Scan.Tuning.TryPlayers = !scan.NamesNetworks(args)
	f.opts.Lists.Reload = reload
	f.opts.Lists.Files = f.files(args)
	f.opts.Lists.Windows = f.windows.read
	f.opts.Lists.Extend = func() {
		if err := exclusions.Extend(); err != nil {
			a.term.Say("the old exclusions still apply: %v", err)
		}
	}
	f.opts.Lists.Load = func(ctx context.Context, fetch bool) (*watch.List, error) {
		return f.load(ctx, a, exclusions, args, fetch)
	}
	f.opts.Show = func(w *watch.Watch) (end func()) { return f.show(a, w, shown) }
	if err := watch.Run(ctx, &f.opts); !f.over(a, ctx, err) {
		return err
	}
	return nil
}

// hangups returns the channel on which SIGHUP makes the watch read its lists again. If
// standard input is a terminal, SIGHUP ends the watch instead: ends is true, and the
// channel receives nothing.
func (f *watchFlags) hangups(a *app) (reload chan os.Signal, ends bool) {
	reload = make(chan os.Signal, 1)
	ends = console.IsTerminal(a.in)
	if !signal.Ignored(syscall.SIGHUP) {
		if !ends {
			signal.Notify(reload, syscall.SIGHUP)
		}
		return reload, ends
	}
	if !f.Quiet {
		how := "lists are read again only when they change, and every " + f.opts.Lists.Every.String()
		if f.opts.Lists.Every == 0 {
			how = "lists are never read again"
		}
		a.term.Say("SIGHUP is ignored, as under nohup: %s", how)
	}
	return reload, ends
}

// openState opens the database of --state, or one in memory. It waits while another
// program has locked the database.
func (f *watchFlags) openState(ctx context.Context, a *app) (state *db.DB, err error) {
	if f.state == "" {
		f.opts.Hourly, f.opts.Daily = time.Hour, 24*time.Hour
		if !f.Quiet {
			a.term.Say("without --state FILE, the watch forgets everything when it ends")
		}
	}
	err = db.Retry(ctx, a.stateHeld(f.state), func() (err error) {
		state, err = db.Open(f.state)
		return err
	})
	return state, err
}

// openPage opens the live page. Without --listen it returns nil.
func (f *watchFlags) openPage(a *app, state *db.DB) (*page.Page, error) {
	if f.listen == "" {
		return nil, nil
	}
	f.page.Address, f.page.Build, f.page.DB = f.listen, thisBuild(), state
	f.page.ByList = f.names == "list"
	f.page.Timeout = 10 * time.Second // shorter than the WriteTimeout of the web server
	return page.Open(a.term, f.page)
}

// openOutput opens the output of the events.
func (f *watchFlags) openOutput(a *app) (err error) {
	screen := a.term.Beside(a.out.w)
	if f.out.ToFile() {
		screen = nil
	}
	f.opts.Log, err = watch.OpenLog(f.out.Path, screen, screen != nil && console.IsTerminal(a.out.w), f.rotate)
	if err != nil {
		return console.Fail(console.ExitOutput, "%w", err).WithHint("name another file with -o; nothing was changed")
	}
	return nil
}

// show shows the watch on the terminal and on the live page, if there is one, until end is
// called.
func (f *watchFlags) show(a *app, w *watch.Watch, shown *page.Page) (end func()) {
	if shown != nil {
		shown.Show(w, a.term)
	}
	status := scan.Status{Terminal: a.term, Kind: f.StatusKind(), InLog: time.Minute}
	begin := time.Now()
	line := func() string {
		lines := []string{w.Status().String()}
		if a.term.Interactive {
			lines = append(lines, w.NotUp(a.term.Height()-2)...)
		}
		return strings.Join(lines, "\n")
	}
	stop := status.Watch(line, func() { a.term.JSON(w.Status()) })
	return func() {
		stop()
		if !f.Quiet {
			a.term.Say("the watch ended after %s with %v", console.RoughDuration(time.Since(begin)), w.Status())
		}
		if shown != nil {
			shown.Close()
		}
	}
}

// over reports whether err means that --max-runtime ended ctx before the watch had begun.
// If so, over tells the user.
func (f *watchFlags) over(a *app, ctx context.Context, err error) bool {
	if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != context.DeadlineExceeded {
		return false
	}
	a.term.Say("--max-runtime %v ended before the watch began", f.maxRuntime)
	return true
}

// files returns the names of the regular files among the lists, the exclusions and the file
// of --maintenance. The watch reads them again when one of them changes.
func (f *watchFlags) files(args []string) (files []string) {
	for _, name := range slices.Concat(args, f.Exclude.Files, []string{f.windows.path}) {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			files = append(files, name)
		}
	}
	return files
}

// windowsFlag is the flag --maintenance.
type windowsFlag struct {
	path string // "": no maintenance windows
	// kept has the windows that came from a pipe, which can be read only once; nil: none
	kept []watch.Window
}

func (f *windowsFlag) read() ([]watch.Window, error) {
	if f.path == "" || f.kept != nil {
		return f.kept, nil
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, console.Fail(console.ExitInput, "--maintenance %s: %w", console.Plain(f.path, 200), console.WithoutPath(err))
	}
	defer file.Close()
	windows, err := watch.ReadWindows(file, time.Local)
	if err != nil {
		return nil, console.Fail(console.ExitInput, "--maintenance %s: %w", console.Plain(f.path, 200), err)
	}
	if !censusfile.IsFile(f.path) {
		f.kept = append([]watch.Window{}, windows...)
	}
	return windows, nil
}

// stateHeld returns a function that db.Retry calls when another program has locked the
// database. The function tells the user.
func (a *app) stateHeld(path string) func(time.Time) {
	return func(since time.Time) {
		if !since.IsZero() {
			a.term.Say("--state %s: waiting, because another program has locked the database", console.Plain(path, 200))
		}
	}
}

// stateFailure explains why a watch or uptime can't use its database.
func stateFailure(path string, err error) error {
	name := console.Plain(path, 200)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, disk.ErrLocked):
		return console.Fail(console.ExitInput, "--state %s: another watch uses this database", name).WithHint("a2sscan uptime can still read the database")
	case errors.Is(err, db.ErrBusy):
		return console.Fail(console.ExitInterrupted, "--state %s: interrupted while waiting: %w", name, err)
	case errors.Is(err, db.ErrOld):
		return console.Fail(console.ExitInput, "--state %s: %w", name, err).WithHint("upgrade the database with a2sscan watch --state; nothing was changed yet")
	case errors.Is(err, db.ErrVersion):
		return console.Fail(console.ExitInput, "--state %s: %w", name, err).WithHint("use the version of a2sscan that wrote the database, or name another file; nothing was changed")
	case errors.Is(err, db.ErrForeign):
		return console.Fail(console.ExitInput, "--state %s: %w", name, err).WithHint("name another file; nothing was changed")
	}
	return console.Fail(console.ExitInput, "--state %s: %w", name, console.WithoutPath(err))
}

// readSecret reads a secret URL from the file that a flag names. For error messages, it
// also returns the names of the flag and the file.
func readSecret(flag, file string) (secret, where string, err error) {
	if strings.Contains(file, "://") {
		return "", "", console.Fail(console.ExitUsage, "%s takes the name of a file, not the URL itself", flag).
			WithHint("everybody on this machine can read the command line: write the URL into a file, and name the file")
	}
	b, err := disk.ReadFile(file, 16<<10)
	if err != nil {
		return "", "", console.Fail(console.ExitInput, "%s: %w", flag, err)
	}
	return string(b), flag + " " + console.Plain(file, 200), nil
}

// open returns the webhook of --webhook-file or of the environment, or nil if there is none.
func (h *hookFlags) open() (*watch.Webhook, error) {
	secret, where := os.Getenv(hookVariable), hookVariable
	if h.file != "" {
		var err error
		if secret, where, err = readSecret("--webhook-file", h.file); err != nil {
			return nil, err
		}
	}
	if secret == "" {
		return nil, nil
	}
	hook, err := watch.NewWebhook(secret, h.format, h.events)
	if err != nil {
		return nil, console.Fail(console.ExitInput, "%s: %w", where, err)
	}
	hook.Role = h.role
	return hook, nil
}

// post posts the test message of --webhook-test to hook.
func (h *hookFlags) post(a *app, hook *watch.Webhook) error {
	ctx, end := scan.Interruptible(false)
	defer end()
	if err := hook.Test(ctx); err != nil {
		return console.Fail(console.ExitOutput, "webhook: %w", err)
	}
	a.term.Say("the webhook accepted the test message")
	return nil
}

// load reads the lists. If fetch is set, it first fetches the list of --master; otherwise
// it uses the latest fetched list. It warns if the rate is too low to check all servers in
// one cycle.
func (f *watchFlags) load(ctx context.Context, a *app, exclusions *list.Exclusions, args []string, fetch bool) (*watch.List, error) {
	if _, err := exclusions.Reload(); err != nil {
		a.term.Say("the old exclusions still apply: %v", err)
	}
	bad := scan.NewBadLines(a.term, f.Resolve)
	defer bad.Close()
	cfg, err := f.ListConfig(args, a.in)
	if err != nil {
		return nil, err
	}
	cfg.Stdin = io.TeeReader(a.in, &f.stdin)
	if f.loaded {
		cfg.Stdin = bytes.NewReader(f.stdin.Bytes())
	}
	cfg.Exclusions, cfg.Invalid, cfg.Note = exclusions, bad.Add, func(note string) { a.term.Say("%s", note) }
	if f.From.Where != "" {
		if fetch {
			fetched, _, err := f.From.Load(ctx, a.term, true)
			if err != nil {
				return nil, err
			}
			f.fetched = fetched
		}
		cfg.Sources = append(cfg.Sources, *f.fetched)
	}
	l, err := list.Open(cfg)
	if err == nil {
		err = l.Load(ctx)
	}
	if err != nil {
		return nil, scan.TargetFailure(err)
	}
	all := &watch.List{Labels: map[netip.AddrPort]string{}}
	for t := range l.From(0) {
		if all.Addrs = append(all.Addrs, t.Addr); t.Tag != "" {
			all.Labels[t.Addr] = t.Tag
		}
	}
	f.loaded = true
	// A check sends about 1.1 datagrams, because a few checks repeat their request. A full
	// check sends four more datagrams.
	rules, rate := &f.opts.Rules, f.Rate.Rate
	datagrams := float64(len(all.Addrs)) * (1.1 + 4*float64(rules.Every)/float64(rules.FullEvery))
	if need := datagrams / rules.Every.Seconds(); need > float64(rate) {
		a.term.Say("a round of checks will take about %s instead of %s: --rate is %s, but checking %s takes about %s datagrams per second",
			console.RoughDuration(time.Duration(datagrams/float64(rate)*float64(time.Second))), rules.Every,
			rate.String(), console.Plural(len(all.Addrs), "server"), console.Short(need))
	}
	return all, l.Err()
}
