package main

import (
	"encoding/hex"
	"errors"
	"flag"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/sink/disk"
	"github.com/a2sscan/a2sscan/wire"
)

// TestMain lets scripts run the program as a command.
//
// Scripts spend most of their time waiting for slow or silent servers, so more of
// them run at once than there are processors; -parallel overrides that. A program
// built with the race detector waits a second before it ends, which would add
// minutes. So programs that tests start do not wait, unless GORACE is set.
func TestMain(m *testing.M) {
	if _, set := os.LookupEnv("GORACE"); raceEnabled && !set {
		if err := os.Setenv("GORACE", "atexit_sleep_ms=10"); err != nil {
			panic(err)
		}
	}
	each := 6
	if raceEnabled {
		each = 4
	}
	if err := flag.Set("test.parallel", strconv.Itoa(each*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(tests{m}, map[string]func(){
		"a2sscan": func() { // with the percentage of a2sscan itself, not that of tests.Run
			os.Unsetenv("GOGC")
			debug.SetGCPercent(100)
			main()
		},
		"panics": panics,
		"dies":   dies,
		"pauses": pauses,
		"hasty":  hasty,
		"nolocks": func() { // on a file system without locks
			disk.Flock = func(*flock.Flock) (bool, error) { return false, syscall.ENOTSUP }
			main()
		},
	})
}

// tests runs the tests of this package with fewer garbage collections than usual. The
// tests hold so many small objects that marking them would take a third of the
// processor time. A scan that a test runs in this process sets another percentage,
// unless the variable is set.
type tests struct{ *testing.M }

func (m tests) Run() int {
	if signal.Ignored(syscall.SIGHUP) { // under nohup; the watches of scripts need SIGHUP
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	debug.SetGCPercent(400)
	if err := os.Setenv("GOGC", "400"); err != nil {
		panic(err)
	}
	return m.M.Run()
}

// panics is a program that calls prepare, as a2sscan does, and then panics.
func panics() {
	prepare()
	done := make(chan struct{})
	go func() { panic("a bug") }()
	<-done
}

// TestScripts runs testdata/*.txtar, which show how the program is used and what it
// prints. These are the commands in addition to testscript's own:
//
//	fleet -p 0 FLAGS…  a simulated fleet in the test process, with the flags of
//	                   a2sscan fleet, until the script ends. $PORT lists the
//	                   ports that it uses; $PORT1, $PORT2, … have one each
//	master FLAGS…      only the master of such a fleet, over UDP and HTTP on
//	                   free ports, which $MASTER and $WEB name. Its servers are
//	                   on the ports of the last fleet. More flags: --master-also,
//	                   --master-after, --master-during, --master-retry-after
//	answers IP:0 FILE  a server that answers as FILE says; $ADDR is its address,
//	                   $PORT its port
//	fill FILE…         replaces variables such as $PORT in files
//	mmdb TYPE FILE     copies a database from the tests of package geo, for --mmdb
//	exits CODE CMD…    like exec, and checks that the exit code is CODE
//	stops FILE CMD…    stops a scan with --max-runtime after it has made its
//	                   checkpoint FILE. A busy machine may ask nobody in a second,
//	                   so the scan begins again with twice the time until it has
//	tmpfs DIR SIZE     mounts a file system of SIZE at DIR
//
// $PACKAGING names the project's folder of that name. The conditions are [tmpfs],
// whether such a file system can be mounted here, and [race], whether the race
// detector is on.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Values[servedBy] = &fleet.Config{}
			packaging, err := filepath.Abs("../../packaging")
			env.Setenv("PACKAGING", packaging)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"answers": scriptAnswers,
			"fill":    scriptFill,
			"fleet":   scriptFleet,
			"master":  scriptMaster,
			"mmdb":    scriptDatabase,
			"exits":   scriptExits,
			"stops":   scriptStops,
			"tmpfs":   scriptTmpfs,
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "race":
				return raceEnabled, nil
			case "tmpfs":
			default:
				return false, errors.New("no such condition")
			}
			unmount, err := mountTmpfs(t.TempDir(), "4k")
			if err != nil {
				return false, nil
			}
			return true, unmount()
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// TestScriptPorts checks that script commands that listen use port 0 (any free port).
// Scripts run in parallel, and beside other programs, so a fixed port may be in use.
func TestScriptPorts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, file := range scripts {
		text, err := os.ReadFile(file)
		check(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			if fixed := fixedPort(line); fixed != "" {
				t.Errorf("%s:%d: port %s is fixed: %s", file, i+1, fixed, line)
			}
		}
	}
}

// listens match the commands of scripts that open sockets, and capture the port. A
// fleet command that only prints opens no socket.
var listens = []*regexp.Regexp{
	regexp.MustCompile(`^answers [0-9.]+:(\S+) `),
	regexp.MustCompile(`^fleet .*?(?:-p|--port) (\S+)`),
	regexp.MustCompile(`\ba2sscan fleet .*?(?:-p|--port) (\S+)`),
}

// fixedPort returns the port on which a line opens a socket, if that port is fixed.
func fixedPort(line string) string {
	if strings.Contains(line, "--truth") || strings.HasPrefix(line, "exits ") {
		return ""
	}
	for _, listen := range listens {
		m := listen.FindStringSubmatch(line)
		if m != nil && strings.Trim(m[1], "0,") != "" {
			return m[1]
		}
	}
	if strings.HasPrefix(line, "fleet ") && !strings.Contains(line, " -p 0") {
		return "27015"
	}
	return ""
}

// servedBy is the key under which a script keeps the Config of its last fleet.
const servedBy = "fleet"

// scriptFill replaces variables in files by their values.
func scriptFill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: fill FILE…")
	}
	for _, file := range args {
		text := os.Expand(ts.ReadFile(file), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o666))
	}
}

