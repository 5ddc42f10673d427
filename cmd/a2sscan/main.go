// Command a2sscan queries game servers in bulk over Valve's A2S protocol and writes one
// JSON line per server.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	_ "time/tzdata" // a container may have no time zone files; Go would then take each TZ as UTC

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/sink/disk"
)

func main() {
	prepare()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func prepare() {
	// With this setting, a panic ends the program with SIGABRT. Otherwise the exit code
	// would be 2, which is not in console.Exits.
	debug.SetTraceback("crash")
	// Make writing to a closed pipe an ordinary error.
	signal.Ignore(syscall.SIGPIPE)
	var once sync.Once
	disk.Unlocked = func(path string, err error) {
		once.Do(func() {
			console.New(os.Stderr).Say("%s can't be locked: %v; make sure that no other scan writes to this file", console.Plain(path, 200), err)
		})
	}
}

type app struct {
	term *console.Terminal
	args []string // the command line, without the program's name
	in   io.Reader
	out  *results
	// Commands such as scan, whose results can't be produced again, set sends. For these
	// commands, it is an error if the reader of standard output closes the pipe early.
	sends bool

	configFile *ledger.ConfigFile // nil: there is no configuration file
	// panelEvery is the shortest time between two edits of the message of --webhook-panel.
	panelEvery time.Duration
}

func newApp(args []string, stdin io.Reader, stdout, stderr io.Writer) *app {
	return &app{
		term:       console.New(stderr),
		args:       args,
		in:         stdin,
		out:        &results{w: stdout},
		panelEvery: time.Minute,
	}
}

// run returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newApp(args, stdin, stdout, stderr).run()
}

func (a *app) run() int {
	var err error
	if a.args, err = ourArguments(a.args); err == nil {
		root := a.rootCommand()
		root.SetArgs(a.args)
		i := slices.Index(a.args, "--status") + 1
		// Set before Execute, so that errors in other arguments are JSON, too.
		a.term.Structured = slices.Contains(a.args, "--status=json") || i > 0 && i < len(a.args) && a.args[i] == "json"
		err = root.Execute()
	}
	if a.out.err != nil {
		f := console.Fail(console.ExitOutput, "can't write to standard output: %w", console.WithoutPath(a.out.err))
		if f.ReaderGone = a.out.cut(); f.ReaderGone {
			f.WithHint("the reader closed the pipe")
		}
		err = f
	}
	a.term.ClearStatus()
	f, failed := errors.AsType[*console.Failure](err)
	switch {
	case failed && f.ReaderGone && !a.sends: // normal if the reader is a program such as head
		err = &console.Failure{Code: console.ExitPipe, Err: err}
	case err != nil && !(failed && f.Reported):
		a.term.Report(err)
	}
	a.term.LogEnd(err)
	a.term.Close()
	return console.ExitCode(err)
}

// results is standard output. It remembers the first write error, so that app.run reports
// a full disk even if the writing code ignored the error.
type results struct {
	w   io.Writer
	err error
}

func (r *results) Write(b []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.w.Write(b)
	r.err = err
	return n, err
}

// cut reports whether the reader closed the pipe.
func (r *results) cut() bool { return errors.Is(r.err, syscall.EPIPE) }

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "a2sscan",
		Short: "Query game servers in bulk over Valve's A2S protocol",
		Long: `a2sscan queries game servers that speak Valve's A2S protocol. It asks each of
them three questions over UDP: general information, players, and rules (the
settings of the server). It can query one server, a list, or a whole network,
and writes one line of JSON per server.`,
		Example: `  a2sscan demo
  a2sscan scan servers.txt -o census.ndjson.zst
  a2sscan ask 203.0.113.7:27015`,
		Args: a.anyCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version, _ := cmd.Flags().GetBool("version"); version {
				_, err := fmt.Fprintln(a.out, versionLine())
				return err
			}
			return cmd.Help()
		},
		SilenceErrors:      true,
		SilenceUsage:       true,
		DisableSuggestions: true, // anyCommand suggests commands instead
	}
	root.SetOut(a.out)
	root.SetErr(a.term.Messages())
	root.SetIn(a.in)
	root.SetUsageTemplate(usageTemplate)
	root.SetHelpFunc(helpOf)
	root.SetHelpCommand(a.helpCommand())
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(aliasOf(name))
	})
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		a.scanCommand(),
		watchCommand(a),
		uptimeCommand(a),
		a.demoCommand(),
		a.fleetCommand(),
		a.masterCommand(),
		a.askCommand(),
		a.decodeCommand(),
		a.catCommand(),
		a.diffCommand(),
		a.statsCommand(),
		a.reportCommand(),
		a.verifyCommand(),
		a.mergeCommand(),
		a.schemaCommand(),
		a.doctorCommand(),
		a.versionCommand(),
		a.docsCommand(),
	)
	for _, cmd := range root.Commands() {
		cmd.Flags().SortFlags = false
		a.configurable(cmd)
		completable(cmd)
		cmd.DisableFlagsInUseLine = !cmd.HasAvailableLocalFlags()
	}
	completable(root)
	root.Flags().BoolP("version", "V", false, "print the version")
	return root
}

// anyCommand returns an error for a word that is not a command.
func (a *app) anyCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	f := console.Fail(console.ExitUsage, "unknown command %s", console.Quoted(args[0], 40)).
		WithHint("a2sscan --help lists the commands")
	cmd.SuggestionsMinimumDistance = 2
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		f.Hint = fmt.Sprintf("did you mean %s?", like[0])
	}
	return f
}

// self returns the command that starts this program, for hints.
func self() string {
	exe, err := os.Executable()
	if err == nil && strings.Contains(filepath.ToSlash(exe), "/go-build") {
		return "go run ./cmd/a2sscan"
	}
	if strings.ContainsRune(os.Args[0], filepath.Separator) {
		return console.Plain(os.Args[0], 200)
	}
	return "a2sscan"
}
