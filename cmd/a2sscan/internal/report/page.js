(() => {
  const byID = id => document.getElementById(id);

  // The table of servers.
  const source = byID("data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const perPage = innerWidth < 641 ? 25 : 50;
  const list = byID("list"), body = list.tBodies[0], heads = Array.from(list.tHead.rows[0].cells);
  const servers = data.rows.map(r => ({
    addr: r[0], people: r[7], places: r[8], rtt: r[9],
    cells: [r[1], data.games[r[2]], data.maps[r[3]], data.versions[r[4]], data.countries[r[5]], r[9], r[7], data.flags[r[6]], r[0]],
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
    if (k === 6) text = s.people + (s.places < 0 ? "" : " of " + s.places);
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
    const first = k === 6; // people: the largest first; other columns: ascending
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
