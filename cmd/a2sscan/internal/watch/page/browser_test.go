package page

import (
	"context"
	"flag"
	"fmt"
	"math"
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
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
)

var screenshots = flag.String("screenshots", "", "folder for the pictures of the live page, docs/pictures")

// browser is a tab of headless Chromium that shows a Page.
type browser struct {
	t      *testing.T
	ctx    context.Context
	server *httptest.Server

	mu     sync.Mutex
	faults []string // console messages, errors, and requests to others
}

// TestBrowser shows pages in a browser.
func TestBrowser(t *testing.T) {
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
	chromium, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	check(t, chromedp.Do(chromium))
	forty := newPage(t, newSample(40), sampleEvents...)
	storeSampleHours(t, forty)
	strange, events := hostileSample()
	for _, part := range []struct {
		name  string
		page  *Page
		check func(*testing.T, *browser)
	}{
		{"sizes", forty, checkSizes},
		{"many", newPage(t, newSample(100_000), sampleEvents...), checkMany},
		{"plain", newPage(t, newSample(300)), checkPlain},
		{"local", newPage(t, newSample(40), sampleEvents...), checkLocal},
		{"hostile", newPage(t, strange, events...), checkHostile},
		{"news", newPage(t, newSample(5)), checkNews},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel() // two parts wait for news
			part.check(t, newTab(t, chromium, part.page))
		})
	}
}

// storeSampleHours stores 90 days of the first servers, with outages.
func storeSampleHours(t *testing.T, p *Page) {
	for day := range 90 {
		for hour := range 24 {
			at := now.Truncate(24*time.Hour).AddDate(0, 0, day-89).Add(time.Duration(hour) * time.Hour)
			var samples []db.Sample
			for id := range 3 {
				s := db.Sample{db.UpFor: 3600, db.PeopleMin: 3, db.PeopleMax: uint32(20 + hour), db.PeopleSum: uint32((10 + hour + day/9) * 60), db.Counts: 60}
				if day%31 == 9*id+4 && hour < 1+day/20 {
					s[db.UpFor], s[db.DownFor] = 1200, 2400
				}
				samples = append(samples, s)
			}
			if at.Before(now) && (day > 3 || hour > 7) {
				check(t, storeHour(p.DB, at, samples...))
			}
		}
	}
	check(t, p.DB.Prune(now, 7*24*time.Hour, 400*24*time.Hour))
	check(t, p.DB.Flush(nil, []db.Server{{ID: 1, Status: db.Up, Answer: []byte(`{"addr":"198.51.100.0:27015","info":{"name":"Rust community server 0","map":"Procedural Map"}}`)}}))
	for i := range 30 * 24 * 12 {
		at := now.Add(time.Duration(i-30*24*12) * 5 * time.Minute)
		check(t, p.DB.Count(at, 33+i/3000, 400+i/30+int(200*math.Sin(float64(i)*math.Pi/144))))
	}
	p.readPast(t)
}

// newTab opens a tab, which is closed at the end of the test. Then no faults may be left.
func newTab(t *testing.T, chromium context.Context, p *Page) *browser {
	t.Helper()
	b := &browser{t: t, server: httptest.NewServer(p.routes())}
	t.Cleanup(b.server.Close)
	ctx, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b.ctx = ctx
	check(t, chromedp.Listen(ctx, b.listen))
	call(b, network.Enable, network.EnableParams{})
	call(b, runtime.Enable, cdp.Empty{})
	call(b, log.Enable, cdp.Empty{})
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, fault := range b.faults {
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
		fault = fmt.Sprintf("console %s: %+v", e.Type, e.Args)
	case *runtime.EventExceptionThrown:
		fault = fmt.Sprintf("exception: %+v", e.ExceptionDetails)
	case *log.EventEntryAdded:
		fault = "log: " + e.Entry.Text
	case *cdppage.EventJavascriptDialogOpening:
		fault = "dialog: " + e.Message
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, b.server.URL+"/") && url != "data:," {
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
	_, err := chromedp.Call(b.ctx, command, params)
	check(b.t, err)
}

// run runs an action, for at most ten minutes.
func run[T any](b *browser, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Minute)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	check(b.t, err)
	return value
}

