//go:build linux && !race

package report

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/browser"
)

// tab is a tab that shows one page, which the field html has. Any request for something else is
// a fault.
type tab struct {
	*browser.Tab
	html []byte
}

// newTab opens a tab.
func newTab(t *testing.T, chromium context.Context) *tab {
	t.Helper()
	b := &tab{}
	b.Tab = browser.NewTab(t, chromium, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write(b.html)
	}))
	b.Alone = true
	return b
}

// open shows a page.
func (b *tab) open(html []byte, width int64, scheme string) {
	b.html = html
	b.Open("/", width, scheme)
}

// TestBrowser shows pages in a browser. Each part has a tab of its own.
func TestBrowser(t *testing.T) {
	chromium := browser.Start(t)
	for _, part := range []struct {
		name  string
		check func(*testing.T, *tab)
	}{
		{"sizes", checkSizes},
		{"hostile", checkHostile},
		{"charts", func(t *testing.T, b *tab) {
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

// checkSizes: at each width, once in both colour schemes, the page fits the screen,
// causes no fault, and is accessible.
func checkSizes(t *testing.T, b *tab) {
	in := sampleInput(40)
	if *browser.Screenshots != "" {
		in = sampleInput(365)
		for i := range 40_000 { // more than fit
			in.Servers.Add(sampleServer(i))
		}
	}
	html := rendered(t, in)
	for _, width := range []int64{360, 1280, 1920} {
		for _, scheme := range []string{"light", "dark"} {
			if width != 360 && (width == 1280) == (scheme == "dark") {
				continue
			}
			b.open(html, width, scheme)
			what := fmt.Sprintf("%d pixels, %s", width, scheme)
			b.Fits(what)
			if width == 1280 {
				b.Screenshot("report.webp", 1000)
			} else {
				b.Axe(what)
			}
		}
	}
}

// checkTable: searching and sorting the table work with the mouse and with the
// keyboard.
func checkTable(t *testing.T, b *tab) {
	in := &Input{Stats: sampleStats(0), Servers: &Servers{}}
	for i := range 130 {
		in.Servers.Add(sampleServer(i))
	}
	b.open(rendered(t, in), 1280, "light")
	const names = `Array.from(document.querySelectorAll("#list tbody tr"), r => r.cells[0].textContent)`
	expect := func(what, found string, rows int, first string) {
		t.Helper()
		if got := browser.Eval[string](b.Tab, `document.getElementById("found").textContent`); got != found {
			t.Errorf("%s: %q, want %q", what, got, found)
		}
		got := browser.Eval[[]string](b.Tab, names)
		if len(got) != rows || len(got) > 0 && first != "" && got[0] != first {
			t.Errorf("%s: %d rows, %q; want %d, the first %q", what, len(got), got[:min(1, len(got))], rows, first)
		}
	}
	search := func(text string) {
		browser.Run(b.Tab, chromedp.Focus("#q"))
		browser.Eval[chromedp.Void](b.Tab, `document.getElementById("q").select()`)
		browser.Run(b.Tab, chromedp.KeyEvent(text+" "))
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
	browser.Run(b.Tab, chromedp.Click(`th[data-key="0"] button`))
	expect("by name", "130 servers", 50, "Arma 3 community server 5")
	browser.Run(b.Tab, chromedp.Click(`th[data-key="0"] button`))
	expect("by name, from the end", "130 servers", 50, "Valheim community server 127")
	if got := browser.Eval[string](b.Tab, `document.querySelector('th[data-key="0"]').ariaSort`); got != "descending" {
		t.Errorf("aria-sort is %q", got)
	}
	browser.Run(b.Tab, chromedp.Click("#next"))
	browser.Run(b.Tab, chromedp.Click("#next"))
	expect("the last page", "130 servers", 30, "")
	if got := browser.Eval[string](b.Tab, `document.getElementById("page").textContent + document.getElementById("next").disabled`); got != "Page 3 of 3true" {
		t.Error(got)
	}
	browser.Run(b.Tab, chromedp.Focus(`th[data-key="5"] button`))
	browser.Run(b.Tab, chromedp.KeyEvent(kb.Enter))
	const trips = `Array.from(document.querySelectorAll("#list tbody tr"), r => +r.cells[6].textContent)`
	if got := browser.Eval[[]float64](b.Tab, trips); len(got) != 50 || !slices.IsSorted(got) || got[0] == got[49] {
		t.Errorf("by round trip: %v", got)
	}
}

// checkTooltips: charts explain the mark under the pointer. Escape hides the
// explanation.
func checkTooltips(t *testing.T, b *tab) {
	const tip = `(document.getElementById("tip").hidden ? "hidden: " : "") + document.getElementById("tip").textContent`
	point := func(selector string, x float64) {
		t.Helper()
		at := browser.Eval[[]float64](b.Tab, fmt.Sprintf(`new Promise(done => {
			const e = document.querySelector(%q);
			e.scrollIntoView({block: "center", behavior: "instant"});
			requestAnimationFrame(() => requestAnimationFrame(() => { // the page has noticed
				const r = e.getBoundingClientRect();
				done([r.left + %v * r.width, r.top + r.height / 2]);
			}));
		})`, selector, x))
		browser.Run(b.Tab, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]))
	}
	point("#numbers .parts rect", 0.5)
	if got := browser.Eval[string](b.Tab, tip); !strings.HasPrefix(got, "Linux: ") {
		t.Errorf("over a segment: %q", got)
	}
	browser.Run(b.Tab, chromedp.KeyEvent(kb.Escape))
	if got := browser.Eval[string](b.Tab, tip); !strings.HasPrefix(got, "hidden: ") {
		t.Errorf("after Escape: %q", got)
	}
}

// checkTimelines: the legend of a timeline has the values of the night under the
// pointer. Dragging zooms in.
func checkTimelines(t *testing.T, b *tab) {
	pointer := func(event input.DispatchMouseEventType, selector string, x float64) {
		t.Helper()
		at := browser.Eval[[]float64](b.Tab, fmt.Sprintf(`(() => {
			const e = document.querySelector(%q);
			e.scrollIntoView({block: "center", behavior: "instant"});
			const r = e.getBoundingClientRect();
			return [r.left + %v * r.width, r.top + r.height / 2];
		})()`, selector+" .u-over", x))
		browser.Run(b.Tab, chromedp.MouseEvent(event, at[0], at[1], chromedp.ButtonLeft))
	}
	legend := func(selector string) string {
		t.Helper()
		return browser.Eval[string](b.Tab, fmt.Sprintf(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() =>
			done(Array.from(document.querySelectorAll(%q), r => r.textContent).join("|")))))`, selector+" .u-series"))
	}
	const titles = `charts.map(c => c.axes.map(a => a.label).join("/")).join("|")`
	want := "Start of the scan, UTC/People|Start of the scan, UTC/Servers|Start of the scan, UTC/People|Start of the scan, UTC/Share of the servers|"
	if got := browser.Eval[string](b.Tab, titles); !strings.HasPrefix(got, want) {
		t.Errorf("titles of axes: %q", got)
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
func checkHostile(t *testing.T, b *tab) {
	html := rendered(t, hostileInput())
	for _, width := range []int64{360, 1280} {
		b.open(html, width, "light")
		b.Fits(fmt.Sprintf("%d pixels", width))
		browser.Run(b.Tab, chromedp.Focus("#q"))
		browser.Run(b.Tab, chromedp.KeyEvent("hacked"))
		if got := browser.Eval[int](b.Tab, `document.querySelectorAll("#list tbody tr").length`); got < 5 {
			t.Errorf("%d servers found by text in their names", got)
		}
		if got := browser.Eval[string](b.Tab, `String(window.hacked)`); got != "undefined" {
			t.Errorf("script number %s ran", got)
		}
		const strange = `Array.from(document.querySelectorAll("img, iframe, object, embed, base, meta[http-equiv=refresh], textarea, a[href^='javascript:'], [onload], [onerror], [onmouseover], [style]:not(#tip, .uplot, .uplot *)"), e => e.outerHTML)`
		if got := browser.Eval[[]string](b.Tab, strange); len(got) > 0 {
			t.Errorf("elements from names: %q", got)
		}
		if got := browser.Eval[[]int](b.Tab, `[document.scripts.length, document.styleSheets.length, document.forms.length, document.links.length - document.querySelectorAll("nav a, .skip, .suspect").length]`); !slices.Equal(got, []int{11, 1, 1, 0}) {
			t.Errorf("scripts, style sheets, forms, links: %v", got)
		}
	}
}

// checkNoticed: the browser records the faults that the other tests look for.
func checkNoticed(t *testing.T, b *tab) {
	b.open([]byte(`<!doctype html><meta name="viewport" content="width=device-width"><title>x</title><img src="/picture.png"><p id="w">x</p><script>console.log("x"); document.getElementById("w").style.width = "500px"; throw 1</script><footer></footer>`), 360, "light")
	if wide := b.Wide(); len(wide) == 0 {
		t.Error("a wide element went unnoticed")
	}
	all := strings.Join(b.TakeFaults(), "\n")
	for _, want := range []string{"console log", "exception: ", "request: " + b.Server.URL + "/picture.png"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among the faults:\n%s", want, all)
		}
	}
}
