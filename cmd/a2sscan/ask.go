package main

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flags"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/scan"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/transcript"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

type askFlags struct {
	timeoutFlags
	query       flags.Questions
	source      netip.AddrPort
	trailingNUL bool
	json        bool
	brief       bool

	findPort      bool
	allowReserved bool
	set           *pflag.FlagSet
}

func (a *app) askCommand() *cobra.Command {
	f := &askFlags{query: flags.Questions(wire.AskAll)}
	cmd := &cobra.Command{
		Use:   "ask ADDR",
		Short: "Query one server and explain every datagram",
		Long: `Queries one server as scan does, and explains what happened. ask first prints a
verdict, such as up, silent, unreachable, limited (the server reports too many
queries) or filtered (the server sends challenges, but no answers). Then it
prints all datagrams, with the meaning of their bytes, and the record.

ADDR is ip:port, ip, or a host name with or without a port; the default port is
27015. A link such as steam://connect/203.0.113.7:27015 is accepted, too. ask
looks up a host name and queries its first IPv4 address. Unlike scan, it accepts
private and reserved addresses, such as those of your local network.

Players often know only the port at which they join. With --find-port, ask sends
one info request to each port that may be the server's query port, prints every
port that answers, and stops at the answer that names the game port in ADDR. The
exit code is then 0 if a port answers, and 6 if none does.

The exit code is 0 if every question has a complete answer, and 6 if not. So
with --query info the code shows whether the server is up. It is 1 if nothing
could be sent, and 4 if ask was interrupted.`,
		Example: `  a2sscan ask 203.0.113.7:27015
  a2sscan ask play.example.com:27016 --json | jq -r .verdict
  a2sscan ask 203.0.113.7:28015 --find-port`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return console.Fail(console.ExitUsage, "ask needs an address").WithHint("a2sscan ask 203.0.113.7:27015")
			case 1:
			default:
				return console.Fail(console.ExitUsage, "ask takes one address, but also got %s", console.Quoted(args[1], 40)).
					WithHint("to query many servers, use a2sscan scan")
			}
			if err := errors.Join(f.check(), f.checkFindPort()); err != nil {
				return err
			}
			if f.brief && f.json {
				return console.Fail(console.ExitUsage, "--brief and --json exclude each other").WithHint("omit --brief: the output of --json begins with the verdict")
			}
			return a.ask(f, args[0])
		},
	}
	fs := cmd.Flags()
	f.set = fs
	fs.Var(&f.query, "query", "questions to ask: a `LIST` of info, players, rules and ping")
	f.timeoutFlags.add(cmd)
	addSource(fs, &f.source)
	fs.BoolVar(&f.trailingNUL, "trailing-nul", false, "add a NUL byte to every request except info, as some old tools do")
	fs.BoolVar(&f.brief, "brief", false, "print only the verdict, a sentence of explanation and, if the server is not up, a hint")
	fs.BoolVar(&f.json, "json", false, "print one JSON object with the verdict, the record and all datagrams")
	fs.BoolVar(&f.findPort, "find-port", false, "find the query port of a server whose game port is in ADDR: query up to 90 likely ports, ten per second")
	fs.BoolVar(&f.allowReserved, "allow-reserved", false, "with --find-port, also query special-purpose networks, such as your local network")
	return cmd
}

func (a *app) ask(f *askFlags, arg string) error {
	ctx, end := scan.Interruptible(true)
	defer end()
	target, err := transcript.ResolveAddr(ctx, scan.ReportAddrs(a.term, scan.Resolve), arg)
	if err != nil {
		return err
	}
	if f.findPort {
		return a.findQueryPort(ctx, f, target)
	}
	whole := !f.json && !f.brief
	if whole && a.term.Interactive {
		a.term.ShowStatus(fmt.Sprintf("asking %v for %s", target, strings.ReplaceAll(f.query.String(), ",", ", ")))
	}
	s := &transcript.Session{Target: target, Width: a.width()}
	err = s.Query(ctx, scanner.Config{
		Questions: wire.Questions(f.query),
		Timeout:   f.timeout(),
		Attempts:  1 + f.retries,
		Cooldown:  f.timeout(), // also show late replies
		Source:    f.source,
		Tuning:    scanner.Tuning{TrailingNUL: f.trailingNUL, TryPlayers: true},
	})
	a.term.ClearStatus()
	if err != nil {
		err = console.Fail(console.ExitUsage, "%w", err).WithHint("a2sscan ask --help lists the flags with units and defaults")
	} else if s.Result == nil || ctx.Err() != nil && s.Result.Status != scanner.StatusOK {
		err = console.Fail(console.ExitInterrupted, "interrupted before %v had answered every question", target)
	}
	if err != nil {
		if whole {
			io.WriteString(a.out, s.Datagrams())
		}
		return err
	}
	printSession(a, s, f)
	code := console.ExitInput
	switch s.Verdict.Word {
	case transcript.Up:
		return nil
	case transcript.Unsent:
		code = console.ExitUsage
	}
	return console.Fail(code, "some questions have no complete answer: %s", s.Verdict.Plain())
}

// printSession ignores write errors: a.out remembers the first error, and app.run reports
// it.
func printSession(a *app, s *transcript.Session, f *askFlags) {
	onScreen := console.IsTerminal(a.out.w)
	switch {
	case f.brief:
		io.WriteString(a.out, s.Brief(onScreen))
	case f.json:
		line := s.JSON()
		if onScreen {
			line = console.Visible(line)
		}
		a.out.Write(append(line, '\n'))
	default:
		io.WriteString(a.out, s.Text())
		if onScreen { // repeat the verdict, because it has scrolled out of view
			io.WriteString(a.out, "\n"+s.Brief(true))
		}
	}
}

const leastWidth = 60

// width returns the number of columns of the terminal on standard output, but at least
// leastWidth. It returns 80 if standard output is not a terminal.
func (a *app) width() int { return max(console.WidthOf(a.out.w), leastWidth) }
