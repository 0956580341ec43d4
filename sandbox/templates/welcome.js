// Opens the login in a pop-up, waits for its one-time code, and takes the candidate to the arena.
"use strict";

const form = document.getElementById("way-in");
const button = document.getElementById("log-in");
const told = document.getElementById("told");
let login = null;

button.addEventListener("click", () => {
  const { projectId, candidateId, key } = form.elements;
  const given = { projectId: projectId.value, candidateId: candidateId.value, key: key.value };
  const address = "/embedded/login?" + new URLSearchParams(given);
  login = window.open(address, "assessment-login", "popup,width=480,height=600");
  told.textContent = login
    ? "Log in in the other window. If it was closed, choose “Log in” again."
    : "Your browser blocked the window. Allow pop-ups for this page, then choose “Log in” again.";
});

// Whoever embeds this page can send it messages too: only our own pop-up, from our origin, counts.
window.addEventListener("message", (message) => {
  if (message.origin !== window.location.origin || !login || message.source !== login) return;
  if (message.data?.key !== form.elements.key.value) return;
  login.close();
  form.elements.code.value = message.data.code;
  form.submit();
});

button.disabled = false; // from here on it does something
