// Copy buttons. Browsers offer the clipboard in secure contexts only.

if (navigator.clipboard) document.documentElement.classList.add("can-copy");

document.addEventListener("click", async (event) => {
  const button = event.target.closest(".copy");
  if (!button) return;
  const text = button.parentElement.querySelector("pre").textContent;
  await navigator.clipboard.writeText(text);
  button.querySelector(".label").textContent = "Copied";
});
