"use strict";
// A click copies the markup of one frame, for a page of your own.
addEventListener("click", async ({ target }) => {
  if (!target.dataset.copy) return;
  try {
    await navigator.clipboard.writeText(target.dataset.copy);
    target.textContent = "copied";
  } catch {
    prompt("Copy this:", target.dataset.copy);
  }
});
