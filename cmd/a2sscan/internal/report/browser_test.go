package report

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "folder for pictures of the page at several widths, light and dark")

// browser is a tab of headless Chromium that shows pages of this test.
type browser struct {
	t      *testing.T
	ctx    context.Context
	server *httptest.Server

	mu     sync.Mutex
	html   []byte
	faults []string // console messages, errors, and requests for anything but the page
}

// newBrowser starts Chromium, or skips the test.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED under -short: it starts a browser")
	}
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("SKIPPED, THE PAGE WAS NOT OPENED IN A BROWSER: there is no chromium in PATH (Debian: package chromium)")
	}
	b := &browser{t: t}
	b.server = httptest.NewServer(http.HandlerFunc(b.serve))
	t.Cleanup(b.server.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	b.ctx = ctx
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, runtime.Enable, cdp.Empty{})
	call(b, log.Enable, cdp.Empty{})
	return b
}

// serve sends the page, and notes whatever else is asked for.
func (b *browser) serve(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.URL.Path != "/" {
		b.faults = append(b.faults, "request: "+r.URL.Path)
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	w.Write(b.html)
}

// listen notes what a page without faults does not do.
func (b *browser) listen(event any) {
	fault := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		fault = fmt.Sprintf("console %s: %s", e.Type, asJSON(e.Args))
	case *runtime.EventExceptionThrown:
		fault = "exception: " + string(asJSON(e.ExceptionDetails))
	case *log.EventEntryAdded:
		fault = "log: " + e.Entry.Text
	case *cdppage.EventJavascriptDialogOpening:
		fault = "dialog: " + e.Message
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; url != b.server.URL+"/" && url != "data:," {
			fault = "request: " + url
		}
	}
	if fault != "" {
		b.mu.Lock()
		b.faults = append(b.faults, fault)
		b.mu.Unlock()
	}
}

// call sends a command to the browser.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

// run runs an action, which has a minute.
func run[T any](b *browser, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// eval returns the value of an expression.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	return run(b, chromedp.Evaluate[T](expression))
}

// open shows a page at a width, in light or dark.
func (b *browser) open(html []byte, width int64, scheme string) {
	b.t.Helper()
	b.mu.Lock()
	b.html = html
	b.mu.Unlock()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500})
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	run(b, chromedp.Navigate(b.server.URL+"/"))
}

// noFaults fails the test if the browser saw any.
func (b *browser) noFaults() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, fault := range b.faults {
		b.t.Error(fault)
	}
}

// tooWide lists the elements that are wider than the screen, or that reach beyond it
// without a box that scrolls.
const tooWide = `(() => {
	const wide = document.documentElement.clientWidth;
	return [document.documentElement.scrollWidth > wide ? "the page is " + document.documentElement.scrollWidth + " wide" : ""].concat(
		Array.from(document.body.querySelectorAll("*"))
			.filter(e => !e.closest(".scroll") && !e.closest("[hidden]"))
			.filter(e => e.getBoundingClientRect().width > wide + 0.5)
			.map(e => e.tagName + "." + e.className + " " + e.getBoundingClientRect().width)).filter(Boolean).slice(0, 20);
})()`

// TestBrowser: the page works in a browser, at all widths.
func TestBrowser(t *testing.T) {
	b := newBrowser(t)
	html := rendered(t, sampleInput())
	for _, width := range []int64{360, 1280, 1920} {
		for _, scheme := range []string{"light", "dark"} {
			b.open(html, width, scheme)
			if wide := eval[[]string](b, tooWide); len(wide) > 0 {
				t.Errorf("at %d pixels: %s", width, strings.Join(wide, "\n"))
			}
			b.screenshot(fmt.Sprintf("%d-%s.png", width, scheme))
		}
	}
	b.noFaults()
}

// screenshot writes a picture of the whole page, if the flag says so.
func (b *browser) screenshot(name string) {
	if *screenshots == "" {
		return
	}
	picture := run(b, chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(*screenshots, name), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
