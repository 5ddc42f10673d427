package livepage

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	loadURL = flag.String("load", "", "address of a running page, such as 127.0.0.1:8080, for TestLoad")
	loadPID = flag.Int("load-pid", 0, "process of that page, whose memory TestLoad measures")
)

// TestLoad measures a running page: how long requests for servers of a game take, at 1,000 a
// second for 20 seconds, and what 500 clients cost that do not read their answers. It fails
// only if an answer is wrong.
func TestLoad(t *testing.T) {
	if *loadURL == "" {
		t.Skip("SKIPPED, it measures a page that runs: go test -run TestLoad -load 127.0.0.1:8080 -load-pid PID")
	}
	base := "http://" + *loadURL
	var stats numbers
	check(t, json.Unmarshal(load(t, http.DefaultClient, base+"/api/stats"), &stats))
	cycle := stats.Cycle
	var urls []string
	for _, g := range stats.Games {
		for offset := 0; offset < g.Servers && g.ID != ""; offset += 100 {
			urls = append(urls, fmt.Sprintf("%s/api/servers?game=%s&limit=100&offset=%d", base, url.QueryEscape(g.ID), offset))
		}
	}
	const each, seconds = 1000, 20
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, MaxConnsPerHost: 64}}
	took := make([]time.Duration, each*seconds)
	var all sync.WaitGroup
	begun := time.Now()
	for i := range took {
		due := begun.Add(time.Duration(i) * time.Second / each)
		time.Sleep(time.Until(due))
		all.Go(func() {
			load(t, client, urls[i*7919%len(urls)])
			took[i] = time.Since(due)
		})
	}
	all.Wait()
	slices.Sort(took)
	check(t, json.Unmarshal(load(t, http.DefaultClient, base+"/api/stats"), &stats))
	t.Logf("%d requests in %v: half within %v, 99%% within %v, all within %v; a cycle took %.1f s before, %.1f s after, and should take %.0f s", len(took),
		time.Since(begun).Round(time.Second/10), took[len(took)/2], took[len(took)*99/100], took[len(took)-1], cycle, stats.Cycle, stats.Interval)

	before := residentKiB(t)
	var slow []net.Conn
	for i := range 500 {
		c, err := net.Dial("tcp", *loadURL)
		check(t, err)
		defer c.Close()
		check(t, c.(*net.TCPConn).SetReadBuffer(4096))
		fmt.Fprintf(c, "GET /?q=%d HTTP/1.1\r\nHost: localhost\r\n\r\n", i%10)
		slow = append(slow, c)
	}
	most := before
	for range 30 {
		time.Sleep(200 * time.Millisecond)
		most = max(most, residentKiB(t))
	}
	t.Logf("%d slow connections: %d MiB before, %d MiB at most, %d MiB more", len(slow), before>>10, most>>10, (most-before)>>10)
	load(t, &http.Client{}, base+"/api/stats")
}

// load returns an answer.
func load(t *testing.T, client *http.Client, url string) []byte {
	answer, err := client.Get(url)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || !bytes.HasPrefix(text, []byte("{")) {
		t.Errorf("%s: %s, %v", url, answer.Status, err)
	}
	return text
}

// residentKiB returns the memory of the process that the flag names.
func residentKiB(t *testing.T) (n int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", *loadPID))
	check(t, err)
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	n, err = strconv.Atoi(strings.Fields(rest)[0])
	check(t, err)
	return n
}