func scriptFleet(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("fleet can't be negated")
	}
	f, cmd := &fleetFlags{}, &cobra.Command{}
	f.add(cmd.Flags())
	ts.Check(cmd.ParseFlags(args))
	ts.Check(f.check())
	fl, err := fleet.New(f.Fleet)
	ts.Check(err)
	ports := make([]string, len(fl.Config().Ports))
	for i, port := range fl.Config().Ports {
		ports[i] = strconv.Itoa(int(port))
		ts.Setenv("PORT"+strconv.Itoa(i+1), ports[i])
	}
	ts.Setenv("PORT", strings.Join(ports, ","))
	*ts.Value(servedBy).(*fleet.Config) = fl.Config()
	ts.Defer(served(fl))
}

func scriptMaster(ts *testscript.TestScript, _ bool, args []string) {
	f, cmd := &fleetFlags{}, &cobra.Command{}
	f.add(cmd.Flags())
	also := cmd.Flags().StringSlice("master-also", nil, "further servers on the list")
	cmd.Flags().IntVar(&f.Master.After, "master-after", 0, "requests before the faults begin")
	cmd.Flags().IntVar(&f.Master.For, "master-during", 0, "requests that get the faults")
	cmd.Flags().DurationVar(&f.Master.In, "master-retry-after", time.Minute, "time after which to retry")
	ts.Check(cmd.ParseFlags(append([]string{"--master", "127.0.0.1:0", "--web", "127.0.0.1:0"}, args...)))
	ts.Check(f.check())
	for _, word := range *also {
		at, err := netip.ParseAddrPort(word)
		ts.Check(err)
		f.Master.Also = append(f.Master.Also, at)
	}
	f.Master.Fleet = f.Fleet
	m, err := fleet.NewMaster(f.Master)
	ts.Check(err)
	stop, err := servedMaster(m)
	ts.Check(err)
	ts.Setenv("MASTER", m.UDPAddr())
	ts.Setenv("WEB", m.URL())
	ts.Defer(func() { ts.Check(stop()) })
}

func scriptDatabase(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mmdb TYPE FILE")
	}
	text, err := os.ReadFile(filepath.Join("internal", "censusfile", "testdata", args[0]+".mmdb"))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o666))
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	got := 0
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func scriptStops(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: stops FILE COMMAND [ARG…]")
	}
	for most := time.Second; ; most *= 2 {
		scriptExits(ts, false, append([]string{"5"}, append(args[1:], "--max-runtime", most.String())...))
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
	}
}

func scriptTmpfs(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o777))
	unmount, err := mountTmpfs(dir, args[1])
	ts.Check(err)
	ts.Defer(func() {
		if err := unmount(); err != nil {
			ts.Logf("%v", err)
		}
	})
}

// mountTmpfs mounts a file system of the given size at dir. It needs root.
func mountTmpfs(dir, size string) (unmount func() error, err error) {
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size="+size); err != nil {
		return nil, err
	}
	return func() error { return syscall.Unmount(dir, 0) }, nil
}

// scriptAnswers runs a server until the script ends. Each line of FILE has a list
// of requests and then, in hexadecimal, the answer to them. The requests are
// separated by commas: T, U, V without a challenge, T+, U+, V+ with one, * all.
func scriptAnswers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: answers IP:0 FILE")
	}
	answers := readAnswers(ts, ts.ReadFile(args[1]))
	addr := netip.MustParseAddrPort(args[0])
	if !addr.Addr().IsLoopback() {
		ts.Fatalf("%v is not on loopback", addr)
	}
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(addr))
	ts.Check(err)
	addr = conn.LocalAddr().(*net.UDPAddr).AddrPort()
	ts.Setenv("ADDR", addr.String())
	ts.Setenv("PORT", strconv.Itoa(int(addr.Port())))
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			for _, a := range answers {
				if slices.Contains(a.to, "*") || slices.Contains(a.to, requestWord(buf[:n])) {
					conn.WriteToUDPAddrPort(a.datagram, from)
				}
			}
		}
	}()
	ts.Defer(func() {
		conn.Close()
		<-done
	})
}

type scriptAnswer struct {
	to       []string
	datagram []byte
}

func readAnswers(ts *testscript.TestScript, text string) (all []scriptAnswer) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		to, digits, found := strings.Cut(line, " ")
		if !found {
			continue
		}
		b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
		ts.Check(err)
		all = append(all, scriptAnswer{strings.Split(to, ","), b})
	}
	return all
}

// requestWord returns the word for a request in a file of answers.
func requestWord(b []byte) string {
	r, err := wire.DecodeRequest(b)
	switch {
	case err != nil:
		return "?"
	case r.HasChallenge:
		return string(rune(r.Kind)) + "+"
	}
	return string(rune(r.Kind))
}
