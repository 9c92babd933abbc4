// What plain links and forms cannot do; every page works without it.
"use strict";

// Browsers lend their clipboard to secure places only.
if (navigator.clipboard) document.documentElement.classList.add("can-copy");

// A search box within reach of one key.
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  const box = document.getElementById("q");
  if (event.key === "/" && !typing && box) {
    event.preventDefault();
    box.focus();
    box.select();
  }
});

// Arrow keys walk the groups; Enter opens them, as browsers do by themselves.
document.addEventListener("keydown", (event) => {
  const summary = event.target.closest(".group summary");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!summary || !step) return;
  const all = [...document.querySelectorAll(".group summary")];
  const next = all[all.indexOf(summary) + step];
  if (next) {
    event.preventDefault();
    next.focus();
  }
});

// The URL is the state: what says nothing is not in it.
document.addEventListener("htmx:configRequest", (event) => {
  const parameters = event.detail.parameters;
  for (const [name, value] of Object.entries(parameters)) {
    if (value === "" || (name === "sort" && event.detail.elt.querySelector("[name=sort] option:checked:first-child"))) {
      delete parameters[name];
    }
  }
});

// Groups that are open stay open when more of the list arrives.
let open = new Set();
document.addEventListener("htmx:beforeSwap", () => {
  open = new Set([...document.querySelectorAll(".group[open]")].map((group) => group.id));
});
document.addEventListener("htmx:afterSwap", () => {
  for (const id of open) {
    const group = document.getElementById(id);
    if (group) group.open = true;
  }
});

// The same question asked twice is one step back, not two.
document.addEventListener("htmx:beforeHistoryUpdate", (event) => {
  const update = event.detail.history;
  const place = new URL(update.path, location.href);
  if (place.href === location.href) update.type = "replace";
});

// Something went wrong on the way: say so, and offer to try again.
let failed = null;
function tell(element) {
  failed = element;
  for (const notice of document.querySelectorAll(".failed")) {
    notice.classList.toggle("shown", failed !== null);
  }
}
document.addEventListener("htmx:beforeRequest", () => tell(null));
for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(name, (event) => tell(event.detail.elt));
}
document.addEventListener("htmx:historyCacheMissLoadError", () => location.reload());
document.addEventListener("click", (event) => {
  if (failed && event.target.closest(".retry")) {
    window.htmx.trigger(failed, failed.matches("form") ? "submit" : "click");
  }
  const copy = event.target.closest(".copy");
  if (copy) {
    const text = copy.parentElement.querySelector("pre").textContent;
    navigator.clipboard.writeText(text).then(() => {
      copy.querySelector(".word").textContent = "Copied";
    });
  }
});
