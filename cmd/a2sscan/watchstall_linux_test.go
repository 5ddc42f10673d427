package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
	"github.com/a2sscan/a2sscan/wire"
)

// renamed are servers that have another, long name in each second. They count the checks.
type renamed struct {
	list     string
	requests atomic.Int64
}

func newRenamed(t *testing.T, n int) *renamed {
	t.Helper()
	r := &renamed{}
	for range n {
		conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 140, 0, 1)})
		check(t, err)
		t.Cleanup(func() { conn.Close() })
		r.list += conn.LocalAddr().String() + "\n"
		go func() {
			for b := make([]byte, 100); ; {
				n, from, err := conn.ReadFromUDP(b)
				if err != nil {
					return
				}
				if n >= 25 {
					r.requests.Add(1)
					name := fmt.Sprint(time.Now().Unix(), strings.Repeat(" long", 100))
					_, _ = conn.WriteToUDP(wire.AppendInfo(nil, &wire.Info{Protocol: 17, Name: []byte(name), ShortAppID: 440, MaxPlayers: 9}), from)
				}
			}
		}()
	}
	return r
}

// more waits until the servers were asked n more times.
func (r *renamed) more(t *testing.T, n int64) {
	t.Helper()
	want := r.requests.Load() + n
	for end := time.Now().Add(time.Minute); r.requests.Load() < want; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("asked %d times, want %d: the checks have stopped", r.requests.Load(), want)
		}
	}
}

// watch returns a command that watches the servers.
func (r *renamed) watch(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	list := filepath.Join(t.TempDir(), "servers.txt")
	check(t, os.WriteFile(list, []byte(r.list), 0o600))
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	return exec.CommandContext(ctx, "a2sscan", append([]string{"watch", list, "--allow-reserved", "--every", "5s", "--full-every", "5s", "--damp", "0"}, args...)...)
}

// smallPipe returns a pipe that takes 4096 bytes.
func smallPipe(t *testing.T, full bool) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	check(t, err)
	t.Cleanup(func() { r.Close(); w.Close() })
	size, err := unix.FcntlInt(r.Fd(), unix.F_SETPIPE_SZ, 4096)
	check(t, err)
	if full {
		if _, err := w.Write(bytes.Repeat([]byte("\n"), size)); err != nil {
			t.Fatal(err)
		}
	}
	return r, w
}

