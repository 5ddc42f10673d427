"use strict";
(() => {
  const byID = id => document.getElementById(id);
  const tip = byID("tip");

  function showTip(text, x, y) {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 4));
    const top = y + 18 + box.height < innerHeight ? y + 18 : Math.max(4, y - box.height - 12);
    tip.style.transform = `translate(${left}px, ${top}px)`;
  }
  const hideTip = () => { tip.hidden = true; };

  // Tooltips: texts that stand in the charts as titles.
  for (const title of document.querySelectorAll("svg title")) {
    const mark = title.parentNode;
    const text = title.textContent;
    title.remove();
    mark.addEventListener("pointermove", e => showTip(text, e.clientX, e.clientY));
    mark.addEventListener("pointerleave", hideTip);
  }
  addEventListener("keydown", e => { if (e.key === "Escape") hideTip(); });
  addEventListener("scroll", hideTip, { passive: true });

  // Timelines: data stands in each as JSON. Dragging zooms, a double click shows all.
  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name);
  const grouped = v => v == null ? "–" : v.toLocaleString("en", { maximumFractionDigits: 1 });
  const date = s => new Date(s * 1000).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
  function warnings(low) { // triangles on the axis, at nights whose numbers are too low
    return u => {
      u.ctx.fillStyle = css("--warn");
      for (const t of low) {
        const x = u.valToPos(t, "x", true), y = u.bbox.top + u.bbox.height, d = 5 * devicePixelRatio;
        if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) continue;
        u.ctx.beginPath();
        u.ctx.moveTo(x - d, y);
        u.ctx.lineTo(x, y - 2 * d);
        u.ctx.lineTo(x + d, y);
        u.ctx.fill();
      }
    };
  }
  const charts = Array.from(document.querySelectorAll(".plot"), plot => {
    const data = JSON.parse(plot.firstChild.textContent);
    const axis = { stroke: () => css("--muted"), grid: { stroke: () => css("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
    return new uPlot({
      width: plot.clientWidth, height: 220, tzDate: s => uPlot.tzDate(new Date(s * 1000), "Etc/UTC"),
      scales: { y: { range: (u, low, high) => [0, data.unit === "%" ? 100 : Math.max(high * 1.05, 1)] } },
      axes: [axis, { ...axis, size: 62, values: (u, all) => all.map(v => v >= 1e4 ? v / 1e3 + "k" : v + (data.unit === "%" ? "%" : "")) }],
      series: [{ value: (u, v) => v == null ? "–" : date(v) }, ...data.series.map(s => ({
        label: s.name, stroke: () => css(s.color), width: 2, value: (u, v) => grouped(v) + (v == null ? "" : data.unit),
      }))],
      hooks: { draw: [warnings(data.low || [])] },
    }, [data.nights, ...data.series.map(s => s.values)], plot);
  });
  const draw = () => { for (const c of charts) c.setSize({ width: c.root.parentNode.clientWidth, height: 220 }); };
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

  // The table of servers.
  const source = byID("data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const perPage = innerWidth < 641 ? 25 : 50;
  const list = byID("list"), body = list.tBodies[0], heads = Array.from(list.tHead.rows[0].cells);
  const servers = data.rows.map(r => ({
    addr: r[0], people: r[7], bots: r[8], max: r[9], rtt: r[10],
    cells: [r[1], data.games[r[2]], data.maps[r[3]], data.versions[r[4]], data.countries[r[5]], r[10], r[7], data.flags[r[6]], r[0]],
    text: "",
  }));
  const labels = ["", "Game", "Map", "Version", "Country", "Round trip, ms", "People", "Flags", "Address"];
  const order = heads.map(h => +h.dataset.key);
  const compareText = new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare;
  let key = 6, down = true, found = servers, page = 0;

  function search() {
    const words = byID("q").value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const s of servers) {
      if (words.length && !s.text) {
        s.text = [s.cells[0], s.cells[1], s.cells[2], s.cells[3], s.cells[4], s.cells[7], s.addr].join("\n").toLowerCase();
      }
    }
    found = words.length ? servers.filter(s => words.every(w => s.text.includes(w))) : servers.slice();
    sort();
  }

  function sort() {
    const sign = down ? -1 : 1;
    const numeric = key === 5 || key === 6;
    found.sort((a, b) => {
      const x = a.cells[key], y = b.cells[key];
      const absent = numeric ? -1 : "";
      if (x === y) return b.people - a.people;
      if (x === absent) return 1;
      if (y === absent) return -1;
      return sign * (numeric ? x - y : compareText(x, y));
    });
    page = 0;
    show();
  }

  function cell(s, k) {
    const td = document.createElement("td");
    td.setAttribute("role", "cell");
    if (labels[k]) td.dataset.label = labels[k];
    let text = s.cells[k];
    if (k === 6) text = s.people + " of " + s.max;
    if (k === 5) text = s.rtt < 0 ? "" : String(s.rtt);
    if (k === 0) text = text || "(no name)";
    if (k === 5 || k === 6) td.className = "n";
    if (k < 4 && text) {
      const bdi = document.createElement("bdi");
      bdi.textContent = text;
      td.append(bdi);
    } else {
      td.textContent = text;
    }
    return td;
  }

  function show() {
    const pages = Math.max(1, Math.ceil(found.length / perPage));
    body.replaceChildren(...found.slice(page * perPage, (page + 1) * perPage).map(s => {
      const tr = document.createElement("tr");
      tr.setAttribute("role", "row");
      tr.append(...order.map(k => cell(s, k)));
      return tr;
    }));
    for (const h of heads) {
      if (+h.dataset.key === key) h.setAttribute("aria-sort", down ? "descending" : "ascending");
      else h.removeAttribute("aria-sort");
    }
    byID("sort").value = String(key);
    const count = n => n.toLocaleString("en");
    byID("found").textContent = found.length === servers.length
      ? count(servers.length) + " servers" : count(found.length) + " of " + count(servers.length) + " servers match";
    byID("page").textContent = "Page " + count(page + 1) + " of " + count(pages);
    byID("previous").disabled = page === 0;
    byID("next").disabled = page + 1 >= pages;
    byID("pager").hidden = pages === 1;
  }

  function sortBy(k, turn) {
    const first = k === 6; // the largest first; all else from the start
    down = k === key && turn ? !down : first;
    key = k;
    sort();
  }
  for (const h of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...h.childNodes);
    h.append(button);
    button.addEventListener("click", () => sortBy(+h.dataset.key, true));
  }
  byID("sort").addEventListener("change", e => sortBy(+e.target.value, false));
  byID("search").addEventListener("submit", e => e.preventDefault());
  byID("q").addEventListener("input", search);
  const turnTo = n => { page = n; show(); byID("search").scrollIntoView(); };
  byID("previous").addEventListener("click", () => turnTo(page - 1));
  byID("next").addEventListener("click", () => turnTo(page + 1));
  byID("search").hidden = false;
  search();
})();
