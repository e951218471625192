"use strict";
(function () {
  const root = document.documentElement;

  // Theme: the system's choice until the reader makes one.
  const toggle = document.getElementById("theme");
  toggle.hidden = false;
  toggle.addEventListener("click", function () {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // Sources of numbers: the title attribute serves readers without scripts, this one also serves touch and keyboard.
  const tip = document.getElementById("tip");
  document.querySelectorAll("td[title]").forEach(function (cell) {
    cell.dataset.tip = cell.title;
    cell.removeAttribute("title");
    cell.tabIndex = 0;
  });
  function show(cell) {
    tip.textContent = cell.dataset.tip;
    tip.style.display = "block";
    const box = cell.getBoundingClientRect();
    const left = Math.min(Math.max(8, box.left), innerWidth - tip.offsetWidth - 8);
    const below = box.bottom + 6;
    tip.style.left = left + "px";
    tip.style.top = (below + tip.offsetHeight > innerHeight ? box.top - tip.offsetHeight - 6 : below) + "px";
  }
  function hide() { tip.style.display = "none"; }
  ["mouseover", "focusin"].forEach(function (event) {
    document.addEventListener(event, function (e) {
      const cell = e.target.closest("[data-tip]");
      if (cell) { show(cell); } else { hide(); }
    });
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", hide, true);
  document.addEventListener("keydown", function (e) { if (e.key === "Escape") { hide(); } });

  // From a number to its artifacts: open the table of stages and mark those that the number names.
  document.addEventListener("click", function (e) {
    const cell = e.target.closest("[data-tip]");
    const stages = document.getElementById("stages");
    if (!cell || !stages || getSelection().toString() || !matchMedia("(hover: hover)").matches) { return; }
    const named = cell.dataset.tip.split(/[\s·|]+/).map(function (word) { return document.getElementById("stage-" + word); }).filter(Boolean);
    if (!named.length) { return; }
    stages.open = true;
    document.querySelectorAll("tr.marked").forEach(function (row) { row.classList.remove("marked"); });
    named.forEach(function (row) { row.classList.add("marked"); });
    hide();
    named[0].scrollIntoView({ block: "center" });
  });

  // Sorting: within each section of a table, below its heading and its summary; a third click restores the file's order.
  document.querySelectorAll("table.sortable").forEach(function (table) {
    const heads = Array.from(table.tHead.rows[0].cells);
    const bodies = Array.from(table.tBodies);
    const original = bodies.map(function (body) { return Array.from(body.rows); });
    heads.forEach(function (head, column) {
      const button = document.createElement("button");
      button.textContent = head.textContent;
      head.textContent = "";
      head.appendChild(button);
      button.addEventListener("click", function () {
        const next = { none: "descending", descending: "ascending", ascending: "none" }[head.getAttribute("aria-sort") || "none"];
        heads.forEach(function (other) { other.setAttribute("aria-sort", "none"); });
        head.setAttribute("aria-sort", next);
        bodies.forEach(function (body, index) {
          const rows = original[index].slice();
          const movable = rows.filter(function (row) { return !pinned(row); });
          const sign = next === "ascending" ? 1 : -1;
          if (next !== "none") {
            movable.sort(function (a, b) { return sign * compare(a.cells[column].dataset.value, b.cells[column].dataset.value); });
          }
          rows.filter(pinned).concat(movable)
            .forEach(function (row) { body.appendChild(row); });
        });
      });
    });
  });
  function pinned(row) { return row.classList.contains("section") || row.classList.contains("summary"); }
  function compare(a, b) {
    const empty = (a === undefined || a === "") - (b === undefined || b === "");
    if (empty) { return -empty; }
    const x = Number(a), y = Number(b);
    return Number.isNaN(x) || Number.isNaN(y) ? String(a).localeCompare(String(b)) : x - y;
  }

  // The navigation shows where the reader is.
  const links = new Map(Array.from(document.querySelectorAll("nav a")).map(function (a) { return [a.hash.slice(1), a]; }));
  const watch = new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) {
      if (entry.isIntersecting) {
        const link = links.get(entry.target.id);
        if (link) {
          links.forEach(function (a) { a.classList.remove("here"); });
          link.classList.add("here");
        }
      }
    });
  }, { rootMargin: "0px 0px -75% 0px" });
  document.querySelectorAll("main section").forEach(function (section) { watch.observe(section); });
})();
