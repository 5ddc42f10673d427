package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// web runs the master command against a Web API on loopback whose handler is answer. It
// returns the command's exit code and output.
func web(t *testing.T, answer http.HandlerFunc, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	server := httptest.NewServer(answer)
	defer server.Close()
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("SECRETSECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	args = append([]string{"master", "--url", server.URL, "--key-file", key}, args...)
	code = run(args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// webCap is the maximum number of servers in an answer of the Web API.
const webCap = 10_000

// TestMasterCapped: if there are more servers than one answer may have, and no
// filter can divide them, the command reports that some could not be fetched.
func TestMasterCapped(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"response":{"servers":[`)
	for i := range webCap {
		fmt.Fprintf(&b, `{"addr":"127.9.%d.%d:27015","name":"twin","map":"m","os":"l"},`, i>>8, i&255)
	}
	body := strings.TrimSuffix(b.String(), ",") + "]}}"
	code, stdout, stderr := web(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Query().Get("filter"), "nand") {
			fmt.Fprint(w, `{"response":{}}`)
			return
		}
		fmt.Fprint(w, body)
	})
	if n := strings.Count(stdout, "\n"); code != console.ExitOK || n != webCap {
		t.Errorf("exit code %d, %d servers", code, n)
	}
	for _, want := range []string{
		"cut at the cap: \"\": 10000 servers, and more that no condition can separate\n",
		"end: the master's cap hides some servers; the list may be incomplete\n",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("not reported: %s\n%s", want, stderr)
		}
	}
}

// TestMasterHostile: text from a master is shown escaped. The key is never shown,
// even if the master sends it back in its list.
func TestMasterHostile(t *testing.T) {
	code, stdout, stderr := web(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"response":{"servers":[{"addr":"\u001b[31m%s"},{"addr":"127.0.0.1:7","name":"\u001b]0;%s\u0007\u202e"}]}}`,
			r.URL.Query().Get("key"), "title")
	}, "--json")
	if code != console.ExitOK || strings.ContainsAny(stdout+stderr, "\x1b\x07\u202e") {
		t.Errorf("exit code %d: %q %q", code, stdout, stderr)
	}
	if strings.Contains(stdout+stderr, "SECRET") || !strings.Contains(stderr, "1 without an address") {
		t.Errorf("%q %q", stdout, stderr)
	}
}

// TestMasterHostileStatus: the key is not shown even if a master sends it back in
// an error.
func TestMasterHostileStatus(t *testing.T) {
	t.Parallel() // most of the time it waits between requests
	code, stdout, stderr := web(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Bad", "\x1b[31m?"+r.URL.RawQuery)
	})
	if code != console.ExitInput || strings.Contains(stdout+stderr, "SECRET") || strings.Contains(stderr, "\x1b") {
		t.Errorf("a bad header: exit code %d: %q %q", code, stdout, stderr)
	}
	for _, status := range []int{301, 400, 401, 404, 418, 500} {
		_, stdout, stderr := web(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/?"+r.URL.RawQuery)
			w.Header().Set("Retry-After", r.URL.RawQuery)
			http.Error(w, r.URL.String(), status)
		})
		if strings.Contains(stdout+stderr, "SECRET") || !strings.Contains(stderr, fmt.Sprint(status)) {
			t.Errorf("%d: %q %q", status, stdout, stderr)
		}
	}
}