// endsSoon sends SIGTERM, and waits for the end of a process that a stalled reader must not hold up.
func endsSoon(t *testing.T, cmd *exec.Cmd, signals, code int) {
	t.Helper()
	begin, ended := time.Now(), make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for range signals {
		check(t, cmd.Process.Signal(syscall.SIGTERM))
		time.Sleep(300 * time.Millisecond) // two signals at once are one
	}
	select {
	case <-ended:
		t.Logf("ended %v after the signal", time.Since(begin))
	case <-time.After(30 * time.Second):
		cmd.Process.Kill()
		t.Fatal("the process does not end")
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
}

// idsIn appends the IDs of events in lines of JSON. Each line must be whole.
func idsIn(t *testing.T, ids []int64, lines []byte) []int64 {
	t.Helper()
	for line := range bytes.Lines(lines) {
		var e watchdb.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		ids = append(ids, e.ID)
	}
	return ids
}

// TestWatchStalled: a watch whose events nobody takes goes on, says so, and ends with a signal. The
// next one writes what this one did not.
func TestWatchStalled(t *testing.T) {
	t.Parallel()
	skipShort(t)
	for _, kind := range []string{"pipe", "fifo"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			servers := newRenamed(t, 8)
			dir := t.TempDir()
			args := []string{"--state", filepath.Join(dir, "watch.db"), "--status", "json"}
			var events *os.File
			start := func(more ...string) *exec.Cmd {
				cmd := servers.watch(t, append(args[:len(args):len(args)], more...)...)
				if kind == "pipe" {
					var w *os.File
					events, w = smallPipe(t, false)
					cmd.Stdout = w
				} else {
					fifo := filepath.Join(dir, "events")
					_ = syscall.Mkfifo(fifo, 0o600)
					var err error
					if events, err = os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { events.Close() })
					_, _ = unix.FcntlInt(events.Fd(), unix.F_SETPIPE_SZ, 4096)
					cmd.Args = append(cmd.Args, "-o", fifo)
				}
				return cmd
			}
			cmd := start("--listen", "0", "--log-file", filepath.Join(dir, "log"))
			said, err := cmd.StderrPipe()
			check(t, err)
			check(t, cmd.Start())
			if w, ok := cmd.Stdout.(*os.File); ok {
				w.Close()
			}
			trouble, text := make(chan struct{}), make(chan string, 1)
			go func() { text <- watchFor(said, `"trouble":"nobody takes the events (since `, trouble) }()
			select {
			case <-trouble:
			case all := <-text:
				t.Fatalf("it ended without saying that nobody takes the events:\n%s", all)
			case <-time.After(time.Minute):
				cmd.Process.Kill()
				t.Fatalf("it never says that nobody takes the events:\n%s", <-text)
			}
			servers.more(t, 3*8)
			if log, err := os.ReadFile(filepath.Join(dir, "log")); err != nil || !strings.Contains(string(log), "nobody takes the events") {
				t.Errorf("the log: %v\n%s", err, log)
			} else if _, address, _ := strings.Cut(string(log), `msg="page served" address=`); address != "" {
				address, _, _ = strings.Cut(address, "\n")
				for path, want := range map[string]string{"/livez": "200 watching\n", "/healthz": "503 nobody takes the events (since "} {
					resp, err := http.Get("http://" + address + path)
					check(t, err)
					body, _ := io.ReadAll(resp.Body)
					resp.Body.Close()
					if got := fmt.Sprint(resp.StatusCode, " ", string(body)); !strings.HasPrefix(got, want) {
						t.Errorf("%s: %q, want %q", path, got, want)
					}
				}
			}
			endsSoon(t, cmd, 1, console.ExitOK)
			if all := <-text; !strings.Contains(all, "the next watch with this state writes them") {
				t.Error(all)
			}
			first, _ := io.ReadAll(events)
			ids := idsIn(t, nil, first)
			if len(ids) == 0 {
				t.Fatal("no event fits into the pipe")
			}
			cmd = start("--max-runtime", "3s")
			check(t, cmd.Start())
			if w, ok := cmd.Stdout.(*os.File); ok {
				w.Close()
			}
			var rest bytes.Buffer
			ended := make(chan struct{})
			go func() { cmd.Wait(); close(ended) }()
			for over := false; !over; {
				select {
				case <-ended:
					over = true
				case <-time.After(10 * time.Millisecond): // a named pipe without a writer is at its end
				}
				io.Copy(&rest, events)
			}
			ids = idsIn(t, ids, rest.Bytes())
			db, err := watchdb.Read(args[1])
			check(t, err)
			defer db.Close()
			if last, _, err := db.Last(); err != nil || last != int64(len(ids)) {
				t.Errorf("%d events in the state, and %d were written: %v", last, len(ids), err)
			}
			for i, id := range ids {
				if id != int64(i+1) {
					t.Fatalf("event %d has the ID %d", i+1, id)
				}
			}
		})
	}
}

