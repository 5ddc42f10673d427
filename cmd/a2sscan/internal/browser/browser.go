//go:build linux && !race

// Package browser opens pages in headless Chromium, for tests. The package is compiled
// only for Linux, and not for the race detector, because the code of Chromium's protocol
// is large.
package browser

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Screenshots is the folder for pictures of pages. If it is empty, none are written.
var Screenshots = flag.String("screenshots", "", "write the pictures of pages to this folder, such as docs/pictures")

// deadline limits each action, so that no test hangs. It is much longer than an action
// takes, even on a busy machine.
const deadline = 10 * time.Minute

// Tab is a tab of the browser, with a server for its pages.
type Tab struct {
	t   *testing.T
	ctx context.Context
	// Server answers the requests of the page.
	Server *httptest.Server
	// Alone makes each request a fault, except the request for the opened page.
	Alone bool

	mu     sync.Mutex
	opened string   // URL of the page
	faults []string // console messages, errors, and forbidden requests
}

// Start starts Chromium and returns its context for NewTab. Chromium ends with the test.
// If A2SSCAN_CHROMIUM names no program, Start skips the test.
func Start(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED under -short: the test starts a browser, which takes a long time")
	}
	program := os.Getenv("A2SSCAN_CHROMIUM")
	if program == "" {
		t.Skip("SKIPPED, THE PAGE WAS NOT OPENED IN A BROWSER: A2SSCAN_CHROMIUM does not name the program (Debian: package chromium)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(deadline))
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	chromium, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(chromium); err != nil {
		t.Fatal(err)
	}
	return chromium
}

// NewTab opens a tab; h serves its pages. The test fails if the tab has faults at its end. The
// tab has a browser context of its own: tabs of one context may wait for each other.
func NewTab(t *testing.T, chromium context.Context, h http.Handler) *Tab {
	t.Helper()
	b := &Tab{t: t, Server: httptest.NewServer(h)}
	t.Cleanup(b.Server.Close)
	ctx, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b.ctx = ctx
	err := chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			b.faults = append(b.faults, fmt.Sprintf("console %s: %s", e.Type, asJSON(e.Args)))
		case *runtime.EventExceptionThrown:
			b.faults = append(b.faults, "exception: "+asJSON(e.ExceptionDetails))
		case *log.EventEntryAdded:
			b.faults = append(b.faults, "log: "+e.Entry.Text)
		case *page.EventJavascriptDialogOpening:
			b.faults = append(b.faults, "dialog: "+e.Message)
		case *network.EventRequestWillBeSent:
			url := e.Request.URL
			allowed := url == b.opened || url == "data:," || !b.Alone && strings.HasPrefix(url, b.Server.URL+"/")
			if !allowed {
				b.faults = append(b.faults, "request: "+url)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	Call(b, network.Enable, network.EnableParams{})
	Call(b, runtime.Enable, cdp.Empty{})
	Call(b, log.Enable, cdp.Empty{})
	t.Cleanup(func() {
		for _, fault := range b.TakeFaults() {
			t.Error(fault)
		}
	})
	return b
}

func asJSON(v any) string {
	text, _ := json.Marshal(v) // after an error the text is empty
	return string(text)
}

// TakeFaults returns the faults since the previous call.
func (b *Tab) TakeFaults() (faults []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	faults, b.faults = b.faults, nil
	return faults
}

// Call sends a command to the browser.
func Call[P, R any](b *Tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

// Run runs an action.
func Run[T any](b *Tab, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, deadline)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// Eval evaluates an expression in the page and returns its value. If the value is a promise,
// Eval returns the value of the promise.
func Eval[T any](b *Tab, expression string) T {
	b.t.Helper()
	return Run(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Until waits until an expression is true in the page. Otherwise the test fails, and names the
// text of #found or the title of the page.
func (b *Tab) Until(expression string) {
	b.t.Helper()
	if !Eval[bool](b, fmt.Sprintf(`new Promise(done => {
		const end = Date.now() + %d;
		const look = () => (%s) ? done(true) : Date.now() > end ? done(false) : setTimeout(look, 20);
		look();
	})`, (deadline-time.Minute).Milliseconds(), expression)) {
		b.t.Fatalf("the condition never became true: %s; found %q", expression, Eval[string](b, `document.getElementById("found") ? document.getElementById("found").textContent : document.title`))
	}
}

// Open shows a page of the server in a window of the given width, in a light or dark colour
// scheme. It scrolls without animation, during which a click may miss its target.
func (b *Tab) Open(path string, width int64, scheme string) {
	b.t.Helper()
	Call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500})
	Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	b.mu.Lock()
	b.opened = b.Server.URL + path
	b.mu.Unlock()
	Run(b, chromedp.Navigate(b.Server.URL+path))
}

// Wide lists the elements that are wider than the screen, unless a box hides or scrolls them.
func (b *Tab) Wide() []string {
	b.t.Helper()
	return Eval[[]string](b, `(() => {
	const wide = document.documentElement.clientWidth;
	return [document.documentElement.scrollWidth > wide ? "the page is " + document.documentElement.scrollWidth + " wide" : ""].concat(
		Array.from(document.body.querySelectorAll("*"))
			.filter(e => !e.closest(".scroll, pre, .virtual td") && !e.closest("[hidden]"))
			.filter(e => e.getBoundingClientRect().width > wide + 0.5)
			.map(e => e.tagName + "." + e.className + " " + e.getBoundingClientRect().width)).filter(Boolean).slice(0, 20);
})()`)
}

// Fits fails the test if anything is wider than the screen.
func (b *Tab) Fits(what string) {
	b.t.Helper()
	if wide := b.Wide(); len(wide) > 0 {
		b.t.Errorf("%s: %s", what, strings.Join(wide, "\n"))
	}
}

// Axe fails the test if axe-core, if it is installed, finds something that people with poor
// eyesight or without a mouse can't use.
func (b *Tab) Axe(what string) {
	b.t.Helper()
	script, err := os.ReadFile(filepath.Join(os.Getenv("A2SSCAN_AXE"), "node_modules/axe-core/axe.min.js"))
	if err != nil {
		b.t.Log("SKIPPED, ACCESSIBILITY WAS NOT CHECKED: A2SSCAN_AXE does not name a folder with npm's axe-core")
		return
	}
	Eval[chromedp.Void](b, string(script))
	for _, finding := range Eval[[]string](b, `axe.run({resultTypes: ["violations"]}).then(r => r.violations
		.map(v => v.id + " (" + v.impact + "): " + v.help + "\n" + v.nodes.slice(0, 3).map(n => "  " + n.html.slice(0, 200) + "\n  " + n.failureSummary).join("\n")))`) {
		b.t.Errorf("%s: %s", what, finding)
	}
}

// Screenshot writes a picture of the top of the page if Screenshots names a folder.
func (b *Tab) Screenshot(name string, height int64) {
	b.t.Helper()
	if *Screenshots == "" {
		return
	}
	shot, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: "webp", Quality: new(int64(80)), CaptureBeyondViewport: new(true),
		Clip: &page.Viewport{Width: Eval[float64](b, `innerWidth`), Height: float64(min(height, Eval[int64](b, `document.documentElement.scrollHeight`))), Scale: 1},
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(*Screenshots, name), shot.Data, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}
