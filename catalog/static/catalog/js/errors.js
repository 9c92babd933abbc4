// Failed requests: show the error notice and offer to try again.

let failedElement = null;

function setFailedElement(element) {
  failedElement = element;
  for (const notice of document.querySelectorAll(".load-error")) {
    notice.classList.toggle("is-visible", element !== null);
  }
}

document.addEventListener("htmx:beforeRequest", () => setFailedElement(null));
for (const name of ["htmx:responseError", "htmx:sendError"]) {
  document.addEventListener(name, (event) => setFailedElement(event.detail.elt));
}
document.addEventListener("htmx:historyCacheMissLoadError", () => location.reload());

// The event that makes an element send its request again.
function getRetryEvent(element) {
  if (element.matches("form")) return "submit";
  return element.matches("[data-registry-query]") ? "reload" : "click";
}

document.addEventListener("click", (event) => {
  if (!failedElement || !event.target.closest(".retry")) return;
  window.htmx.trigger(failedElement, getRetryEvent(failedElement));
});
