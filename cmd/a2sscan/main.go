// Command a2sscan asks game servers that speak Valve's A2S protocol what they
// are, all of a list or of a network at once, and writes one JSON line for
// each.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
)

func main() {
	prepare()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// prepare sets what is the whole process's.
func prepare() {
	// A panic ends with SIGABRT and not with exit code 2, which is never ours.
	debug.SetTraceback("crash")
	// A write to a closed pipe is an error like others, and not the end.
	signal.Ignore(syscall.SIGPIPE)
}

// app is what every command shares.
type app struct {
	term  *console.Terminal
	args  []string // the command line, without the program's name
	in    io.Reader
	out   *results
	sends bool // to servers or masters, so that a reader who leaves early loses something

	configFile *ledger.ConfigFile // nil: there is no configuration file
}

// run is the program: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{
		term: console.New(stderr),
		args: args,
		in:   stdin,
		out:  &results{w: stdout},
	}
	root := a.rootCommand()
	root.SetArgs(args)
	err := root.Execute()
	if a.out.err != nil {
		err = a.out.failure()
	}
	a.term.ClearStatus()
	if isCut(err) && !a.sends {
		err = &console.Failure{Code: console.ExitPipe, Err: err, Reported: true}
	}
	if err != nil && !isSaid(err) {
		a.term.Report(err)
	}
	a.logEnd(err)
	return console.ExitCode(err)
}

// results is standard output. It remembers the first error, so that a full
// disk behind it is noticed whoever was writing.
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

// cut reports whether whoever was to read it went away.
func (r *results) cut() bool { return errors.Is(r.err, syscall.EPIPE) }

// failure is the error of a run that could not write.
func (r *results) failure() error {
	f := console.Fail(console.ExitOutput, "can't write standard output: %w", console.WithoutPath(r.err))
	if f.ReaderGone = r.cut(); f.ReaderGone {
		f.WithHint("whoever was to read it has gone away")
	}
	return f
}

// isSaid reports whether an error need not be said once more.
func isSaid(err error) bool {
	var f *console.Failure
	return errors.As(err, &f) && f.Reported
}

// isCut reports whether a reader of standard output went away: head does, and
// whoever put it there knows. Where the same can be had again, no words are said.
func isCut(err error) bool {
	var f *console.Failure
	return errors.As(err, &f) && f.ReaderGone
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "a2sscan",
		Short: "Ask game servers what they are, all of them",
		Long: `a2sscan asks game servers that speak Valve's A2S protocol what they are: one UDP
question for general information, one for the players, one for the rules. It
asks all servers of a list or a network at once and writes one JSON line for
each.`,
		Example: `  a2sscan demo
  a2sscan scan servers.txt -o census.ndjson.zst
  a2sscan scan 198.51.100.0/24 -p 27015-27020 --query info --allow-reserved`,
		Args:               a.anyCommand,
		RunE:               func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors:      true,
		SilenceUsage:       true,
		DisableSuggestions: true, // anyCommand makes its own, as a hint
	}
	root.SetOut(a.out)
	root.SetErr(a.term.Messages())
	root.SetIn(a.in)
	root.SetUsageTemplate(usageTemplate)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(a.commands()...)
	a.configurable(root)
	completable(root)
	for _, cmd := range root.Commands() {
		cmd.DisableFlagsInUseLine = !cmd.HasAvailableLocalFlags()
	}
	return root
}

// commands are those of which every part is there.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.scanCommand(),
		a.demoCommand(),
		a.fleetCommand(),
		a.masterCommand(),
		a.askCommand(),
		a.decodeCommand(),
		a.catCommand(),
		a.verifyCommand(),
		a.schemaCommand(),
		a.doctorCommand(),
		a.versionCommand(),
		a.docsCommand(),
	}
}

// anyCommand refuses a word that is no command and says which one was meant.
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

// usageTemplate is cobra's with the examples where the eye rests: at the end.
const usageTemplate = `Usage:{{if .Runnable}}{{if not .HasAvailableSubCommands}}
  {{.UseLine}}{{end}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}}  {{.Short}}{{end}}{{end}}{{end}}{{range flagGroups .}}

{{.Title}}:
{{.Usages | trimTrailingWhitespaces}}{{end}}{{with withMaster .}}

With --master, only servers that meet all of these, and how to ask for them:
{{. | trimTrailingWhitespaces}}{{end}}{{if not .HasParent}}

{{exitCodes}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}
`

// self is how this program was started, for commands that somebody is to type.
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