// TestAllStalled: a watch goes on, and ends with a signal, although nobody reads its events, its
// messages and its log. A scan ends by itself.
func TestAllStalled(t *testing.T) {
	t.Parallel()
	skipShort(t)
	log := func(t *testing.T) string {
		name := filepath.Join(t.TempDir(), "log")
		check(t, syscall.Mkfifo(name, 0o600))
		fullPipe(t, name)
		return name
	}
	outputs := map[string]func(t *testing.T, cmd *exec.Cmd){
		"pipes": func(t *testing.T, cmd *exec.Cmd) {
			_, out := smallPipe(t, true)
			_, err := smallPipe(t, true)
			cmd.Stdout, cmd.Stderr = out, err
		},
		"terminal": func(t *testing.T, cmd *exec.Cmd) {
			screen, tty := terminalPair(t, 100)
			t.Cleanup(func() { tty.Close() })
			cmd.Stdout, cmd.Stderr = tty, tty
			if _, err := screen.WriteString("\x13"); err != nil { // Ctrl-S
				t.Fatal(err)
			}
		},
	}
	for kind, stall := range outputs {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			servers := newRenamed(t, 8)
			cmd := servers.watch(t, "--status", "text", "--log-file", log(t), "--state", filepath.Join(t.TempDir(), "watch.db"))
			stall(t, cmd)
			check(t, cmd.Start())
			servers.more(t, 4*8)
			endsSoon(t, cmd, 1, console.ExitOK)
		})
		t.Run("without a state, "+kind, func(t *testing.T) {
			t.Parallel()
			servers := newRenamed(t, 8)
			cmd := servers.watch(t)
			stall(t, cmd)
			check(t, cmd.Start())
			servers.more(t, 4*8)
			endsSoon(t, cmd, 1, console.ExitOutput)
		})
		scan := func(t *testing.T, in string, args ...string) *exec.Cmd {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			t.Cleanup(cancel)
			cmd := exec.CommandContext(ctx, "a2sscan", append([]string{"scan", "--allow-reserved", "--cooldown", "0", "--log-file", log(t), "--status", "json"}, args...)...)
			cmd.Stdin = strings.NewReader(in)
			stall(t, cmd)
			check(t, cmd.Start())
			return cmd
		}
		t.Run("a scan ends, "+kind, func(t *testing.T) {
			t.Parallel()
			_, port := serve(t, fleet.Config{Network: netip.MustParsePrefix("127.140.1.0/28"), Kinds: []fleet.Kind{fleet.Source}})
			cmd := scan(t, "", "127.140.1.0/28", "-p", port, "-o", filepath.Join(t.TempDir(), "census.ndjson"))
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
		t.Run("a scan is ended, "+kind, func(t *testing.T) {
			t.Parallel()
			servers := newRenamed(t, 1)
			cmd := scan(t, servers.list+"127.140.9.9:9\n", "-", "--query", "info", "--order", "input", "--timeout", "1m")
			servers.more(t, 1)
			endsSoon(t, cmd, 2, console.ExitInterrupted)
		})
	}
}

// hold holds a database as another program does, until release is called.
func hold(t *testing.T, path, how string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	check(t, err)
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("PRAGMA busy_timeout = 20000; " + how); err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() { db.Close() })
	t.Cleanup(release)
	return release
}

// TestStateHeld: a watch goes on while another program holds its state, and loses nothing. It waits
// for the state at its start, too, and uptime does.
func TestStateHeld(t *testing.T) {
	t.Parallel()
	skipShort(t)
	servers := newRenamed(t, 8)
	dir := t.TempDir()
	state, events := filepath.Join(dir, "watch.db"), filepath.Join(dir, "events.ndjson")
	watch := func() (cmd *exec.Cmd, said *bufio.Reader) {
		cmd = servers.watch(t, "--state", state, "-o", events, "--status", "json")
		errs, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		check(t, err)
		return cmd, bufio.NewReader(errs)
	}
	until := func(said *bufio.Reader, words string) {
		t.Helper()
		(&process{T: t}).wait(said, words)
	}
	cmd, said := watch()
	until(said, `"events":8,`)
	release := hold(t, state, "BEGIN IMMEDIATE")
	until(said, `"trouble":"another program has locked the state (since `)
	before := servers.requests.Load()
	servers.more(t, 8)
	release()
	until(said, `"waiting":0,"dropped":0,"sent"`)
	go io.Copy(io.Discard, said)
	endsSoon(t, cmd, 1, console.ExitOK)
	if before == 0 {
		t.Error("nothing was asked")
	}

	release = hold(t, state, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
	uptime := exec.Command("a2sscan", "uptime", "--state", state)
	waits, err := uptime.StderrPipe()
	if err == nil {
		err = uptime.Start()
	}
	check(t, err)
	cmd, said = watch()
	until(said, "waiting, because another program holds it")
	until(bufio.NewReader(waits), "waiting, because another program holds it")
	release()
	if err := uptime.Wait(); err != nil {
		t.Error(err)
	}
	until(said, `"events":8,`)

	release = hold(t, state, "BEGIN IMMEDIATE") // and is still held at the end
	until(said, `"trouble":"another program has locked the state`)
	text := make(chan string, 1)
	go func() { text <- watchFor(said, "", nil) }()
	endsSoon(t, cmd, 1, console.ExitOutput)
	if all := <-text; !strings.Contains(all, "events could not be stored") || !strings.Contains(all, "a2sscan: the state: another program has locked it") {
		t.Error(all)
	}
	release()
	lines, err := os.ReadFile(events)
	check(t, err)
	ids := idsIn(t, nil, lines)
	for i, id := range ids {
		if id != int64(i+1) {
			t.Fatalf("event %d has the ID %d", i+1, id)
		}
	}
}
