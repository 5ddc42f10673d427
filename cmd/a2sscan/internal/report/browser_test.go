package report

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var screenshots = flag.String("screenshots", "", "folder for the picture of a report, docs/pictures")

// browser is a tab of headless Chromium that shows the pages of a test.
type browser struct {
	t      *testing.T
	ctx    context.Context
	server *httptest.Server

	mu     sync.Mutex
	html   []byte
	faults []string // console messages, errors, and requests for anything except the page
}

// TestBrowser shows pages in a browser. Each part has a tab of its own.
func TestBrowser(t *testing.T) {
	chromium := startChromium(t)
	for _, part := range []struct {
		name  string
		check func(*testing.T, *browser)
	}{
		{"sizes", checkSizes},
		{"hostile", checkHostile},
		{"charts", func(t *testing.T, b *browser) {
			b.open(rendered(t, sampleInput(365)), 1280, "light")
			checkTooltips(t, b)
			checkTimelines(t, b)
		}},
		{"table", checkTable},
		{"noticed", checkNoticed},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			part.check(t, newTab(t, chromium))
		})
	}
}

// startChromium starts Chromium, which ends with the test. If there is none, it skips
// the test.
func startChromium(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED under -short: it starts a browser, which takes long")
	}
	program := os.Getenv("A2SSCAN_CHROMIUM")
	if program == "" {
		t.Skip("SKIPPED, THE PAGE WAS NOT OPENED IN A BROWSER: A2SSCAN_CHROMIUM does not name the program (Debian: package chromium)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// newTab opens a tab, which is closed at the end of the test. Then no faults may be
// left. It has a browser context of its own, since the tabs of one context may share a
// process and wait for each other.
func newTab(t *testing.T, chromium context.Context) *browser {
	t.Helper()
	b := &browser{t: t}
	b.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write(b.html)
	}))
	t.Cleanup(b.server.Close)
	ctx, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b.ctx = ctx
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, runtime.Enable, cdp.Empty{})
	call(b, log.Enable, cdp.Empty{})
	t.Cleanup(func() {
		for _, fault := range b.takeFaults() {
			t.Error(fault)
		}
	})
	return b
}

// listen records events that a page without faults does not cause.
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

// run runs an action, for at most a minute.
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

// eval evaluates an expression in the page and returns its value, if that is a promise the
// value of that.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	return run(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// open shows a page at a width, with a light or dark colour scheme. The page scrolls
// without animation, because a click during an animation may miss its target.
func (b *browser) open(html []byte, width int64, scheme string) {
	b.t.Helper()
	b.html = html
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500})
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	run(b, chromedp.Navigate(b.server.URL+"/"))
}

// takeFaults returns what the browser recorded since the last call.
func (b *browser) takeFaults() (faults []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	faults, b.faults = b.faults, nil
	return faults
}

// tooWide is a script that lists the elements that are wider than the screen, except
// those in a box that scrolls.
const tooWide = `(() => {
	const wide = document.documentElement.clientWidth;
	return [document.documentElement.scrollWidth > wide ? "the page is " + document.documentElement.scrollWidth + " wide" : ""].concat(
		Array.from(document.body.querySelectorAll("*"))
			.filter(e => !e.closest(".scroll") && !e.closest("[hidden]"))
			.filter(e => e.getBoundingClientRect().width > wide + 0.5)
			.map(e => e.tagName + "." + e.className + " " + e.getBoundingClientRect().width)).filter(Boolean).slice(0, 20);
})()`

// checkSizes: at each width, once in both colour schemes, the page fits the screen,
// causes no fault, and is accessible.
func checkSizes(t *testing.T, b *browser) {
	axe, err := os.ReadFile(filepath.Join(os.Getenv("A2SSCAN_AXE"), "node_modules/axe-core/axe.min.js"))
	if err != nil {
		t.Log("SKIPPED, ACCESSIBILITY WAS NOT CHECKED: A2SSCAN_AXE does not name a folder with npm's axe-core")
	}
	nights := 40
	if *screenshots != "" {
		nights = 365
	}
	html := rendered(t, sampleInput(nights))
	for _, width := range []int64{360, 1280, 1920} {
		for _, scheme := range []string{"light", "dark"} {
			if width != 360 && (width == 1280) == (scheme == "dark") {
				continue
			}
			b.open(html, width, scheme)
			b.fits(width)
			if width == 1280 {
				b.screenshot("report.webp", 1000)
			} else if len(axe) > 0 {
				b.axe(string(axe), fmt.Sprintf("%d pixels, %s", width, scheme))
			}
		}
	}
}

// fits fails the test if anything is wider than the screen.
func (b *browser) fits(width int64) {
	b.t.Helper()
	if wide := eval[[]string](b, tooWide); len(wide) > 0 {
		b.t.Errorf("at %d pixels: %s", width, strings.Join(wide, "\n"))
	}
}

