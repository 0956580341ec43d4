// Opens the login in a pop-up, waits for its one-time code, and takes the candidate to the arena.
"use strict";

const wayIn = document.getElementById("way-in");
const button = document.getElementById("log-in");
const waiting = document.getElementById("waiting");
const blocked = document.getElementById("blocked");
let login = null;
let watch = null;

function loginAddress() {
  const { projectId, candidateId, state } = wayIn.elements;
  const given = { projectId: projectId.value, candidateId: candidateId.value, state: state.value };
  return "/embedded/login?" + new URLSearchParams(given);
}

function tell(text) {
  waiting.textContent = text;
}

button.addEventListener("click", () => {
  login = window.open(loginAddress(), "assessment-login", "popup,width=480,height=640");
  blocked.hidden = Boolean(login);
  tell(login ? "Waiting for you to log in in the other window …" : "");
  clearInterval(watch);
  if (login) watch = setInterval(noticeClosed, 500);
});

function noticeClosed() {
  if (!login.closed) return;
  clearInterval(watch);
  tell("The login window was closed. Choose “Log in” to open it again.");
}

// Whoever embeds this page can send it messages too: only our own login, from our origin, counts.
function isOurLogin(message) {
  return (
    message.origin === window.location.origin &&
    login !== null &&
    message.source === login &&
    message.data?.state === wayIn.elements.state.value
  );
}

window.addEventListener("message", (message) => {
  if (!isOurLogin(message) || typeof message.data.code !== "string") return;
  clearInterval(watch);
  login.close();
  tell("Logged in. Opening the arena …");
  wayIn.elements.code.value = message.data.code;
  wayIn.submit();
});

button.disabled = false; // from here on it does something