// eval evaluates an expression in the page and returns its value, if that is a promise the
// value of that.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	return run(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// until waits until an expression is true in the page.
func (b *browser) until(expression string) {
	b.t.Helper()
	if !eval[bool](b, `new Promise(done => { let n = 0; const look = () => (`+expression+`) ? done(true) : n++ > 1500 ? done(false) : setTimeout(look, 20); look(); })`) {
		b.t.Fatalf("never true: %s; found %q", expression, eval[string](b, `document.getElementById("found") ? document.getElementById("found").textContent : document.title`))
	}
}

// open shows a page at a width, with a light or dark colour scheme.
func (b *browser) open(path string, width int64, scheme string) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500})
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	run(b, chromedp.Navigate(b.server.URL+path))
}

// tooWide lists the elements that are wider than the screen, except those in a box that
// scrolls or hides the rest.
const tooWide = `(() => {
	const wide = document.documentElement.clientWidth;
	return [document.documentElement.scrollWidth > wide ? "the page is " + document.documentElement.scrollWidth + " wide" : ""].concat(
		Array.from(document.body.querySelectorAll("*"))
			.filter(e => !e.closest(".scroll, pre, .virtual td") && !e.closest("[hidden]"))
			.filter(e => e.getBoundingClientRect().width > wide + 0.5)
			.map(e => e.tagName + "." + e.className + " " + e.getBoundingClientRect().width)).filter(Boolean).slice(0, 20);
})()`

func (b *browser) fits(what string) {
	b.t.Helper()
	if wide := eval[[]string](b, tooWide); len(wide) > 0 {
		b.t.Errorf("%s: %s", what, strings.Join(wide, "\n"))
	}
}

// checkSizes: at each width, once in both colour schemes, the pages fit the screen, cause
// no fault, and are accessible.
func checkSizes(t *testing.T, b *browser) {
	axe, err := os.ReadFile(filepath.Join(os.Getenv("A2SSCAN_AXE"), "node_modules/axe-core/axe.min.js"))
	if err != nil {
		t.Log("SKIPPED, ACCESSIBILITY WAS NOT CHECKED: A2SSCAN_AXE does not name a folder with npm's axe-core")
	}
	for _, width := range []int64{360, 1280, 1920} {
		for _, scheme := range []string{"light", "dark"} {
			if width != 360 && (width == 1280) == (scheme == "dark") {
				continue
			}
			for name, path := range map[string]string{"page": "/", "server": "/server/" + addrOf(1).String(), "first": "/server/" + addrOf(0).String()} {
				b.open(path, width, scheme)
				what := fmt.Sprintf("%s-%d-%s", name, width, scheme)
				if name == "page" {
					b.until(`document.querySelectorAll("#list tbody tr").length === 40`)
				}
				b.fits(what)
				if picture := map[string]string{"page": "live-page.webp", "server": "server-page.webp"}[name]; width == 1280 && picture != "" {
					b.screenshot(picture, 1000)
				}
				if len(axe) > 0 && width != 1280 {
					b.axe(string(axe), what)
				}
			}
		}
	}
}

// axe fails the test if axe-core has a finding.
func (b *browser) axe(script, what string) {
	b.t.Helper()
	eval[chromedp.Void](b, script)
	for _, finding := range eval[[]string](b, `axe.run({resultTypes: ["violations"]}).then(r => r.violations
		.map(v => v.id + " (" + v.impact + "): " + v.help + "\n" + v.nodes.slice(0, 3).map(n => "  " + n.html.slice(0, 200) + "\n  " + n.failureSummary).join("\n")))`) {
		b.t.Errorf("%s: %s", what, finding)
	}
}

