// The arena: two editors over one text, saved while the candidate types, handed in on request.
"use strict";

const SAVE_AFTER = 800; // ms without a key
const TRY_AGAIN_AFTER = 3000;

const bench = document.getElementById("bench");
const plain = document.getElementById("plain");
const language = document.getElementById("language");
const submit = document.getElementById("submit");
const told = document.getElementById("told");
const { session, nonce } = bench.dataset;
const dark = window.matchMedia("(prefers-color-scheme: dark)");

let edits = 0; // what was done to the text so far
let kept = 0; // how much of it the service has
let waiting = null; // the timer of the next save
let underWay = null; // the request that carries the text now: one at a time, so none overtakes

// ---- the two environments -------------------------------------------------------------------

const full = window.ace ? openFullEditor() : null; // null: not installed, and cannot be chosen

function openFullEditor() {
  const dom = ace.require("ace/lib/dom");
  const create = dom.createElement;
  // The page allows only styles that carry its nonce.
  dom.createElement = (tag, namespace) => {
    const made = create(tag, namespace);
    if (tag === "style") made.nonce = nonce;
    return made;
  };
  ace.config.set("basePath", "/editor");
  ace.config.set("useStrictCSP", false);
  const editor = ace.edit("full", {
    useWorker: false,
    fontSize: 15,
    showPrintMargin: false,
    enableBasicAutocompletion: true,
    enableLiveAutocompletion: true,
    scrollPastEnd: 0.3,
  });
  const field = editor.textInput.getElement();
  field.setAttribute("aria-label", "Your solution, in the full editor");
  editor.renderer.setScrollMargin(8, 8);
  editor.commands.addCommand({
    name: "leave",
    bindKey: "Esc",
    exec: () => submit.focus(),
  });
  editor.on("change", changed);
  return editor;
}

function environment() {
  return document.querySelector("[name=environment]:checked").value;
}

function written() {
  return environment() === "full" ? full.getValue() : plain.value;
}

function show(chosen, text) {
  document.getElementById("full").hidden = chosen !== "full";
  document.getElementById("lightweight").hidden = chosen === "full";
  if (chosen === "full") {
    full.setValue(text, -1);
    full.resize(true);
  } else {
    plain.value = text;
  }
}

function dress() {
  if (!full) return;
  full.session.setMode("ace/mode/" + language.value);
  full.setTheme(dark.matches ? "ace/theme/tomorrow_night_bright" : "ace/theme/textmate");
}

for (const choice of document.querySelectorAll("[name=environment]")) {
  choice.addEventListener("change", () => {
    // The choice has changed already: the text is in the editor that is being left.
    show(choice.value, choice.value === "full" ? plain.value : full.getValue());
    changed();
  });
}
language.addEventListener("change", () => {
  dress();
  changed();
});
dark.addEventListener("change", dress);
plain.addEventListener("input", changed);

// ---- saving and handing in ------------------------------------------------------------------

function tell(text, wrong = false) {
  told.textContent = text;
  told.classList.toggle("wrong", wrong);
}

function now() {
  return new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

function send(where, keepalive = false) {
  const body = { environment: environment(), language: language.value, code: written() };
  return fetch("/embedded/" + where, {
    method: "POST",
    headers: { "content-type": "application/json", "x-session": session },
    body: JSON.stringify(body),
    keepalive,
  });
}

function changed() {
  edits += 1;
  saveAfter(SAVE_AFTER);
}

function saveAfter(wait) {
  clearTimeout(waiting);
  waiting = setTimeout(save, wait);
}

// Answers whether the service took the text; `refused` says what it did not take, and why.
async function carry(where, refused) {
  const carried = edits;
  clearTimeout(waiting);
  underWay = send(where).then(
    (answer) => (answer.ok ? null : whyNot(answer)),
    () => ({ why: "the service does not answer", again: true }),
  );
  const failed = await underWay;
  underWay = null;
  if (!failed) kept = carried;
  else refused(failed);
  if (failed?.again) saveAfter(TRY_AGAIN_AFTER);
  else if (edits !== carried) saveAfter(SAVE_AFTER);
  return !failed;
}

async function whyNot(answer) {
  if (answer.status === 401) {
    return { why: "this login has ended. Copy your text, then open your link again" };
  }
  if (answer.status >= 500) return { why: "the service is in trouble", again: true };
  const { error } = await answer.json().catch(() => ({ error: "the service refused it" }));
  return { why: error };
}

async function save() {
  if (underWay || kept === edits) return; // whoever is under way sees to what came after it
  const saved = await carry("draft", ({ why, again }) =>
    tell("Not saved: " + why + "." + (again ? " Trying again …" : ""), true),
  );
  if (saved) tell("Saved at " + now() + (owed ? ", but not submitted: please submit again." : "."), owed);
}

let handingIn = false;
let owed = false; // the last try to submit came to nothing

async function handIn() {
  if (handingIn) return;
  handingIn = true;
  tell("Submitting …");
  while (underWay) await underWay;
  const submitted = await carry("submissions", ({ why, again }) =>
    tell("Not submitted: " + why + "." + (again ? " Please submit again." : ""), true),
  );
  if (submitted) tell("Submitted at " + now() + ". You may continue and submit again.");
  owed = !submitted;
  handingIn = false;
}

submit.addEventListener("click", (click) => {
  if (click.detail < 2) handIn(); // a double click is one wish, however quick the first answer was
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) save(); // a phone may not come back to this page
});
window.addEventListener("pagehide", () => {
  if (kept !== edits) send("draft", true).catch(() => {}); // nobody is left to hear of it
});

// ---- what the frame's permissions allow (interface 4.7) -----------------------------------------

const root = document.documentElement;
const fullScreen = document.getElementById("full-screen");
fullScreen.hidden = !document.fullscreenEnabled;
fullScreen.addEventListener("click", () =>
  document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen(),
);
document.addEventListener("fullscreenchange", () => {
  fullScreen.textContent = document.fullscreenElement ? "Leave full screen" : "Full screen";
});

const copy = document.getElementById("copy");
const paste = document.getElementById("paste");
copy.hidden = paste.hidden = !navigator.clipboard;
copy.addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(written());
    tell("Copied.");
  } catch {
    tell("This page is not allowed to write to the clipboard. Select the text and copy it.", true);
  }
});
paste.addEventListener("click", async () => {
  try {
    insert(await navigator.clipboard.readText());
  } catch {
    tell("This page is not allowed to read the clipboard. Paste with the keyboard.", true);
  }
});

function insert(text) {
  if (environment() === "full") {
    full.insert(text);
    full.focus();
  } else {
    plain.setRangeText(text, plain.selectionStart, plain.selectionEnd, "end");
    plain.focus();
    changed();
  }
}

// The key is where it is on every keyboard; what is printed on it differs from layout to layout.
navigator.keyboard?.getLayoutMap?.().then(
  (keys) => {
    const printed = keys.get("Slash");
    if (printed) document.getElementById("comment-key").textContent = printed;
  },
  () => {}, // not allowed here: the usual name stays
);

document.addEventListener(
  "keydown",
  (pressed) => {
    if (!pressed.ctrlKey && !pressed.metaKey) return;
    if (pressed.key === "Enter") {
      handIn();
    } else if (pressed.code === "Slash" && environment() === "full") {
      full.toggleCommentLines();
    } else {
      return;
    }
    pressed.preventDefault();
    pressed.stopPropagation();
  },
  true,
);

dress();
show(environment(), plain.value);
clearTimeout(waiting); // it is as it came
kept = edits;
if (plain.value !== plain.defaultValue) changed(); // but for what was typed while this was loading
submit.disabled = false;
