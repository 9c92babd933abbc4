// Keyboard shortcuts: "/" focuses the search box, arrow keys move between groups.

function focusSearchBox(event) {
  const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
  const searchBox = document.getElementById("q");
  if (event.key !== "/" || isTyping || !searchBox) return;
  event.preventDefault();
  searchBox.focus();
  searchBox.select();
}

function focusAdjacentGroup(event) {
  const summary = event.target.closest(".group summary");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!summary || !step) return;
  const summaries = [...document.querySelectorAll(".group summary")];
  const adjacent = summaries[summaries.indexOf(summary) + step];
  if (!adjacent) return;
  event.preventDefault();
  adjacent.focus();
}

document.addEventListener("keydown", focusSearchBox);
document.addEventListener("keydown", focusAdjacentGroup);
