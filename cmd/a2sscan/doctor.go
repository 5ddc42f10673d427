package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/doctor"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flags"
	"github.com/a2sscan/a2sscan/scanner"
)

func (a *app) doctorCommand() *cobra.Command {
	var timeouts timeoutFlags
	var o doctor.Options
	var asJSON bool
	rate := flags.AutoRate{Rate: scanner.DefaultRate}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check whether this machine is ready for a scan",
		Long: `Checks whether this machine is ready for the planned scan: socket buffers,
connection tracking, open files, the clock and the disk. For each problem it
gives the reason and the command that fixes it. doctor itself changes nothing.

The flags describe the scan, because a higher --rate needs more of everything.
At a rate above 20k, doctor also measures how many datagrams this machine can
send and receive: for one second it sends datagrams to itself, on loopback.
Nothing leaves the machine. Run doctor while the machine is otherwise idle.
doctor cannot see the limits of devices on the path, such as the connection table
of a home router.

The exit code is 0 if the machine is ready, even with warnings, and 5 if it is
not.`,
		Example: `  a2sscan doctor -r 10M    # how fast can this machine scan?
  a2sscan doctor -r 100k -n 5000000 -o /data/census.ndjson.zst
  a2sscan doctor -r 20k --json | jq '.findings[] | select(.level != "ok")'`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := timeouts.check(); err != nil {
				return err
			}
			o.Rate, o.Timeout, o.Retries = float64(rate.Rate), timeouts.timeout(), timeouts.retries
			r := doctor.Examine(&o)
			if asJSON {
				text, _ := console.JSON(r, "") // every report can be encoded
				a.out.Write(text)              // app.run reports a write error
			} else {
				io.WriteString(a.out, r.Text(&o, a.width()))
			}
			if r.Ready {
				return nil
			}
			bad := console.Fail(console.ExitGuard, "not ready: %s", r.Count())
			bad.Reported = !asJSON
			return bad
		},
	}
	fs := cmd.Flags()
	fs.VarP(&rate, "rate", "r", rateUsage)
	timeouts.add(cmd)
	fs.StringVarP(&o.Output, "output", "o", "", "check the disk that holds `PATH`, the output of the scan (default: the working directory)")
	fs.Uint64VarP(&o.Targets, "max-targets", "n", 0, "the scan has `N` targets; 0: unknown (default 0)")
	fs.BoolVar(&asJSON, "json", false, "print the findings as one JSON object")
	return cmd
}
