// What the page shows is in its address: #/ is the list of sessions, #/session/ID one of them, #/session/ID/POINT
// one as of a point, #/session/ID//INDEX one with a message chosen.

import { file, Refused, takeToken } from "./api.js";
import { element, fill } from "./dom.js";
import { showSession } from "./session.js";
import { showSessions } from "./sessions.js";
import { shown } from "./text.js";
import { ask } from "./token.js";

const main = document.getElementById("main");
const where = document.getElementById("where");
let leaving = new AbortController();

async function show() {
  takeToken();
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const [, kind, id, at, index] = location.hash.split("/");
  const session = kind === "session" && id ? decoded(id) : undefined;
  document.title = session ? `${shown(session)} · compactord` : "compactord";
  where.textContent = session ? shown(session) : "Sessions";
  try {
    await (session ? showSession(main, session, { point: numberOf(at), index: numberOf(index) }, signal) : showSessions(main, signal));
  } catch (error) {
    if (signal.aborted) {
      return;
    }
    if (error instanceof Refused) {
      ask(main, shown(error.message), show);
    } else {
      fill(main, element("p", { role: "alert" }, shown(error.message)));
    }
  }
}

function numberOf(text) {
  return /^\d{1,10}$/.test(text ?? "") ? Number(text) : undefined;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

if (file) {
  main.before(element("section", { class: "file", "aria-label": "This file" }, ...file.map((text) => element("p", {}, shown(text)))));
}
// The address says what is shown, so skipping to it must not change it.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("hashchange", show);
show();
