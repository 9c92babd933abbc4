// The providers of a capability: their part of the page is loaded again on changes.
import { subscribe } from "./live_socket.js";

const RELOAD_DELAY = 1_000;
const POLL_INTERVAL = 10_000;

function watchRegistry(registry) {
  let timer = null;

  function reload() {
    timer = null;
    // Read here: the search may have changed since the page was loaded.
    const target = registry.querySelector("#results") || registry;
    const url = location.pathname + location.search;
    window.htmx.ajax("GET", url, { source: registry, target });
  }

  // Many events within a moment cause one reload.
  function scheduleReload() {
    timer ??= setTimeout(reload, RELOAD_DELAY);
  }

  registry.addEventListener("reload", reload);
  subscribe("/ws/capabilities" + registry.dataset.registryQuery, scheduleReload, scheduleReload);
  // Request metrics have no events, so a visible page polls for them.
  setInterval(() => document.hidden || scheduleReload(), POLL_INTERVAL);
}

const registry = document.querySelector("[data-registry-query]");
if (registry) watchRegistry(registry);
