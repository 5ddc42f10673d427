package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/geo/geotest"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// TestMain lets scripts run the program as a command. Most of their time they
// wait for servers that are slow or silent, so more of them than there are
// processors run at once; -parallel decides otherwise. A program that is built
// with the race detector waits for a second when it ends, which makes minutes:
// those that tests start do so only if GORACE says it.
func TestMain(m *testing.M) {
	if _, set := os.LookupEnv("GORACE"); raceEnabled && !set {
		if err := os.Setenv("GORACE", "atexit_sleep_ms=10"); err != nil {
			panic(err)
		}
	}
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"a2sscan": main,
		"panics":  panics,
		"dies":    dies,
	})
}

// panics is a program that prepares as ours does, and then meets a bug.
func panics() {
	prepare()
	done := make(chan struct{})
	go func() { panic("a bug") }()
	<-done
}

// TestScripts runs testdata/*.txtar. They show how the program is used and
// what it says. Commands beside testscript's own:
//
//	fleet FLAGS…       a simulated fleet in the test process, with the flags of
//	                   a2sscan fleet, until the script ends; a port of its own
//	                   for every script, since scripts run side by side
//	master FLAGS…      the master of such a fleet alone, over UDP and HTTP on
//	                   ports of the system's choice, which are in $MASTER and
//	                   $WEB then
//	replay FILE LIST FLAGS…  the servers of a census, in the test process; LIST
//	                   is written as --list does
//	answers ADDR FILE  a server on ADDR that says what stands in FILE
//	mmdb TYPE FILE [later]  a database for --mmdb, of those in geo_test.go; later
//	                   is a day later
//	exits CODE CMD…    as exec, and the exit code is CODE
//	tmpfs DIR SIZE     a file system of that size
//
// and the conditions [tmpfs], whether one can be mounted here, and [race], whether
// the race detector is on.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"answers": scriptAnswers,
			"fleet":   scriptFleet,
			"master":  scriptMaster,
			"mmdb":    scriptDatabase,
			"exits":   scriptExits,
			"tmpfs":   scriptTmpfs,
			"replay":  scriptReplay,
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

// Scripts run side by side, and beside other tests, so each needs ports of its
// own.
func TestScriptPorts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	tests, err := filepath.Glob("*_test.go")
	if err != nil || len(tests) == 0 {
		t.Fatal(tests, err)
	}
	serves := regexp.MustCompile(`(?m)^(?:fleet|replay) .*-p ([0-9,-]+)|^answers [0-9.]+:([0-9]+) ` +
		`|Ports: +\[\]uint16{([0-9, ]+)}`)
	user := map[int]string{}
	for _, file := range slices.Concat(scripts, tests) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range serves.FindAllStringSubmatch(string(text), -1) {
			ports, err := list.ParsePorts(strings.ReplaceAll(found[1]+found[2]+found[3], " ", ""))
			if err != nil {
				t.Fatalf("%s: %q: %v", file, found[0], err)
			}
			for port := range math.MaxUint16 {
				if !ports.Contains(uint16(port)) {
					continue
				}
				if other := user[port]; other != "" && other != file {
					t.Errorf("%s and %s both use port %d", other, file, port)
				}
				user[port] = file
			}
		}
	}
}

func scriptFleet(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("fleet can't be negated")
	}
	f, cmd := &fleetFlags{}, &cobra.Command{}
	f.add(cmd)
	ts.Check(cmd.ParseFlags(args))
	cfg, err := f.config()
	ts.Check(err)
	fl, err := fleet.New(cfg)
	ts.Check(err)
	ts.Setenv("PORT", servedPorts(f.ports, fl.Ports()))
	serveScript(ts, fl)
}

func scriptReplay(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: replay FILE LIST [FLAG…]")
	}
	f, cmd := &fleetFlags{}, &cobra.Command{}
	f.add(cmd)
	flags := append([]string{"--replay", ts.MkAbs(args[0]), "--list", ts.MkAbs(args[1])}, args[2:]...)
	ts.Check(cmd.ParseFlags(flags))
	ts.Check(f.check(cmd))
	a := &app{Terminal: console.New(io.Discard)}
	rec, err := a.record(f)
	ts.Check(err)
	ts.Check(a.writeList(f.list, rec))
	fl, err := rec.serve()
	ts.Check(err)
	ts.Setenv("PORT", servedPorts(f.ports, fl.Ports()))
	serveScript(ts, fl)
}

// serveScript lets a fleet answer until the script ends.
func serveScript(ts *testscript.TestScript, fl *fleet.Fleet) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		fl.Serve(ctx)
	}()
	ts.Defer(func() {
		cancel()
		<-done
		fl.Close()
	})
}

func scriptMaster(ts *testscript.TestScript, _ bool, args []string) {
	f, cmd := &fleetFlags{}, &cobra.Command{}
	f.add(cmd)
	ts.Check(cmd.ParseFlags(append([]string{"--master", "127.0.0.1:0", "--web", "127.0.0.1:0"}, args...)))
	cfg, err := f.config()
	ts.Check(err)
	m, err := f.master.listen(cfg)
	ts.Check(err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Serve(ctx) }()
	ts.Setenv("MASTER", m.UDPAddr())
	ts.Setenv("WEB", m.URL())
	ts.Defer(func() {
		cancel()
		ts.Check(<-done)
	})
}

func scriptDatabase(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mmdb TYPE FILE [later]")
	}
	ts.Check(geotest.Write(ts.MkAbs(args[1]), args[0], geotest.BuiltAt.AddDate(0, 0, len(args)-2)))
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

// mountTmpfs makes dir a file system of a size. It needs root.
func mountTmpfs(dir, size string) (unmount func() error, err error) {
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size="+size); err != nil {
		return nil, err
	}
	return func() error { return syscall.Unmount(dir, 0) }, nil
}
