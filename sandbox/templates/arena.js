// The arena: two editors over one text, which is saved while the candidate types.
"use strict";

const find = (id) => document.getElementById(id);
const [bench, plain, language, submit, told] = ["bench", "plain", "language", "submit", "told"].map(find);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
let timer = null;
let underWay = Promise.resolve(); // one request carries the text at a time, so none overtakes

ace.config.set("basePath", "/editor");
const full = ace.edit("full", { useWorker: false, fontSize: 15, showPrintMargin: false });
full.textInput.getElement().setAttribute("aria-label", "Your solution, in the full editor");
full.commands.addCommand({ name: "leave", bindKey: "Esc", exec: () => submit.focus() });

const environment = () => document.querySelector("[name=environment]:checked").value;
const written = () => (environment() === "full" ? full.getValue() : plain.value);
const tell = (text) => (told.textContent = text);

function show(chosen, text) {
  find("full").hidden = chosen !== "full";
  plain.hidden = chosen === "full";
  if (chosen === "full") {
    full.setValue(text, -1);
    full.resize(true);
  } else {
    plain.value = text;
  }
}

function dress() {
  full.session.setMode("ace/mode/" + language.value);
  full.setTheme(dark.matches ? "ace/theme/tomorrow_night" : "ace/theme/textmate");
}

async function send(handIn, keepalive = false) {
  const body = { environment: environment(), language: language.value, code: written() };
  const address = "/embedded/solution?session=" + bench.dataset.session;
  const form = new URLSearchParams({ ...body, submit: handIn ? "yes" : "no" });
  const answer = await fetch(address, { method: "POST", body: form, keepalive });
  if (!answer.ok) throw new Error(answer.status);
}

function save(handIn) {
  clearTimeout(timer);
  timer = null;
  underWay = underWay.then(() => send(handIn)).then(
    () => tell(handIn ? "Submitted. You may go on and submit again." : "Saved."),
    (error) => {
      if (error.message === "401") return tell("This login has ended. Copy your text, then open your link again.");
      tell(handIn ? "Not submitted. Please submit again." : "Not saved. Trying again …");
      if (!handIn) timer ??= setTimeout(save, 3000, false);
    },
  );
}

function changed() {
  clearTimeout(timer);
  timer = setTimeout(save, 800, false);
}

for (const choice of document.querySelectorAll("[name=environment]")) {
  choice.addEventListener("change", () => {
    // The choice has changed already: the text is in the editor that is being left.
    show(choice.value, choice.value === "full" ? plain.value : full.getValue());
    changed();
  });
}
language.addEventListener("change", () => (dress(), changed()));
dark.addEventListener("change", dress);
plain.addEventListener("input", changed);
submit.addEventListener("click", () => (tell("Submitting …"), save(true)));
window.addEventListener("pagehide", () => timer && send(false, true).catch(() => {}));

// What the frame's permissions allow (interface 4.7).
find("full-screen").hidden = !document.fullscreenEnabled;
find("full-screen").addEventListener("click", () =>
  document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen(),
);
find("copy").addEventListener("click", () =>
  navigator.clipboard.writeText(written()).then(() => tell("Copied."), () => tell("This page may not copy.")),
);
find("paste").addEventListener("click", () =>
  navigator.clipboard.readText().then(
    (text) => (environment() === "full" ? full.insert(text) : plain.setRangeText(text), changed()),
    () => tell("This page may not paste. Use the keyboard."),
  ),
);

dress();
show(environment(), plain.value);
full.on("change", changed);
submit.disabled = false;
