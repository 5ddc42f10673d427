package simulation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"regexp"
	"slices"
	"syscall"

	"github.com/a2sscan/a2sscan/bench/fleet"
	fleetjudge "github.com/a2sscan/a2sscan/bench/fleet/judge"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/wire"
)

// DemoFile is the file to which the demo writes its records.
const DemoFile = "a2sscan-demo.ndjson.zst"

// These constants describe the demo's servers. About three quarters of the 32,768
// addresses have a server, the network loses some datagrams, and some servers are hostile.
const (
	DemoNetwork = "127.42.0.0/17"
	demoPort    = 27015
	demoAlive   = 0.75
	demoLoss    = 0.02
	demoHostile = 0.03
	demoSeed    = 20
)

// Demo is a running simulation that the demo scans.
type Demo struct {
	Config fleet.Config
	Close  func()
}

// StartDemo starts servers on demoPort or, if demoPort is in use, on any free port. The
// servers are the same on every port.
func StartDemo(network string) (*Demo, error) {
	// The demo has no CS2 servers (application 730). Because these servers mostly ignore
	// RULES, a scan sends RULES to them only twice. With the simulated losses, that is too
	// seldom to find every server that answers RULES.
	all := slices.DeleteFunc(fleet.GameIDs(), func(id string) bool { return id == "cs2" })
	cfg := fleet.Config{
		Seed: demoSeed, Alive: demoAlive, Hostile: demoHostile, Loss: demoLoss,
		Kinds: append(fleet.UsualKinds(), fleet.Games), Games: all,
	}
	var err error
	if cfg.Network, err = netip.ParsePrefix(network); err != nil {
		return nil, console.Fail(console.ExitUsage, "--network: %s is not a network", console.Quoted(network, 40)).
			WithHint("use a network inside 127.0.0.0/8, such as 127.42.0.0/20")
	}
	cfg.Network = cfg.Network.Masked()
	cfg.Ports = []uint16{demoPort}
	servers, err := fleet.New(cfg)
	if errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, fleet.ErrFleet) {
		cfg.Ports = []uint16{0}
		servers, err = fleet.New(cfg)
	}
	if err != nil {
		return nil, failure(err, "choose another network, such as --network 127.43.0.0/17")
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- servers.Serve(ctx) }()
	return &Demo{servers.Config(), func() { cancel(); <-served; servers.Close() }}, nil
}

// Report compares the records with the simulated servers and writes the result in lines of
// at most width columns. Its last argument, program, is the command that starts this program.
func (d *Demo) Report(t *console.Terminal, out io.Writer, sum *ledger.Summary, width int, program string) error {
	report, err := CompareFile(d.Config, DemoFile)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, Proof(report))
	for _, example := range report.Examples {
		t.Say("%s", example)
	}
	writeFound(out, sum, width)
	if err := writeExample(out); err != nil {
		return err
	}
	fmt.Fprintf(out, `
what to do next:
  %s cat %s -f addr,info.name --format text | head
  %s stats %s
  %s fleet -p 0 --for 60s
  %s scan --help
`, program, DemoFile, program, DemoFile, program, program)
	if !Proven(report) {
		return console.Fail(console.ExitNumbers, "the records do not match the servers")
	}
	return nil
}

// CompareFile compares the census at path with the simulated servers of cfg.
func CompareFile(cfg fleet.Config, path string) (fleetjudge.Report, error) {
	r, err := sink.Open(path)
	if err != nil {
		return fleetjudge.Report{}, censusfile.Failure(err)
	}
	defer r.Close()
	report, err := fleetjudge.Compare(cfg, wire.AskAll, r.Next)
	if err != nil {
		return report, censusfile.Failure(err)
	}
	return report, nil
}

// Proof returns the main result of the demo as a sentence: how many records match
// their servers.
func Proof(r fleetjudge.Report) string {
	s := fmt.Sprintf("%s servers: %s recorded correctly, %d wrong, %d missing",
		console.Grouped(uint64(r.Servers)), console.Grouped(uint64(r.AsTheyAre)), r.Wrong, r.Missing)
	if r.Less > 0 {
		s += fmt.Sprintf(", %d incomplete, with the reason in the record", r.Less)
	}
	if r.Twice+r.Invented > 0 {
		s += fmt.Sprintf(", %d repeated, %d invented", r.Twice, r.Invented)
	}
	return s
}

// Proven reports whether every record matches its server, and no record is missing,
// repeated or invented.
func Proven(r fleetjudge.Report) bool { return r.AsTheyAre == r.Servers && r.Twice+r.Invented == 0 }

// writeFound writes what the scan found, for a user who has never seen a summary.
func writeFound(out io.Writer, sum *ledger.Summary, width int) {
	l, d, found := &sum.Targets, &sum.Datagrams, sum.Answers
	rows := []struct{ what, found string }{
		{"asked", fmt.Sprintf("%s addresses; %s did not answer", console.Grouped(l.Finished), console.Grouped(l.ByStatus[scanner.StatusNoReply]))},
		{"found", fmt.Sprintf("%s servers: %s answered every question, %s only some questions, and %s sent nothing useful",
			console.Grouped(found.Servers), console.Grouped(l.ByStatus[scanner.StatusOK]), console.Grouped(l.ByStatus[scanner.StatusPartial]), console.Grouped(l.ByStatus[scanner.StatusError]))},
		{"players", fmt.Sprintf("%s players and %s bots", console.Grouped(found.Players), console.Grouped(found.Bots))},
		{"datagrams", fmt.Sprintf("%s sent (%s), %s received (%s)",
			console.Grouped(d.Sent), console.Bytes(d.SentBytes), console.Grouped(d.Received), console.Bytes(d.ReceivedBytes))},
		{"retries", fmt.Sprintf("%s of the datagrams sent repeat a request that had no reply in time: some datagrams were lost, and %s addresses did not answer",
			console.Grouped(d.Repeats), console.Grouped(l.ByStatus[scanner.StatusNoReply]))},
		{"replies", console.Listed(ledger.By(scanner.ReplyKinds[:], d.MatchedByKind[:]), scanner.ReplyKinds[:], ", ") +
			"; goldsource is an older form of info, a challenge is a number to send back, a fragment is part of a long reply"},
		{"time", fmt.Sprintf("%.1f s", sum.Seconds) + sum.Rates.Reached()},
	}
	fmt.Fprintln(out)
	for _, r := range rows {
		for _, row := range console.Wrap(fmt.Sprintf("%-10s %s", r.what, r.found), width, 11) {
			fmt.Fprintln(out, row)
		}
	}
}

// parts matches a record that has the status "ok", players and rules.
var parts = regexp.MustCompile(`"status":"ok".*"players":\[\{.*"rules":\{"`)

// showAtLeast and showAtMost limit the length of the record that the demo shows, so that
// the record is rich but fits on a screen.
const (
	showAtLeast = 400  // bytes
	showAtMost  = 2000 // bytes
)

// writeExample writes the first record that has players, rules and a suitable length.
func writeExample(out io.Writer) error {
	r, err := sink.Open(DemoFile)
	if err != nil {
		return censusfile.Failure(err)
	}
	defer r.Close()
	for {
		line, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return censusfile.Failure(err)
		case len(line) >= showAtLeast && len(line) <= showAtMost && parts.Match(line):
			fmt.Fprintf(out, "\none record of %s:\n%s\n", DemoFile, console.Visible(line))
			return nil
		}
	}
}
