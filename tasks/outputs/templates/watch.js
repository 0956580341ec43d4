"use strict";
// The login opens from inside the frame, where this page cannot look. It can tell that somebody is
// in the frame and that no other window came to the front.
const frame = document.querySelector("iframe");
const blocked = document.getElementById("blocked");
document.getElementById("folder").hidden = location.protocol !== "file:";
let watch = null;
addEventListener("blur", () => {
  if (watch !== null || document.activeElement !== frame) return;
  const since = performance.now();
  watch = setInterval(() => {
    const opened = !document.hasFocus() || document.hidden;
    blocked.hidden = opened || performance.now() - since < 2000;
    if (opened) clearInterval(watch);
  }, 200);
});