// checkTable: searching and sorting the table work with the mouse and with the
// keyboard.
func checkTable(t *testing.T, b *browser) {
	in := &Input{Stats: sampleStats(0), Servers: &Servers{}}
	for i := range 130 {
		in.Servers.Add(sampleServer(i))
	}
	b.open(rendered(t, in), 1280, "light")
	const names = `Array.from(document.querySelectorAll("#list tbody tr"), r => r.cells[0].textContent)`
	expect := func(what, found string, rows int, first string) {
		t.Helper()
		if got := eval[string](b, `document.getElementById("found").textContent`); got != found {
			t.Errorf("%s: %q, want %q", what, got, found)
		}
		got := eval[[]string](b, names)
		if len(got) != rows || len(got) > 0 && first != "" && got[0] != first {
			t.Errorf("%s: %d rows, %q; want %d, the first %q", what, len(got), got[:min(1, len(got))], rows, first)
		}
	}
	search := func(text string) {
		run(b, chromedp.Focus("#q"))
		eval[chromedp.Void](b, `document.getElementById("q").select()`)
		run(b, chromedp.KeyEvent(text+" "))
	}
	expect("at first", "130 servers", 50, "")
	search("VALHEIM server 117")
	expect("one server", "1 of 130 servers match", 1, "Valheim community server 117")
	search("garry fr")
	expect("game and country", "7 of 130 servers match", 7, "")
	search("count_mismatch")
	expect("a flag", "3 of 130 servers match", 3, "")
	search("198.51.100.64:")
	expect("an address", "1 of 130 servers match", 1, "DayZ community server 64")
	search("no such server")
	expect("nothing", "0 of 130 servers match", 0, "")
	search("")
	run(b, chromedp.Click(`th[data-key="0"] button`))
	expect("by name", "130 servers", 50, "Arma 3 community server 5")
	run(b, chromedp.Click(`th[data-key="0"] button`))
	expect("by name, from the end", "130 servers", 50, "Valheim community server 127")
	if got := eval[string](b, `document.querySelector('th[data-key="0"]').ariaSort`); got != "descending" {
		t.Errorf("aria-sort is %q", got)
	}
	run(b, chromedp.Click("#next"))
	run(b, chromedp.Click("#next"))
	expect("the last page", "130 servers", 30, "")
	if got := eval[string](b, `document.getElementById("page").textContent + document.getElementById("next").disabled`); got != "Page 3 of 3true" {
		t.Error(got)
	}
	run(b, chromedp.Focus(`th[data-key="5"] button`))
	run(b, chromedp.KeyEvent(kb.Enter))
	const trips = `Array.from(document.querySelectorAll("#list tbody tr"), r => +r.cells[6].textContent)`
	if got := eval[[]float64](b, trips); len(got) != 50 || !slices.IsSorted(got) || got[0] == got[49] {
		t.Errorf("by round trip: %v", got)
	}
}

// checkTooltips: charts explain the mark under the pointer. Escape hides the
// explanation.
func checkTooltips(t *testing.T, b *browser) {
	const tip = `(document.getElementById("tip").hidden ? "hidden: " : "") + document.getElementById("tip").textContent`
	point := func(selector string, x float64) {
		t.Helper()
		at := eval[[]float64](b, fmt.Sprintf(`new Promise(done => {
			const e = document.querySelector(%q);
			e.scrollIntoView({block: "center", behavior: "instant"});
			requestAnimationFrame(() => requestAnimationFrame(() => { // the page has noticed
				const r = e.getBoundingClientRect();
				done([r.left + %v * r.width, r.top + r.height / 2]);
			}));
		})`, selector, x))
		run(b, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]))
	}
	point("#numbers .parts rect", 0.5)
	if got := eval[string](b, tip); !strings.HasPrefix(got, "Linux: ") {
		t.Errorf("over a segment: %q", got)
	}
	run(b, chromedp.KeyEvent(kb.Escape))
	if got := eval[string](b, tip); !strings.HasPrefix(got, "hidden: ") {
		t.Errorf("after Escape: %q", got)
	}
}

