(() => {
  const byID = id => document.getElementById(id);
  const box = byID("box");
  if (!box) return; // the page of a server
  const list = byID("list"), body = list.tBodies[0];
  const count = n => n.toLocaleString("en");
  const perPage = 100, extra = 8; // rows of a request; rows beyond what is seen
  let total = 0, pages = new Map(), asked = new Map(), version = 0, rowHeight = 0;

  async function get(url) {
    const answer = await fetch(url, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(answer.status);
    return answer.json();
  }

  // The table has a row for every server, but only those that are seen are in the document.
  const filters = ["q", "game", "status", "sort"];
  function parameters() {
    const chosen = new URLSearchParams();
    for (const f of filters) {
      const value = byID(f).value.trim();
      if (value && !(f === "sort" && value === "people")) chosen.set(f, value);
    }
    return chosen;
  }

  async function load(n) {
    if (asked.has(n)) return;
    const mine = version, chosen = parameters();
    chosen.set("offset", n * perPage);
    chosen.set("limit", perPage);
    asked.set(n, true);
    try {
      const answer = await get("/api/servers?" + chosen);
      if (mine !== version) return;
      pages.set(n, answer.servers);
      total = answer.total;
      byID("found").textContent = count(total) + (total === 1 ? " server" : " servers");
      show();
    } catch {
      if (mine === version) asked.delete(n);
    }
  }

  function duration(since) { // like the program: 9 s, 12 min, 3 h, 2 days
    const s = Math.max(0, (Date.now() - Date.parse(since)) / 1000);
    if (s <= 99) return Math.ceil(s) + " s";
    if (s <= 99 * 60) return Math.ceil(s / 60) + " min";
    if (s <= 48 * 3600) return Math.ceil(s / 3600) + " h";
    return Math.ceil(s / 86400) + " days";
  }

  function element(name, text, kind) {
    const e = document.createElement(name);
    if (text !== undefined) e.textContent = text;
    if (kind) e.className = kind;
    return e;
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
      tr.append(td);
      return td;
    };
    if (!s) {
      cell("", "…").colSpan = 6;
      return tr;
    }
    cell("", link(s.addr, s.name));
    const word = byID("status").querySelector(`[value=${s.status}]`).textContent;
    cell("Status", element("b", word, "state " + s.status), element("span", s.since ? " for " + duration(s.since) : "", "aside"));
    const people = cell("Players", s.people === undefined ? "–" : count(s.people));
    people.className = "n";
    if (s.people !== undefined && s.places > 0) people.append(element("span", " / " + count(s.places), "aside"));
    cell("Map", element("bdi", s.map || ""));
    cell("Game", element("bdi", s.game_name || ""));
    cell("Address", s.addr);
    return tr;
  }

  function gap(height) {
    const tr = element("tr", undefined, "gap"), td = element("td");
    tr.setAttribute("aria-hidden", "true");
    td.colSpan = 6;
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
    const kept = document.activeElement && body.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    body.replaceChildren(...rows);
    list.setAttribute("aria-rowcount", total + 1);
    if (kept) { // the row that has the focus keeps it
      const again = Array.from(body.querySelectorAll("a")).find(a => a.getAttribute("href") === kept);
      (again || box).focus({ preventScroll: true });
    }
  }

  function search() {
    version++;
    pages = new Map();
    asked = new Map();
    box.scrollTop = 0;
    const chosen = parameters().toString();
    history.replaceState(null, "", chosen ? "?" + chosen : location.pathname);
    load(0);
  }

  function refresh() { // keeps the rows that are shown until the new ones come
    const n = Math.floor(box.scrollTop / rowHeight / perPage), seen = pages.get(n), next = pages.get(n + 1);
    version++;
    asked = new Map();
    pages = new Map([[n, seen], [n + 1, next]].filter(([, rows]) => rows));
    load(n);
    if (next) load(n + 1);
  }

  // Numbers, events and charts.
  const clock = time => new Date(time).toLocaleString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" }) + " " + time.slice(11, 19);
  const notice = all => byID("trust").replaceChildren(...all.map(n => element("li", n.text, n.level)));
  async function update() {
    const [stats, events] = await Promise.all([get("/api/stats"), get("/api/events?since=" + byID("eventlist").dataset.last)]);
    for (const name of ["up", "down", "silent", "people", "places", "servers"]) byID("n-" + name).textContent = count(stats[name]);
    byID("n-down").className = "value" + (stats.down ? " bad" : "");
    byID("now").textContent = clock(stats.time);
    byID("now").dateTime = stats.time;
    notice(stats.notices);
    const place = byID("eventlist");
    for (const e of events.events) {
      const li = element("li"), span = element("span");
      li.append(element("time", clock(e.time)), " ",
        element("b", e.event, "kind " + e.event), " ", span);
      if (e.addr) span.append(link(e.addr, e.shown));
      span.append(" ", element("bdi", e.text, "aside"));
      place.prepend(li);
    }
    if (events.events.length && byID("quiet")) byID("quiet").remove();
    while (place.children.length > 100) place.lastChild.remove();
    place.dataset.last = events.last;
  }

  async function redraw() {
    const { day, month } = await get("/api/history");
    if (charts.length < 4) {
      if (day.times.length) location.reload(); // the first points are known now
      return;
    }
    [[day, "people"], [day, "up"], [month, "people"], [month, "up"]].forEach(([s, name], i) => {
      charts[i].span = [s.from, s.to];
      charts[i].setData([s.times, s[name]]);
    });
  }

  const lost = () => notice([{ level: "bad", text: "This page can't reach the watch: what it shows is old" }]);
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
  every(5000, () => { refresh(); update().catch(lost); });
  every(60000, () => { redraw().catch(lost); });
})();
