// Adjust htmx requests and history entries: the URL holds the state of a page.

// Whether a request was triggered by selecting an agent for comparison.
export function isSelection(trigger) {
  return Boolean(trigger?.target?.closest?.(".compare-checkbox"));
}

function isDefault(name, value, form) {
  if (value === "") return true;
  return name === "sort" && form.querySelector("[name=sort] option:checked:first-child");
}

document.addEventListener("htmx:configRequest", (event) => {
  const { parameters, triggeringEvent, elt } = event.detail;
  // Selecting an agent keeps the current page of the list.
  if (isSelection(triggeringEvent)) {
    parameters.page = new URLSearchParams(location.search).get("page") || "";
  }
  for (const [name, value] of Object.entries(parameters)) {
    if (isDefault(name, value, elt)) delete parameters[name];
  }
});

// Repeating the same search adds no second entry to the history.
document.addEventListener("htmx:beforeHistoryUpdate", (event) => {
  const update = event.detail.history;
  const url = new URL(update.path, location.href);
  if (url.href === location.href) update.type = "replace";
});
