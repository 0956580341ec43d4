// Hands the one-time code to the page that opened this window, if that page is of our own origin.
"use strict";
const { code, key } = document.getElementById("hand-over").dataset;
window.opener?.postMessage({ code, key }, window.location.origin);
