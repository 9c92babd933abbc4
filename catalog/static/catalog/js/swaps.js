// Keep open groups, focus and scroll position when htmx replaces a part of the page.
import { isSelection } from "./requests.js";

const requestTimes = new WeakMap();
let openIds = [];
let focusedId = "";
let scrollTop = 0;
let lastInputAt = 0;

document.addEventListener("input", (event) => {
  if (event.target.closest("form.live-search")) lastInputAt = performance.now();
});

document.addEventListener("htmx:beforeRequest", (event) => {
  requestTimes.set(event.detail.xhr, performance.now());
  // Read before the loading state hides the results, which drops the focus.
  focusedId = document.activeElement.id;
  // The list stays visible during selections and background updates.
  const trigger = event.detail.requestConfig.triggeringEvent;
  event.detail.target.classList.toggle("no-skeleton", !trigger || isSelection(trigger));
});

document.addEventListener("htmx:beforeSwap", (event) => {
  // Ignore an outdated response: the request for the latest input follows.
  if (requestTimes.get(event.detail.xhr) < lastInputAt) event.detail.shouldSwap = false;
  const open = document.querySelectorAll("details[id][open]");
  openIds = [...open].map((details) => details.id);
  scrollTop = scrollY;
});

document.addEventListener("htmx:afterSwap", () => {
  for (const id of openIds) {
    const details = document.getElementById(id);
    if (details) details.open = true;
  }
  // Groups arrive closed, so the page is shorter for a moment and browsers scroll up.
  scrollTo(0, scrollTop);
});

document.addEventListener("htmx:afterSettle", (event) => {
  const trigger = event.detail.requestConfig?.triggeringEvent;
  if (trigger?.submitter?.name === "page") scrollTo(0, 0);
  const element = focusedId && document.getElementById(focusedId);
  if (element && document.activeElement === document.body) {
    element.focus({ preventScroll: true });
  }
});