// checkMany: a table of 100,000 servers has few rows in the document, scrolls to its end, and
// can be searched.
func checkMany(t *testing.T, b *browser) {
	b.open("/", 1280, "light")
	const rows = `document.querySelectorAll("#list tbody tr:not(.gap)")`
	b.until(`document.getElementById("found").textContent === "100,000 servers" && ` + rows + `.length < 100`)
	const paint = `performance.getEntriesByType("paint").find(p => p.name === "first-contentful-paint")`
	b.until(paint + ` !== undefined`)
	t.Logf("first view after %.0f ms", eval[float64](b, paint+`.startTime`))
	eval[chromedp.Void](b, `(() => { const box = document.getElementById("box"); box.scrollTop = box.scrollHeight; })()`)
	b.until(`Array.from(` + rows + `).at(-1).ariaRowIndex === "100001" && Array.from(` + rows + `).at(-1).cells.length === 7`)
	if n := eval[int](b, rows+".length"); n > 100 {
		t.Errorf("%d rows are in the document", n)
	}
	took := eval[float64](b, `new Promise(done => {
		const q = document.getElementById("q"), found = document.getElementById("found"), begun = performance.now();
		new MutationObserver(() => done(performance.now() - begun)).observe(found, { childList: true });
		q.value = "valheim server 4242";
		q.dispatchEvent(new Event("input"));
	})`)
	t.Logf("search takes %.0f ms", took)
	b.until(`document.getElementById("found").textContent === "12 servers"`)
	eval[chromedp.Void](b, `(() => { document.getElementById("q").value = ""; const s = document.getElementById("status"); s.value = "down"; s.dispatchEvent(new Event("change")); })()`)
	b.until(`document.getElementById("found").textContent === "14,285 servers" && location.search === "?status=down"`)
	eval[chromedp.Void](b, `(() => { const s = document.getElementById("game"); s.value = "rust"; s.dispatchEvent(new Event("change")); })()`)
	b.until(`document.getElementById("found").textContent === "3,571 servers"`)
	if got := eval[[]string](b, `Array.from(`+rows+`, r => r.cells[1].textContent.split(" ")[0] + " " + r.cells[4].textContent)`); len(got) < 10 || slices.ContainsFunc(got, func(s string) bool { return s != "down Rust" }) {
		t.Errorf("%q", got)
	}
}

// checkPlain: without JavaScript, the page is a table with a form and links to its parts.
func checkPlain(t *testing.T, b *browser) {
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open("/?q=server&sort=name", 360, "light")
	if n := eval[int](b, `document.querySelectorAll("#list tbody tr").length`); n != usualLimit {
		t.Errorf("%d rows", n)
	}
	b.fits("without JavaScript")
	if got := eval[string](b, `document.querySelectorAll(".copy").length + " " + document.querySelector(".when").textContent`); got != "0 Checked every 60 s · updated 24 Nov 18:30 UTC" {
		t.Errorf("without JavaScript: %q", got)
	}
	next := eval[string](b, `document.querySelector("#pager a").getAttribute("href")`)
	b.open(next, 1280, "light")
	if got := eval[string](b, `document.getElementById("found").textContent`); got != "300 servers, 100 shown" {
		t.Errorf("%s: %q", next, got)
	}
}

