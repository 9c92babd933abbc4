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

// Whether a request was made because somebody ticked an agent to compare it.
function ticked(cause) {
  return Boolean(cause && cause.target.closest && cause.target.closest(".choose"));
}

// The URL is the state: what says nothing is not in it.
document.addEventListener("htmx:configRequest", (event) => {
  const parameters = event.detail.parameters;
  // Who ticks an agent stays on its page of the list.
  if (ticked(event.detail.triggeringEvent)) {
    parameters.page = new URLSearchParams(location.search).get("page") || "";
  }
  for (const [name, value] of Object.entries(parameters)) {
    if (value === "" || (name === "sort" && event.detail.elt.querySelector("[name=sort] option:checked:first-child"))) {
      delete parameters[name];
    }
  }
});

// What is open stays open when another list arrives, and so does the focus inside.
let open = new Set();
let focused = "";
let scrolled = 0;
let changed = 0;
document.addEventListener("input", (event) => {
  if (event.target.closest("form.live")) changed = performance.now();
});
document.addEventListener("htmx:beforeRequest", (event) => {
  event.detail.xhr.begun = performance.now();
  // Before what waits takes its place, and the focus away.
  focused = document.activeElement.id;
  // Who ticks an agent still wants to see the list, and so does who asked for nothing.
  const cause = event.detail.requestConfig.triggeringEvent;
  event.detail.target.classList.toggle("quiet", !cause || ticked(cause));
});
document.addEventListener("htmx:beforeSwap", (event) => {
  // An answer to an older question does not undo what was typed or ticked since: what
  // was is asked for in a moment.
  if (event.detail.xhr.begun < changed) event.detail.shouldSwap = false;
  open = new Set([...document.querySelectorAll("details[id][open]")].map((part) => part.id));
  scrolled = scrollY;
});
document.addEventListener("htmx:afterSwap", () => {
  for (const id of open) {
    const part = document.getElementById(id);
    if (part) part.open = true;
  }
  // A list whose groups come closed is shorter for a moment, and browsers move up.
  scrollTo(0, scrolled);
});
document.addEventListener("htmx:afterSettle", (event) => {
  // Another page begins at its top.
  const cause = event.detail.requestConfig && event.detail.requestConfig.triggeringEvent;
  if (cause && cause.submitter && cause.submitter.name === "page") scrollTo(0, 0);
  const place = focused && document.getElementById(focused);
  if (place && document.activeElement === document.body) place.focus({ preventScroll: true });
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

// What is told on a socket while a page is open, for as long as it is.
function follow(place, hear, catchUp, pause = 1_000) {
  const socket = new WebSocket(location.origin.replace("http", "ws") + place);
  let next = Math.min(pause * 2, 60_000);
  socket.addEventListener("open", () => {
    if (pause > 1_000) catchUp();
    next = 1_000;
  });
  socket.addEventListener("message", (message) => hear(JSON.parse(message.data)));
  socket.addEventListener("close", (event) => {
    // Whoever may not listen need not ask again.
    if (event.code === 4401 || event.code === 4403) return;
    setTimeout(follow, next, place, hear, catchUp, Math.max(next, 1_001));
  });
}

// How agents are changes: their badges follow.
function badges(id, badge) {
  for (const place of document.querySelectorAll(`[data-entry="${id}"]`)) {
    place.innerHTML = badge;
  }
}
async function lookAgain() {
  const answer = await fetch(location.href);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const place of page.querySelectorAll("[data-entry]")) {
    badges(place.dataset.entry, place.innerHTML);
  }
  for (const part of page.querySelectorAll("[data-follows]")) {
    document.getElementById(part.id).innerHTML = part.innerHTML;
  }
}
if (document.querySelector("[data-live]")) {
  const hear = (told) => {
    if (told.type !== "state_changed") return;
    badges(told.entry_id, told.badge);
    if (document.querySelector(`[data-follows="${told.entry_id}"]`)) lookAgain();
  };
  follow("/ws/catalog", hear, lookAgain);
}

// So do the providers of a capability: their part of the page is fetched again.
const registry = document.querySelector("[data-registry]");
if (registry) {
  let soon = null;
  const show = () => {
    soon = null;
    // As the page is asked now, which may be another question than when it came.
    const target = registry.querySelector("#results") || registry;
    window.htmx.ajax("GET", location.pathname + location.search, { source: registry, target });
  };
  // Where much happens it is enough to look now and then.
  const hear = () => (soon ??= setTimeout(show, 1_000));
  follow("/ws/capabilities" + registry.dataset.registry, hear, hear);
  // Of requests and how they went nobody is told: look again while somebody looks.
  setInterval(() => document.hidden || hear(), 10_000);
}
