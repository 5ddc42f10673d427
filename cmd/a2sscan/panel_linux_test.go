package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
)

// hasty runs the program, with a panel that is edited ten times a second.
func hasty() {
	prepare()
	a := newApp(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	a.panelEvery = 100 * time.Millisecond
	os.Exit(a.run())
}

// channel stands in for a channel of Discord. It kills the watch that posts to it.
type channel struct {
	*testing.T
	mu       sync.Mutex
	messages []string // the IDs of the messages that are there, in the order of their posts
	posts    int
	edits    int
	refused  int

	victim *os.Process
	// The watch is killed by the request with the number killAt, or by the first of its kind
	// after that: a POST or a PATCH. The kill comes before the answer or after it.
	killAt        int
	atPost, after bool
	asked         int
	dead          bool
	// The watch must not ask again before this time.
	notBefore time.Time
	// stored is the ID in the state of the watch.
	stored string
}

func (c *channel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		panic(http.ErrAbortHandler)
	}
	if early := time.Until(c.notBefore); early > 0 {
		c.Errorf("asked %v too early", early)
	}
	c.asked++
	id, post := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:], r.Method == http.MethodPost
	kill := c.asked >= c.killAt && post == c.atPost
	switch {
	case c.asked > 100:
		c.Error("the watch never sends the request that kills it")
		c.kill()
		panic(http.ErrAbortHandler)
	case !kill && rand.IntN(4) == 0:
		const seconds = 0.3
		c.refused++
		c.notBefore = time.Now().Add(time.Duration(seconds * float64(time.Second)))
		w.Header().Set("Retry-After", fmt.Sprint(seconds))
		w.WriteHeader(http.StatusTooManyRequests)
		return
	case post:
		if slices.Contains(c.messages, c.stored) {
			c.Errorf("message %s is there, and the watch posts another one", c.stored)
		}
		c.posts++
		id = fmt.Sprint(1_200_000_000_000_000_000 + c.posts)
		c.messages = append(c.messages, id)
		c.stored = ""
	case !slices.Contains(c.messages, id):
		c.Errorf("edits message %s, which is not there", id)
	case c.atPost && c.asked >= c.killAt: // somebody deletes the message
		c.messages = slices.DeleteFunc(c.messages, func(old string) bool { return old == id })
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message": "Unknown Message", "code": 10008}`)
		return
	default:
		c.edits++
	}
	if kill && !c.after {
		c.kill()
		panic(http.ErrAbortHandler)
	}
	fmt.Fprintf(w, `{"id": %q}`, id)
	if kill {
		_ = http.NewResponseController(w).Flush()
		time.Sleep(rand.N(30 * time.Millisecond)) // until any moment of what the watch does with the answer
		c.kill()
	}
}

func (c *channel) kill() {
	c.dead = true
	if err := c.victim.Kill(); err != nil {
		c.Error(err)
	}
}

// run runs a watch, and waits until it is killed.
func (c *channel) run(cmd *exec.Cmd, killAt int, atPost, after bool) {
	c.Helper()
	path, err := exec.LookPath("hasty")
	check(c, err)
	cmd.Path, cmd.Args[0] = path, "hasty"
	c.mu.Lock()
	c.killAt, c.atPost, c.after, c.asked, c.dead, c.notBefore = killAt, atPost, after, 0, false, time.Time{}
	err = cmd.Start()
	c.victim = cmd.Process
	c.mu.Unlock()
	check(c, err)
	_ = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL || !c.dead {
		c.Fatalf("the watch ended with %v", cmd.ProcessState)
	}
}

// TestPanelKilled kills a watch ten times while it posts and edits its panel. Each kill
// leaves at most one message that nobody edits any more, and only if the ID in the answer to
// a POST had not reached the state. The watch waits as long as the channel wants.
func TestPanelKilled(t *testing.T) {
	t.Parallel()
	skipShort(t)
	servers, c := newRenamed(t, 20), &channel{T: t}
	discord := httptest.NewServer(c)
	t.Cleanup(discord.Close)
	dir := t.TempDir()
	state, secret := filepath.Join(dir, "watch.db"), filepath.Join(dir, "panel.url")
	check(t, os.WriteFile(secret, []byte(discord.URL+"/api/webhooks/1/secret"), 0o600))
	stale := 0
	for round := range 10 {
		atPost, after, killAt := round%3 != 1, round%2 == 0, 1+rand.IntN(6)
		c.run(servers.watch(t, "--state", state, "--webhook-panel", secret, "--status", "none", "-o", filepath.Join(dir, "events")), killAt, atPost, after)
		known, err := db.Read(state)
		check(t, err)
		id, _, _, err := known.Cursor("panel", math.MaxInt64)
		check(t, err)
		check(t, known.Close())
		c.stored = strconv.FormatInt(id, 10)
		current := slices.Index(c.messages, c.stored)
		left := len(c.messages)
		if current >= 0 {
			left--
		}
		t.Logf("killed by request %d, a POST: %v, after its answer: %v; ID in the state: %v; %d messages left", c.asked, atPost, after, current >= 0, left)
		switch {
		case left > stale+1, left > stale && !atPost, current >= 0 && current != len(c.messages)-1:
			t.Errorf("%d messages are left after %d before; the state has %d of %v", left, stale, id, c.messages)
		}
		stale = left
	}
	lines, err := os.ReadFile(filepath.Join(dir, "events"))
	check(t, err)
	for i, id := range idsIn(t, nil, lines[:bytes.LastIndexByte(lines, '\n')+1]) {
		if id != int64(i+1) {
			t.Fatalf("after the kills, event %d in the file has the ID %d", i+1, id)
		}
	}
	if c.edits == 0 || c.refused == 0 {
		t.Errorf("%d edits, %d refused requests", c.edits, c.refused)
	}
	t.Logf("%d posts, %d edits, %d refused; %d messages are left", c.posts, c.edits, c.refused, stale)
}
