"use strict";
(() => {
  const all = (q, from = document) => [...from.querySelectorAll(q)];
  const make = (tag, text = "", set = {}) => Object.assign(document.createElement(tag), { textContent: text }, set);
  const name = (t) => t.caption.textContent;

  // Folded detail opens for print, and when a link leads into it.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open])");
    opened.forEach((d) => { d.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((d) => { d.open = false; }));
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let d = target && target.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
    if (target && target.closest("details")) target.scrollIntoView();
  };

  // A link to each heading and finding.
  all("main [id] > h2, main h3[id], .callout > h3").forEach((h) => {
    const id = h.tagName === "H2" ? h.parentElement.id : h.id || h.parentElement.id;
    const a = make("a", "#", { href: "#" + id, className: "anchor" });
    a.setAttribute("aria-label", "Link to: " + h.textContent.trim());
    h.append(" ", a);
  });

  // Tables: sorted by a column, filtered by words, taken away as CSV.
  const shown = (c) => (c.dataset.v || c.innerText).replace(/\s+/g, " ").trim();
  const number = (c) => parseFloat(shown(c).replace(/[−]/g, "-").replace(/[, <%\u202f]/g, ""));
  const csv = (t) => all("tr", t).filter((r) => r.cells.length > 1)
    .map((r) => [...r.cells].map((c) => '"' + shown(c).replace(/−/g, "-").replace(/"/g, '""') + '"').join(",")).join("\r\n");
  const sort = (t, i, down) => all("tbody", t).forEach((b) => {
    const rows = all("tr", b).filter((r) => r.cells.length > 1);
    const key = (r) => number(r.cells[i]);
    const numeric = i && rows.some((r) => !isNaN(key(r)));
    rows.sort((a, z) => numeric
      ? (isNaN(key(a)) - isNaN(key(z))) || (key(a) - key(z)) * (down ? -1 : 1)
      : shown(a.cells[i]).localeCompare(shown(z.cells[i])) * (down ? -1 : 1));
    b.append(...rows);
  });
  all("table").forEach((t) => {
    const bar = make("div", "", { className: "bar" });
    const say = make("span", "", { role: "status" });
    const add = (text, act) => {
      const b = make("button", text, { type: "button", onclick: act });
      b.setAttribute("aria-label", text + ": " + name(t));
      bar.append(b);
    };
    if (t.tBodies.length && t.rows.length > 8) {
      const find = make("input", "", { type: "search", placeholder: "Filter rows" });
      find.setAttribute("aria-label", "Filter rows: " + name(t));
      find.oninput = () => all("tbody tr", t).forEach((r) => {
        r.hidden = r.cells.length > 1 && !r.innerText.toLowerCase().includes(find.value.toLowerCase());
      });
      bar.append(find);
    }
    add("Copy CSV", () => navigator.clipboard.writeText(csv(t)).then(() => { say.textContent = "copied"; }, () => { say.textContent = "not allowed"; }));
    add("Save CSV", () => {
      const url = URL.createObjectURL(new Blob([csv(t)], { type: "text/csv" }));
      make("a", "", { href: url, download: t.closest("[id]").id + ".csv" }).click();
      URL.revokeObjectURL(url);
    });
    bar.append(say);
    t.closest(".scroll").before(bar);
    if (t.rows.length > 3) all("thead th", t).forEach((h, i) => {
      const b = make("button", h.textContent, { type: "button" });
      b.onclick = () => {
        const down = h.ariaSort === "ascending";
        all("th", h.parentElement).forEach((o) => { o.ariaSort = null; });
        h.ariaSort = down ? "descending" : "ascending";
        sort(t, i, down);
      };
      h.replaceChildren(b);
    });
  });

  // One of several tables at a time: by candidate and K.
  all(".variants").forEach((box) => {
    const options = all(".variant", box);
    const keys = options.map((o) => o.dataset.labels.split("\n"));
    const main = keys[options.findIndex((o) => o.classList.contains("main"))];
    const bar = make("div", "", { className: "bar" });
    const picks = box.dataset.axes.split("\n").map((axis, i) => {
      const pick = make("select");
      [...new Set(keys.map((k) => k[i]))].forEach((v) => pick.add(new Option(v, v, false, v === main[i])));
      const label = make("label", axis + " ");
      pick.ariaLabel = axis;
      label.append(pick);
      if (pick.length > 1) bar.append(label);
      pick.onchange = show;
      return pick;
    });
    function show() {
      options.forEach((o, j) => {
        o.hidden = !picks.every((p, i) => p.value === keys[j][i]);
        if (o.tagName === "DETAILS") o.open = true;
      });
    }
    box.prepend(bar);
    box.classList.add("live");
    show();
  });

  // What a mark or a term means, on hover and on focus.
  const tip = make("div", "", { id: "tip", hidden: true, role: "tooltip" });
  document.body.append(tip);
  const text = (e) => {
    if (e.dataset.tip) return e.dataset.tip;
    const d = document.getElementById(e.hash.slice(1));
    return d ? all("dd", d).slice(0, 2).map((x) => x.textContent).join(" ") : "";
  };
  let of = null;
  const hide = () => { tip.hidden = true; };
  const on = (event) => {
    of = event.target.closest && event.target.closest("[data-tip], a.term");
    if (!of) return hide();
    tip.textContent = text(of);
    tip.hidden = false;
    place();
  };
  const place = () => {
    const r = of.getBoundingClientRect();
    tip.style.left = Math.max(8, Math.min(r.left, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = (r.top > tip.offsetHeight + 12 ? r.top - tip.offsetHeight - 6 : r.bottom + 6) + "px";
  };
  addEventListener("mouseover", on);
  addEventListener("focusin", on);
  addEventListener("scroll", () => (of && of === document.activeElement ? place() : hide()), true);
  addEventListener("keydown", (e) => { if (e.key === "Escape") hide(); });

  addEventListener("hashchange", reveal);
  reveal();
})();
