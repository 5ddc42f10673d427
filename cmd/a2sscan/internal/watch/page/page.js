(() => {
  const byID = id => document.getElementById(id);
  const box = byID("box");

  function element(name, text, kind) {
    const e = document.createElement(name);
    if (text !== undefined) e.textContent = text;
    if (kind) e.className = kind;
    return e;
  }

  // Times are UTC in the HTML, and here in the zone of the visitor, which the page names.
  function clock(time, second) {
    const parts = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second };
    return new Date(time).toLocaleString("en-GB", parts).replace(",", "");
  }
  function moment(time, second) {
    const e = element("time", clock(time, second));
    e.dateTime = time;
    return e;
  }
  const zone = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" }).formatToParts().find(p => p.type === "timeZoneName").value;
  for (const e of document.querySelectorAll(".zone")) e.textContent = zone;
  for (const e of document.querySelectorAll("time")) e.textContent = clock(e.dateTime, e.parentNode.id === "now" ? "2-digit" : undefined);

  // copying returns a button that copies text. Without text, the button copies its own label.
  function copying(shown, text) {
    const b = element("button", shown, "copy");
    b.type = "button";
    b.dataset.text = text || shown;
    return b;
  }
  function copyOld(text) { // a page without TLS has no navigator.clipboard
    const area = document.body.appendChild(element("textarea", text, "vh"));
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
  addEventListener("click", async e => {
    const b = e.target.closest(".copy");
    if (!b) return;
    const text = b.dataset.text;
    const done = navigator.clipboard ? await navigator.clipboard.writeText(text).then(() => true, () => false) : copyOld(text);
    b.focus({ preventScroll: true });
    b.classList.toggle("copied", done);
    setTimeout(() => b.classList.remove("copied"), 2000);
  });

  if (!box) { // the page of a server
    if (!byID("addr")) return;
    const addr = byID("addr").textContent, page = `${location.origin}/server/${addr}`, image = `${location.origin}/badge/${addr}.svg`;
    byID("addr").replaceChildren(copying(addr));
    // A name could change what the text around it means, so there is only the address.
    byID("badge").append(copying("Markdown", `[![${addr}](${image})](${page})`), copying("HTML", `<a href="${page}"><img src="${image}" alt="${addr}"></a>`));
    return;
  }
  const list = byID("list"), body = list.tBodies[0];
  const count = n => n.toLocaleString("en");
  const perPage = 100, extra = 8; // rows per request; rows to draw above and below the visible rows
  let total = 0, pages = new Map(), asked = new Map(), version = 0, loading = 0, rowHeight = 0;

  async function get(url) {
    const answer = await fetch(url, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(answer.status);
    return answer.json();
  }

  // The table has a row for every server, but only the visible rows are in the document.
  const filters = ["q", "game", "status", "sort"];
  function parameters() {
    const chosen = new URLSearchParams();
    for (const f of filters) {
      const value = byID(f).value.trim();
      if (value) chosen.set(f, value);
    }
    return chosen;
  }

  async function load(n) {
    if (asked.has(n)) return;
    const mine = version, chosen = parameters();
    chosen.set("offset", n * perPage);
    chosen.set("limit", perPage);
    asked.set(n, true);
    loading++;
    try {
      const answer = await get("/api/servers?" + chosen);
      if (mine !== version) return;
      pages.set(n, answer.servers);
      total = answer.total;
      byID("found").textContent = count(total) + (total === 1 ? " server" : " servers");
      show();
    } catch {
      if (mine === version) asked.delete(n);
    } finally {
      loading--;
    }
  }

  function duration(since) { // as the program writes durations: 9 s, 12 min, 3 h, 2 days
    const s = Math.max(1, (Date.now() - Date.parse(since)) / 1000), whole = unit => Math.round(s / unit);
    if (whole(1) <= 99) return whole(1) + " s";
    if (whole(60) <= 99) return whole(60) + " min";
    if (whole(3600) <= 48) return whole(3600) + " h";
    return whole(86400) + " days";
  }

  function state(s) {
    const late = s.unanswered_since, word = byID("status").querySelector(`[value=${s.status}]`).textContent;
    const aside = element("span", "", "aside"), work = s.maintenance;
    if (s.status === "silent" && s.since) aside.append(", checked since ", moment(s.since));
    else if ((late || s.since) && !(work && work.planned)) aside.append(" for " + duration(late || s.since));
    if (work) {
      aside.append((work.planned ? "" : ", maintenance") + " until ", moment(work.until));
      if (work.reason) aside.append(": ", element("bdi", work.reason));
    }
    if (work && work.planned) return [element("b", "maintenance", "state planned"), aside];
    return [element("b", late ? "not answering" : word, "state " + (late ? "late" : s.status)), aside];
  }

  function link(addr, name) {
    const a = element("a");
    a.href = "/server/" + addr;
    a.append(element("bdi", name || addr));
    return a;
  }

  function row(i, s) {
    const tr = element("tr");
    tr.setAttribute("role", "row");
    tr.setAttribute("aria-rowindex", i + 2);
    const cell = (label, ...content) => {
      const td = element("td");
      td.setAttribute("role", "cell");
      if (label) td.dataset.label = label;
      td.append(...content);
      td.title = content.length === 1 ? td.textContent : ""; // the column may cut it
      tr.append(td);
      return td;
    };
    if (!s) {
      cell("", "…").colSpan = 7;
      return tr;
    }
    cell("", link(s.addr, s.name));
    cell("Status", ...state(s));
    const people = cell("Players", s.people === undefined ? "–" : count(s.people));
    people.className = "n";
    if (s.people !== undefined && s.places > 0) people.append(element("span", " / " + count(s.places), "aside"));
    cell("Map", element("bdi", s.map || ""));
    cell("Game", element("bdi", s.game_name || ""));
    cell("Uptime of 30 days", s.uptime_30_days === undefined ? "–" : (Math.floor(1e4 * s.uptime_30_days + 1e-9) / 100).toFixed(2) + "%").className = "n";
    const where = cell("Address", copying(s.addr));
    if (s.game_port) {
      const join = element("a", "Join");
      join.href = `steam://connect/${s.addr.split(":")[0]}:${s.game_port}`;
      where.append(" ", join);
    }
    return tr;
  }

  function gap(height) {
    const tr = element("tr", undefined, "gap"), td = element("td");
    tr.setAttribute("aria-hidden", "true");
    td.colSpan = 7;
    td.style.height = height + "px";
    tr.append(td);
    return tr;
  }

  function show() {
    box.classList.toggle("few", total <= 60);
    const all = total <= 60;
    const first = all ? 0 : Math.max(0, Math.floor(box.scrollTop / rowHeight) - extra);
    const last = all ? total : Math.min(total, Math.ceil((box.scrollTop + box.clientHeight) / rowHeight) + extra);
    const rows = [];
    for (let i = first; i < last; i++) {
      const n = Math.floor(i / perPage);
      if (!pages.has(n)) load(n);
      rows.push(row(i, pages.get(n) && pages.get(n)[i % perPage]));
    }
    if (first > 0) rows.unshift(gap(first * rowHeight));
    if (last < total) rows.push(gap((total - last) * rowHeight));
    if (total === 0) rows.push(element("tr")), rows[0].append(element("td", "No server matches."));
    const focused = body.contains(document.activeElement) ? document.activeElement : null;
    body.replaceChildren(...rows);
    list.setAttribute("aria-rowcount", total + 1);
    if (focused) { // what has the focus keeps it
      const again = Array.from(body.querySelectorAll("a, button")).find(e => e.textContent === focused.textContent && e.href === focused.href);
      (again || box).focus({ preventScroll: true });
    }
  }

  function search() {
    version++;
    pages = new Map();
    asked = new Map();
    box.scrollTop = 0;
    const chosen = parameters();
    if (byID("sort").selectedIndex === 0) chosen.delete("sort");
    history.replaceState(null, "", chosen.size ? "?" + chosen : location.pathname);
    load(0);
  }

  function refresh() { // keeps the rows that are shown until the new ones come
    if (loading) return; // a slow answer still counts
    const n = Math.floor(box.scrollTop / rowHeight / perPage), seen = pages.get(n), next = pages.get(n + 1);
    version++;
    asked = new Map();
    pages = new Map([[n, seen], [n + 1, next]].filter(([, rows]) => rows));
    load(n);
    if (next) load(n + 1);
  }

  // Numbers, events and charts.
  const notice = all => byID("trust").replaceChildren(...all.map(n => {
    const li = element("li", undefined, n.level), a = element("a", n.text);
    a.href = "/?status=" + n.status + "#servers";
    li.append(n.status ? a : n.text);
    return li;
  }));
  async function update() {
    const place = byID("eventlist");
    const [stats, events] = await Promise.all([get("/api/stats"), get(`/api/events?since=${place.dataset.last}&epoch=${place.dataset.epoch}`)]);
    for (const name of ["up", "down", "silent", "people", "places", "servers"]) byID("n-" + name).textContent = count(stats[name]);
    byID("n-silent").parentNode.hidden = !stats.silent;
    byID("n-down").className = "value" + (stats.down ? " bad" : "");
    byID("now").replaceChildren(moment(stats.time, "2-digit"));
    notice(stats.notices);
    if (events.reset) place.replaceChildren();
    for (const e of events.events) {
      const li = element("li"), span = element("span");
      li.append(moment(e.time), " ", element("b", e.event, "kind " + e.event), " ", span);
      if (e.addr) span.append(link(e.addr, e.shown));
      const aside = element("bdi", undefined, "aside");
      if (e.event === "down" && e.evidence) aside.append("no answer since ", moment(e.evidence.first), "; ");
      aside.append(e.text);
      span.append(" ", aside);
      place.prepend(li);
    }
    if (events.events.length && byID("quiet")) byID("quiet").remove();
    while (place.children.length > 100) place.lastChild.remove();
    place.dataset.last = events.last;
    place.dataset.epoch = events.epoch;
  }

  async function redraw() {
    const past = await get("/api/history");
    if (!charts.length && past.day.times.length) location.reload(); // the first points are known now
    charts.forEach((chart, i) => {
      const s = past[chart.root.parentNode.dataset.of];
      chart.span = [s.from, s.to];
      chart.setData([s.times, i % 2 ? s.up : s.people]);
    });
  }

  const lost = () => notice([{ level: "bad", text: "This page can't reach its server: what it shows is old" }]);
  const every = (ms, what) => setInterval(() => { if (!document.hidden) what(); }, ms);

  byID("go").hidden = true;
  if (byID("pager")) byID("pager").remove();
  box.classList.add("virtual");
  rowHeight = body.rows[0].getBoundingClientRect().height;
  byID("search").addEventListener("submit", e => { e.preventDefault(); search(); });
  byID("q").addEventListener("input", search);
  for (const f of ["game", "status", "sort"]) byID(f).addEventListener("change", search);
  let drawing = 0;
  box.addEventListener("scroll", () => {
    cancelAnimationFrame(drawing);
    drawing = requestAnimationFrame(() => { if (total > 60) show(); });
  }, { passive: true });
  addEventListener("resize", () => { const r = body.querySelector("tr:not(.gap)"); if (r) rowHeight = r.getBoundingClientRect().height || rowHeight; show(); });
  search();
  let updating = null; // two calls at once would add each event twice
  every(5000, () => { refresh(); updating ??= update().catch(lost).finally(() => { updating = null; }); });
  every(60000, () => { redraw().catch(lost); });
})();