// checkTimelines: the legend of a timeline has the values of the night under the
// pointer. Dragging zooms in.
func checkTimelines(t *testing.T, b *browser) {
	pointer := func(event input.DispatchMouseEventType, selector string, x float64) {
		t.Helper()
		at := eval[[]float64](b, fmt.Sprintf(`(() => {
			const e = document.querySelector(%q);
			e.scrollIntoView({block: "center", behavior: "instant"});
			const r = e.getBoundingClientRect();
			return [r.left + %v * r.width, r.top + r.height / 2];
		})()`, selector+" .u-over", x))
		run(b, chromedp.MouseEvent(event, at[0], at[1], chromedp.ButtonLeft))
	}
	legend := func(selector string) string {
		t.Helper()
		return eval[string](b, fmt.Sprintf(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() =>
			done(Array.from(document.querySelectorAll(%q), r => r.textContent).join("|")))))`, selector+" .u-series"))
	}
	const people = "#history .columns figure:nth-of-type(1)"
	for _, test := range []struct {
		selector string
		x        float64
		want     []string
	}{
		{people, 0.9999, []string{"20 Nov 2026", "All490,485 people", "Without farms468,985 people"}},
		{people, 0.001, []string{"21 Nov 2025", "All"}},
		{"#versions figure", 0.9999, []string{"20 Nov 2026", "1.41.1.2", "%"}},
	} {
		pointer(input.DispatchMouseEventTypeMouseMoved, test.selector, test.x)
		got := legend(test.selector)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s at %v: %q lacks %q", test.selector, test.x, got, want)
			}
		}
	}
	pointer(input.DispatchMouseEventTypeMousePressed, people, 0.5)
	pointer(input.DispatchMouseEventTypeMouseMoved, people, 0.7)
	pointer(input.DispatchMouseEventTypeMouseReleased, people, 0.7)
	pointer(input.DispatchMouseEventTypeMouseMoved, people, 0.001)
	if got := legend(people); strings.Contains(got, "2025") {
		t.Errorf("after zooming in: %q", got)
	}
}

// checkHostile: no name runs or loads anything, or shows anything but its own text.
func checkHostile(t *testing.T, b *browser) {
	html := rendered(t, hostileInput())
	for _, width := range []int64{360, 1280} {
		b.open(html, width, "light")
		b.fits(width)
		run(b, chromedp.Focus("#q"))
		run(b, chromedp.KeyEvent("hacked"))
		if got := eval[int](b, `document.querySelectorAll("#list tbody tr").length`); got < 5 {
			t.Errorf("%d servers found by text in their names", got)
		}
		if got := eval[string](b, `String(window.hacked)`); got != "undefined" {
			t.Errorf("script number %s ran", got)
		}
		const strange = `Array.from(document.querySelectorAll("img, iframe, object, embed, base, meta[http-equiv=refresh], textarea, a[href^='javascript:'], [onload], [onerror], [onmouseover], [style]:not(#tip, .uplot, .uplot *)"), e => e.outerHTML)`
		if got := eval[[]string](b, strange); len(got) > 0 {
			t.Errorf("elements from names: %q", got)
		}
		if got := eval[[]int](b, `[document.scripts.length, document.styleSheets.length, document.forms.length, document.links.length - document.querySelectorAll("nav a, .skip").length]`); !slices.Equal(got, []int{11, 1, 1, 0}) {
			t.Errorf("scripts, style sheets, forms, links: %v", got)
		}
	}
}

// checkNoticed: the browser records the faults that the other tests look for.
func checkNoticed(t *testing.T, b *browser) {
	b.open([]byte(`<!doctype html><meta name="viewport" content="width=device-width"><title>x</title><img src="/picture.png"><p id="w">x</p><script>console.log("x"); document.getElementById("w").style.width = "500px"; throw 1</script><footer></footer>`), 360, "light")
	if wide := eval[[]string](b, tooWide); len(wide) == 0 {
		t.Error("a wide element went unnoticed")
	}
	all := strings.Join(b.takeFaults(), "\n")
	for _, want := range []string{"console log", "exception: ", "request: " + b.server.URL + "/picture.png"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among the faults:\n%s", want, all)
		}
	}
}

// axe fails the test if axe-core, which finds what people with poor eyesight or without a
// mouse cannot use, has a finding of at least moderate impact.
func (b *browser) axe(script, what string) {
	b.t.Helper()
	eval[chromedp.Void](b, script)
	for _, finding := range eval[[]string](b, `axe.run({resultTypes: ["violations"]}).then(r => r.violations
		.filter(v => v.impact === "serious" || v.impact === "critical" || v.impact === "moderate")
		.map(v => v.id + " (" + v.impact + "): " + v.help + "\n" + v.nodes.slice(0, 3).map(n => "  " + n.html.slice(0, 200) + "\n  " + n.failureSummary).join("\n")))`) {
		b.t.Errorf("%s: %s", what, finding)
	}
}

// screenshot writes a picture of the top of the page if the flag -screenshots is set.
func (b *browser) screenshot(name string, height int64) {
	if *screenshots == "" {
		return
	}
	width := eval[float64](b, `innerWidth`)
	shot, err := chromedp.Call(b.ctx, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{
		Format: "webp", Quality: ptr(int64(80)), CaptureBeyondViewport: ptr(true),
		Clip: &cdppage.Viewport{Width: width, Height: float64(height), Scale: 1},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*screenshots, name), shot.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func ptr[T any](v T) *T { return &v }
