// Status badges, and the health section of an agent's page, follow state changes.
import { subscribe } from "./live_socket.js";

function updateBadges(entryId, html) {
  for (const badge of document.querySelectorAll(`[data-entry="${entryId}"]`)) {
    badge.innerHTML = html;
  }
}

// Fetch the current page again and copy its badges and health section.
async function refreshPage() {
  const response = await fetch(location.href);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const badge of page.querySelectorAll("[data-entry]")) {
    updateBadges(badge.dataset.entry, badge.innerHTML);
  }
  for (const section of page.querySelectorAll("[data-health-of]")) {
    document.getElementById(section.id).innerHTML = section.innerHTML;
  }
}

function handleEvent(event) {
  if (event.type !== "state_changed") return;
  updateBadges(event.entry_id, event.badge);
  if (document.querySelector(`[data-health-of="${event.entry_id}"]`)) refreshPage();
}

if (document.querySelector("[data-live-status]")) {
  subscribe("/ws/catalog", handleEvent, refreshPage);
}
