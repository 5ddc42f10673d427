package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
)

// TestLivePage: a watch shows its servers on its page, with a state and without, and ends
// although the page is open. With the state, the next watch shows the history of this one.
func TestLivePage(t *testing.T) {
	t.Parallel()
	skipShort(t)
	const network = "127.144.0.0/28"
	fl, err := fleet.New(fleet.Config{Network: netip.MustParsePrefix(network), Ports: []uint16{0}, Seed: 3, Alive: 1, Kinds: []fleet.Kind{fleet.Source}})
	check(t, err)
	t.Cleanup(served(fl))
	port := fmt.Sprint(fl.Config().Ports[0])
	list := filepath.Join(t.TempDir(), "servers.txt")
	check(t, os.WriteFile(list, []byte("127.144.1.1:"+port+" Survival <Main>\n127.144.0.2:"+port+" another name\n"), 0o600))
	args := []string{"watch", network, list, "-p", port, "--allow-reserved", "--every", "5s", "--listen", "0", "--public-name", "status.example.org",
		"--page-title", "Ours & <theirs>", "--page-link", "https://example.org/?a=1&b=2", "--status", "none", "-o", filepath.Join(t.TempDir(), "events.ndjson")}
	for _, more := range [][]string{nil, {"--state", filepath.Join(t.TempDir(), "watch.db")}} {
		page := startPage(t, append(args[:len(args):len(args)], more...))
		all := page.until(t, "/api/stats", `"down":0,"silent":1,"unanswered":0,"unknown":0`)
		servers := 0
		if _, err := fmt.Sscanf(all[strings.Index(all, `"up"`):], `"up":%d`, &servers); err != nil || servers < 14 {
			t.Fatalf("%d servers, %v: %s", servers, err, all)
		}
		for path, want := range map[string]string{
			"/": "Ours &amp; &lt;theirs&gt;", "/server/127.144.0.1:" + port: ">Uptime", "/api/servers?limit=1": `"next":`,
			"/api/events": `"last":`, "/api/schema": "$defs", "/healthz": "watching",
			"/metrics": fmt.Sprintf(`a2sscan_watch_servers{status="up"} %d`, servers),
		} {
			if text := page.get(t, path, "", 200); !strings.Contains(text, want) {
				t.Errorf("%s lacks %s:\n%.500s", path, want, text)
			}
		}
		front := page.get(t, "/", "status.example.org", 200)
		for _, want := range []string{
			`<a href="https://example.org/?a=1&amp;b=2" rel="noopener">example.org</a>`, `<bdi>Survival &lt;Main&gt;</bdi></a></td><td role="cell" data-label="Status"><b class="state silent">`,
		} {
			if !strings.Contains(front, want) {
				t.Errorf("the page lacks %s:\n%.9000s", want, front[strings.Index(front, "<body"):])
			}
		}
		if strings.Contains(front, "another name") {
			t.Error("a server that has a name is shown with that of the list")
		}
		page.get(t, "/", "evil.example", 421)
		page.end(t)
		if more != nil {
			page = startPage(t, append(args[:len(args):len(args)], more...))
			page.until(t, "/api/stats", fmt.Sprintf(`"up":%d,`, servers))
			page.until(t, "/api/servers/127.144.0.1:"+port, `"answer":{`)
			page.end(t)
		}
	}
}

// livePage is a watch that runs.
type livePage struct {
	cmd *exec.Cmd
	url string
}

// startPage starts a watch and waits for its page.
func startPage(t *testing.T, args []string) *livePage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	p := &livePage{cmd: exec.CommandContext(ctx, "a2sscan", args...)}
	stderr, err := p.cmd.StderrPipe()
	check(t, err)
	check(t, p.cmd.Start())
	lines := bufio.NewScanner(stderr)
	for p.url == "" && lines.Scan() {
		_, p.url, _ = strings.Cut(lines.Text(), "live page: ")
	}
	p.url = strings.TrimSuffix(p.url, "/")
	go io.Copy(io.Discard, stderr)
	return p
}

// get asks the page, under a name if that is not empty.
func (p *livePage) get(t *testing.T, path, host string, want int) string {
	t.Helper()
	r, err := http.NewRequest("GET", p.url+path, nil)
	check(t, err)
	r.Host = host
	answer, err := http.DefaultClient.Do(r)
	check(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != want {
		t.Errorf("%s for %q: %s, %v", path, host, answer.Status, err)
	}
	return string(text)
}

// until asks until the answer has a text.
func (p *livePage) until(t *testing.T, path, want string) (text string) {
	t.Helper()
	for range 600 {
		r, err := http.Get(p.url + path)
		if err == nil {
			b, _ := io.ReadAll(r.Body)
			r.Body.Close()
			if text = string(b); strings.Contains(text, want) {
				return text
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Fatalf("%s never has %s:\n%.500s", path, want, text)
	return text
}

// end ends the watch as a service manager does.
func (p *livePage) end(t *testing.T) {
	t.Helper()
	check(t, p.cmd.Process.Signal(syscall.SIGTERM))
	if err := p.cmd.Wait(); err != nil && p.cmd.ProcessState.ExitCode() != 4 {
		t.Errorf("the watch ended with %v", err)
	}
}