// checkLocal: times are in the zone of the visitor, which the page names, and a click on an
// address copies it.
func checkLocal(t *testing.T, b *browser) {
	call(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Kolkata"})
	b.open("/", 1280, "light")
	b.until(`document.querySelectorAll("#list .copy").length === 40`)
	for expression, want := range map[string]string{
		`Array.from(new Set(Array.from(document.querySelectorAll(".zone"), e => e.textContent))).join()`: "GMT+5:30",
		`document.getElementById("now").textContent`:                                                     "25 Nov 00:00:00",
		`document.querySelectorAll("#eventlist li")[2].textContent.replace(/\s+/g, " ")`:                 "24 Nov 21:00 down Rust community server 0 no answer since 24 Nov 20:57; was up for 24 h",
		`document.querySelector(".plot + details tbody th").textContent`:                                 "24 Nov 23:55",
		`charts[0].series[0].value(charts[0], Date.UTC(2026, 10, 24, 18, 30) / 1000)`:                    "25 Nov 2026, 00:00",
	} {
		if got := eval[string](b, expression); got != want {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
	addr := eval[string](b, `(() => {
		navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); };
		const button = document.querySelectorAll("#list .copy")[3];
		button.click();
		return button.textContent;
	})()`)
	b.until(`window.copied === "` + addr + `" && document.activeElement.matches(".copy.copied")`)
	eval[chromedp.Void](b, `document.querySelector("#list tbody tr").id = "old"`)
	b.until(`!document.getElementById("old")`)
	if got := eval[string](b, `document.activeElement.className + " " + document.activeElement.textContent`); got != "copy "+addr {
		t.Errorf("when the rows are new, %q has the focus", got)
	}
	b.open("/server/"+addr, 1280, "light")
	b.until(`document.querySelector("#addr .copy").textContent === "` + addr + `"`)
	badges := eval[[]string](b, `Array.from(document.querySelectorAll("#badge .copy"), e => e.dataset.text.replaceAll(location.origin, "https://s"))`)
	want := []string{
		"[![" + addr + "](https://s/badge/" + addr + ".svg)](https://s/server/" + addr + ")",
		`<a href="https://s/server/` + addr + `"><img src="https://s/badge/` + addr + `.svg" alt="` + addr + `"></a>`,
	}
	if !slices.Equal(badges, want) {
		t.Errorf("badges %q, want %q", badges, want)
	}
	b.until(`document.querySelector(".badge img").naturalWidth > 50`)
}

// checkHostile: no name runs or loads anything, or shows anything but its own text.
func checkHostile(t *testing.T, b *browser) {
	for _, width := range []int64{360, 1280} {
		for _, path := range []string{"/", "/?q=hacked", "/server/" + addrOf(0).String(), "/server/" + addrOf(5).String()} {
			b.open(path, width, "light")
			if strings.HasPrefix(path, "/?") || path == "/" {
				b.until(`document.getElementById("box").classList.contains("few")`)
			}
			b.fits(path)
			if got := eval[string](b, `String(window.hacked)`); got != "undefined" {
				t.Errorf("%s: script number %s ran", path, got)
			}
			const strange = `Array.from(document.querySelectorAll("img:not(.badge img), iframe, object, embed, base, meta[http-equiv], textarea, a[href^='javascript:'], [onload], [onerror], [onmouseover]"), e => e.outerHTML)`
			if got := eval[[]string](b, strange); len(got) > 0 {
				t.Errorf("%s: elements from names: %q", path, got)
			}
			if got := eval[[]string](b, `Array.from(document.links, a => new URL(a.href).origin).filter(o => o !== location.origin)`); len(got) > 0 {
				t.Errorf("%s: links to others: %q", path, got)
			}
		}
	}
}

// checkNews: the page shows an event and new numbers without being loaded again.
func checkNews(t *testing.T, b *browser) {
	// A chart covers the time of its heading also while it has one point.
	first := newPage(t, newSample(5))
	first.forget(t)
	check(t, first.DB.Count(now.Add(-time.Minute), 30, 500))
	first.readPast(t)
	b.server.Config.Handler = first.routes()
	b.open("/", 1280, "light")
	b.until(`document.querySelectorAll("#list tbody tr").length === 5`)
	b.until(`charts.length === 2 && charts.every(c => c.data[0].length === 1 && c.scales.x.min === c.span[0] && c.scales.x.max === c.span[1])`)
	p := newPage(t, newSample(6), db.Event{Time: now, Kind: "down", Addr: addrOf(2).String(), Name: "<b>Valheim", For: 60})
	b.server.Config.Handler = p.routes()
	b.until(`document.querySelectorAll("#list tbody tr").length === 6 && document.getElementById("n-up").textContent === "6"`)
	b.until(`document.querySelector("#eventlist li").textContent.includes("down") && document.querySelector("#eventlist a").textContent === "<b>Valheim"`)
}

// screenshot writes a picture of the top of the page if the flag -screenshots is set.
func (b *browser) screenshot(name string, height int64) {
	if *screenshots == "" {
		return
	}
	quality, beyond := int64(80), true
	shot, err := chromedp.Call(b.ctx, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{
		Format: "webp", Quality: &quality, CaptureBeyondViewport: &beyond,
		Clip: &cdppage.Viewport{Width: eval[float64](b, `innerWidth`), Height: float64(min(height, eval[int64](b, `document.documentElement.scrollHeight`))), Scale: 1},
	})
	check(b.t, err)
	check(b.t, os.WriteFile(filepath.Join(*screenshots, name), shot.Data, 0o644))
}
