"use strict";
// Sorting: numbers as numbers, words as words, what is missing last in both orders.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const word = head.classList.contains("word");
    const value = row => row.cells[column].dataset.v;
    const compare = (a, b) => word ? a.localeCompare(b, "en", { numeric: true }) : Number(a) - Number(b) || 0;
    head.querySelector("button").addEventListener("click", () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      // From the original order, so that equal rows keep it.
      const rows = original.slice().sort((r, s) => {
        const a = value(r), b = value(s);
        if (a === "" || b === "") return (a === "") - (b === "");
        return sign * compare(a, b);
      });
      body.append(...rows);
      document.getElementById("sorted").textContent =
        table.caption.textContent + ": sorted by " + head.textContent + (sign > 0 ? ", ascending" : ", descending");
    });
  });
}
// The legend hides engines, in charts and tables.
for (const key of document.querySelectorAll(".key")) {
  key.addEventListener("click", () => {
    const on = key.getAttribute("aria-pressed") !== "true";
    key.setAttribute("aria-pressed", on);
    for (const part of document.querySelectorAll("figure .k" + key.dataset.k + ", tbody .k" + key.dataset.k)) part.classList.toggle("off", !on);
  });
}
