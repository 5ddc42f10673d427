"use strict";
// Tooltips and timelines, for every page of the program. The timelines are in charts.
const charts = (() => {
  const tip = document.getElementById("tip");

  function showTip(text, x, y) {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 4));
    const top = y + 18 + box.height < innerHeight ? y + 18 : Math.max(4, y - box.height - 12);
    tip.style.transform = `translate(${left}px, ${top}px)`;
  }
  const hideTip = () => { tip.hidden = true; };

  // Tooltips: they show the titles in the charts.
  for (const title of document.querySelectorAll("svg title")) {
    const mark = title.parentNode;
    const text = title.textContent;
    title.remove();
    mark.addEventListener("pointermove", e => showTip(text, e.clientX, e.clientY));
    mark.addEventListener("pointerleave", hideTip);
  }
  addEventListener("keydown", e => { if (e.key === "Escape") hideTip(); });
  addEventListener("scroll", hideTip, { passive: true });

  // Timelines: each contains its data as JSON. Dragging zooms, a double click shows all.
  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name);
  const grouped = v => v == null ? "–" : v.toLocaleString("en", { maximumFractionDigits: 1 });
  const timeZone = document.documentElement.dataset.zone === "local" ? undefined : "UTC";
  const date = (s, clock) => new Date(s * 1000).toLocaleString("en-GB",
    { day: "numeric", month: "short", year: "numeric", ...(clock ? { hour: "2-digit", minute: "2-digit" } : {}), timeZone });
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
  function ticks(u, all, axis, space, step) { // a 24-hour clock; the first tick of each day or year also names the day or year
    const part = (s, format) => new Date(s * 1000).toLocaleString("en-GB", { ...format, timeZone });
    const day = { day: "numeric", month: "short" };
    const formats = step < 86400 ? [{ hour: "2-digit", minute: "2-digit" }, day] : [day, { year: "numeric" }];
    let last;
    return all.map(s => {
      const [text, below] = formats.map(f => part(s, f));
      return below === last ? text : text + "\n" + (last = below);
    });
  }
  const whole = Array.from({ length: 30 }, (_, i) => [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3)); // steps between counts
  const charts = Array.from(document.querySelectorAll(".plot"), plot => {
    const data = JSON.parse(plot.firstChild.textContent);
    // At first the chart covers its span or, without a span, its data. After zooming, it covers what was chosen.
    const range = (u, low, high) => {
      const times = u.data[0], first = times[0], last = times.at(-1) ?? Date.now() / 1e3;
      if (times.length > 1 && (low !== first || high !== last)) return [low, high];
      return u.span || [first < last ? first : last - 3600, last];
    };
    const axis = { stroke: () => css("--muted"), grid: { stroke: () => css("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
    const titled = label => data.axis ? { label, labelSize: 20, labelFont: "12px system-ui" } : {}; // other pages have the title above the chart
    return new uPlot({
      width: plot.clientWidth, height: 240, tzDate: s => timeZone ? uPlot.tzDate(new Date(s * 1000), "Etc/UTC") : new Date(s * 1000),
      scales: { x: { range }, y: { range: (u, low, high) => [0, data.unit === "%" ? 100 : Math.max(high * 1.05, 1)] } },
      axes: [{ ...axis, ...titled("Start of the scan, UTC"), values: ticks }, { ...axis, ...titled(data.axis), size: 62, ...(data.unit ? {} : { incrs: whole }), values: (u, all) => all.map(v => v >= 1e4 ? v / 1e3 + "k" : v + (data.unit === "%" ? "%" : "")) }],
      series: [{ value: (u, v) => v == null ? "–" : date(v, data.to) }, ...data.series.map(s => ({
        label: s.name, stroke: () => css(s.color), width: 2, value: (u, v) => grouped(v) + (v == null ? "" : data.unit || ""),
      }))],
      hooks: { init: [u => { if (data.to) u.span = [data.from, data.to]; }], draw: [warnings(data.low || [])] },
    }, [data.nights, ...data.series.map(s => s.values)], plot);
  });
  const draw = () => { for (const c of charts) c.setSize({ width: c.root.parentNode.clientWidth, height: 240 }); };
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return charts;
})();
