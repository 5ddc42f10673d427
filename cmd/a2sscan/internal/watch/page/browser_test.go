//go:build linux && !race

package page

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/browser"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
)

// TestBrowser shows pages in a browser.
func TestBrowser(t *testing.T) {
	chromium := browser.Start(t)
	forty := newPage(t, newSample(40), sampleEvents...)
	storeSampleHours(t, forty)
	strange, events := hostileSample()
	for _, part := range []struct {
		name  string
		page  *Page
		check func(*testing.T, *browser.Tab)
	}{
		{"sizes", forty, checkSizes},
		{"narrow", newPage(t, newSample(40), sampleEvents...), checkNarrow},
		{"many", newPage(t, newSample(100_000), sampleEvents...), checkMany},
		{"plain", newPage(t, newSample(300)), checkPlain},
		{"local", newPage(t, newSample(40), sampleEvents...), checkLocal},
		{"hostile", newPage(t, strange, events...), checkHostile},
		{"news", newPage(t, newSample(5)), checkNews},
		{"tasks", newPage(t, newSample(5), sampleEvents...), checkTasks},
		{"pause", newPage(t, newSample(5)), checkPause},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel() // two parts wait for news
			part.check(t, browser.NewTab(t, chromium, part.page.routes()))
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

// checkSizes: at each width, once in both colour schemes, the pages fit the screen, cause
// no fault, and are accessible.
func checkSizes(t *testing.T, b *browser.Tab) {
	for _, width := range []int64{360, 1280, 1920} {
		for _, scheme := range []string{"light", "dark"} {
			if width != 360 && (width == 1280) == (scheme == "dark") {
				continue
			}
			for name, path := range map[string]string{"page": "/", "server": "/server/" + addrOf(1).String(), "first": "/server/" + addrOf(0).String()} {
				b.Open(path, width, scheme)
				what := fmt.Sprintf("%s-%d-%s", name, width, scheme)
				if name == "page" {
					b.Until(`document.querySelectorAll("#list tbody tr").length === 40`)
				}
				b.Fits(what)
				if picture := map[string]string{"page": "live-page.webp", "server": "server-page.webp"}[name]; width == 1280 && picture != "" {
					b.Screenshot(picture, 1000)
				}
				if width != 1280 {
					b.Axe(what)
				}
			}
		}
	}
}

// checkNarrow: in a narrow window, the table shows the status of each server to its end.
func checkNarrow(t *testing.T, b *browser.Tab) {
	for _, width := range []int64{650, 750, 850, 860, 1000, 1100, 1110} {
		b.Open("/", width, "light")
		b.Until(`document.querySelectorAll("#list tbody tr").length === 40`)
		b.Fits(fmt.Sprint(width, " wide"))
		if cut := browser.Eval[[]string](b, `Array.from(document.querySelectorAll("#list tr > :is(:nth-child(2), :nth-child(6))")).filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)`); len(cut) > 0 {
			t.Errorf("%d wide: %d cells are cut: %q", width, len(cut), cut[0])
		}
	}
}

// checkMany: a table of 100,000 servers has few rows in the document, scrolls to its end, and
// can be searched.
func checkMany(t *testing.T, b *browser.Tab) {
	b.Open("/", 1280, "light")
	const rows = `document.querySelectorAll("#list tbody tr:not(.gap)")`
	b.Until(`document.getElementById("found").textContent === "100,000 servers" && ` + rows + `.length < 100`)
	const paint = `performance.getEntriesByType("paint").find(p => p.name === "first-contentful-paint")`
	b.Until(paint + ` !== undefined`)
	t.Logf("first view after %.0f ms", browser.Eval[float64](b, paint+`.startTime`))
	browser.Eval[chromedp.Void](b, `(() => { const box = document.getElementById("box"); box.scrollTop = box.scrollHeight; })()`)
	b.Until(`Array.from(` + rows + `).at(-1).ariaRowIndex === "100001" && Array.from(` + rows + `).at(-1).cells.length === 7`)
	if n := browser.Eval[int](b, rows+".length"); n > 100 {
		t.Errorf("%d rows are in the document", n)
	}
	took := browser.Eval[float64](b, `new Promise(done => {
		const q = document.getElementById("q"), found = document.getElementById("found"), begun = performance.now();
		new MutationObserver(() => done(performance.now() - begun)).observe(found, { childList: true });
		q.value = "valheim server 4242";
		q.dispatchEvent(new Event("input"));
	})`)
	t.Logf("search takes %.0f ms", took)
	b.Until(`document.getElementById("found").textContent === "12 servers"`)
	browser.Eval[chromedp.Void](b, `(() => { document.getElementById("q").value = ""; const s = document.getElementById("status"); s.value = "down"; s.dispatchEvent(new Event("change")); })()`)
	b.Until(`document.getElementById("found").textContent === "14,285 servers" && location.search === "?status=down"`)
	browser.Eval[chromedp.Void](b, `(() => { const s = document.getElementById("game"); s.value = "rust"; s.dispatchEvent(new Event("change")); })()`)
	b.Until(`document.getElementById("found").textContent === "3,571 servers"`)
	if got := browser.Eval[[]string](b, `Array.from(`+rows+`, r => r.cells[1].textContent.split(" ")[0] + " " + r.cells[4].textContent)`); len(got) < 10 || slices.ContainsFunc(got, func(s string) bool { return s != "down Rust" }) {
		t.Errorf("%q", got)
	}
}

// checkPlain: without JavaScript, the page is a table with a form and links to its parts.
func checkPlain(t *testing.T, b *browser.Tab) {
	browser.Call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.Open("/?q=server&sort=name", 360, "light")
	if n := browser.Eval[int](b, `document.querySelectorAll("#list tbody tr").length`); n != usualLimit {
		t.Errorf("%d rows", n)
	}
	b.Fits("without JavaScript")
	if got := browser.Eval[string](b, `document.querySelectorAll(".copy").length + " " + document.querySelector(".when").textContent`); got != "0 Checked every 60 s · updated 24 Nov 18:30 UTC" {
		t.Errorf("without JavaScript: %q", got)
	}
	next := browser.Eval[string](b, `document.querySelector("#pager a").getAttribute("href")`)
	b.Open(next, 1280, "light")
	if got := browser.Eval[string](b, `document.getElementById("found").textContent`); got != "300 servers, 100 shown" {
		t.Errorf("%s: %q", next, got)
	}
}

// checkLocal: times are in the zone of the visitor, which the page names, and a click on an
// address copies it.
func checkLocal(t *testing.T, b *browser.Tab) {
	browser.Call(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Kolkata"})
	b.Open("/", 1280, "light")
	b.Until(`document.querySelectorAll("#list .copy").length === 40`)
	for expression, want := range map[string]string{
		`Array.from(new Set(Array.from(document.querySelectorAll(".zone"), e => e.textContent))).join()`: "GMT+5:30",
		`document.getElementById("now").textContent`:                                                     "25 Nov 00:00:00",
		`document.querySelectorAll("#eventlist li")[2].textContent.replace(/\s+/g, " ")`:                 "24 Nov 21:00 down Rust community server 0 no answer since 24 Nov 20:57; was up for 24 h",
		`document.querySelector(".plot + details tbody th").textContent`:                                 "24 Nov 23:55",
		`charts[0].series[0].value(charts[0], Date.UTC(2026, 10, 24, 18, 30) / 1000)`:                    "25 Nov 2026, 00:00",
	} {
		if got := browser.Eval[string](b, expression); got != want {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
	addr := browser.Eval[string](b, `(() => {
		navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); };
		const button = document.querySelectorAll("#list .copy")[3];
		button.click();
		return button.textContent;
	})()`)
	b.Until(`window.copied === "` + addr + `" && document.activeElement.matches(".copy.copied")`)
	browser.Eval[chromedp.Void](b, `document.querySelector("#list tbody tr").id = "old"`)
	b.Until(`!document.getElementById("old")`)
	if got := browser.Eval[string](b, `document.activeElement.className + " " + document.activeElement.textContent`); got != "copy "+addr {
		t.Errorf("when the rows are new, %q has the focus", got)
	}
	b.Open("/server/"+addr, 1280, "light")
	b.Until(`document.querySelector("#addr .copy").textContent === "` + addr + `"`)
	badges := browser.Eval[[]string](b, `Array.from(document.querySelectorAll("#badge .copy"), e => e.dataset.text.replaceAll(location.origin, "https://s"))`)
	want := []string{
		"[![" + addr + "](https://s/badge/" + addr + ".svg)](https://s/server/" + addr + ")",
		`<a href="https://s/server/` + addr + `"><img src="https://s/badge/` + addr + `.svg" alt="` + addr + `"></a>`,
	}
	if !slices.Equal(badges, want) {
		t.Errorf("badges %q, want %q", badges, want)
	}
	b.Until(`document.querySelector(".badge img").naturalWidth > 50`)
}

// checkHostile: no name runs or loads anything, or shows anything but its own text.
func checkHostile(t *testing.T, b *browser.Tab) {
	for _, width := range []int64{360, 1280} {
		for _, path := range []string{"/", "/?q=hacked", "/server/" + addrOf(0).String(), "/server/" + addrOf(5).String()} {
			b.Open(path, width, "light")
			if strings.HasPrefix(path, "/?") || path == "/" {
				b.Until(`document.getElementById("box").classList.contains("few")`)
			}
			b.Fits(path)
			if got := browser.Eval[string](b, `String(window.hacked)`); got != "undefined" {
				t.Errorf("%s: script number %s ran", path, got)
			}
			const strange = `Array.from(document.querySelectorAll("img:not(.badge img), iframe, object, embed, base, meta[http-equiv], textarea, a[href^='javascript:'], [onload], [onerror], [onmouseover]"), e => e.outerHTML)`
			if got := browser.Eval[[]string](b, strange); len(got) > 0 {
				t.Errorf("%s: elements from names: %q", path, got)
			}
			if got := browser.Eval[[]string](b, `Array.from(document.links, a => new URL(a.href).origin).filter(o => o !== location.origin)`); len(got) > 0 {
				t.Errorf("%s: links to others: %q", path, got)
			}
		}
	}
}

// checkNews: the page shows an event and new numbers without being loaded again.
func checkNews(t *testing.T, b *browser.Tab) {
	// A chart covers the time of its heading also while it has one point.
	first := newPage(t, newSample(5))
	first.forget(t)
	check(t, first.DB.Count(now.Add(-time.Minute), 30, 500))
	first.readPast(t)
	b.Server.Config.Handler = first.routes()
	b.Open("/", 1280, "light")
	b.Until(`document.querySelectorAll("#list tbody tr").length === 5`)
	b.Until(`charts.length === 2 && charts.every(c => c.data[0].length === 1 && c.scales.x.min === c.span[0] && c.scales.x.max === c.span[1])`)
	p := newPage(t, newSample(6), db.Event{Time: now, Kind: "down", Addr: addrOf(2).String(), Name: "<b>Valheim", For: 60})
	b.Server.Config.Handler = p.routes()
	b.Until(`document.querySelectorAll("#list tbody tr").length === 6 && document.getElementById("n-up").textContent === "6"`)
	b.Until(`document.querySelector("#eventlist li").textContent.includes("down") && document.querySelector("#eventlist a").textContent === "<b>Valheim"`)
}

// keepTasks stores the functions that a page calls every few seconds in its object tasks. The
// page no longer calls them.
func keepTasks(b *browser.Tab) {
	browser.Call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `{
		window.tasks = {};
		const again = window.setInterval, real = window.fetch;
		window.setInterval = (task, ms) => ms < 5000 ? again(task, ms) : void (tasks[ms] = task);
		window.asked = 0;
		window.fetch = (url, ...more) => { asked += url.startsWith("/api/events"); return real(url, ...more); };
	}`})
}

// checkPause: when the watch did not run for more than a day, the page shows only the charts of
// the month, and updates them with the month.
func checkPause(t *testing.T, b *browser.Tab) {
	keepTasks(b)
	p := newPage(t, newSample(5))
	p.forget(t)
	check(t, p.DB.Count(now.Add(-48*time.Hour), 30, 500))
	p.readPast(t)
	b.Server.Config.Handler = p.routes()
	b.Open("/", 1280, "light")
	b.Until(`document.querySelectorAll("#list tbody tr").length === 5`)
	check(t, p.DB.Count(now.Add(-time.Minute), 20, 400))
	p.readPast(t)
	first := browser.Eval[[]int](b, `new Promise(done => {
		const drawn = [];
		for (const c of charts) c.setData = data => { if (drawn.push(data[1][0]) === charts.length) done(drawn); };
		tasks[60000]();
	})`)
	if !slices.Equal(first, []int{500, 30}) {
		t.Errorf("the new data of the charts begins with %v, and the month with 500 people and 30 servers", first)
	}
}

// checkTasks calls what the page does every few seconds: the page asks for events only when
// it has the answer to its latest question.
func checkTasks(t *testing.T, b *browser.Tab) {
	keepTasks(b)
	b.Open("/", 1280, "light")
	b.Until(`document.querySelectorAll("#list tbody tr").length === 5`)
	if n := browser.Eval[int](b, `document.getElementById("now").textContent = "", tasks[5000](), tasks[5000](), asked`); n != 1 {
		t.Errorf("before the first answer, the page asked %d times", n)
	}
	b.Until(`document.getElementById("now").textContent !== ""`)
	b.Server.Config.Handler = http.NotFoundHandler()
	if n := browser.Eval[int](b, `tasks[5000](), asked`); n != 2 {
		t.Errorf("after the answer, the page had asked %d times", n)
	}
	b.Until(`document.getElementById("trust").textContent.includes("can't reach")`)
	if n := browser.Eval[int](b, `tasks[5000](), asked`); n != 3 {
		t.Errorf("after an answer that failed, the page had asked %d times", n)
	}
	b.TakeFaults()
}
