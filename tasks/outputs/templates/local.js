"use strict";
// The times of a report, by the clock of whoever reads it.
for (const each of document.querySelectorAll("time")) {
  each.textContent = new Date(each.dateTime).toLocaleString("sv");
}
document.getElementById("zone").textContent = Intl.DateTimeFormat().resolvedOptions().timeZone;
