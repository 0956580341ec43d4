// Hands the one-time code to the page that opened this window, if that page is of our own origin.
"use strict";

const { code, state } = document.getElementById("hand-over").dataset;
if (window.opener) {
  // The opener closes this window: a message from a window that is gone has no sender.
  window.opener.postMessage({ code, state }, window.location.origin);
}
