// The sessions that a session comes from, and those that are below it.

import { call } from "./api.js";
import { element, fill } from "./dom.js";
import { count, counted, line, shown } from "./text.js";

// addressOf returns the address of a session in this page, as of a point, or with a message chosen.
export function addressOf(id, { point, index } = {}) {
  const rest = index !== undefined ? `//${index}` : point !== undefined ? `/${point}` : "";
  return `#/session/${encodeURIComponent(id)}${rest}`;
}

// familyOf returns what says where a session comes from and what is below it, or nothing.
export function familyOf(session, signal) {
  const parts = [];
  if (session.forkedFrom && !session.parent) {
    parts.push(origin("Forked from", session.forkedFrom));
  }
  if (session.parent) {
    parts.push(origin("A child of", session.parent));
  }
  if (session.children > 0) {
    parts.push(childrenOf(session, signal));
  }
  return parts;
}

function origin(verb, { sessionId, point = 0 }) {
  return element("p", {}, `${verb} `, element("a", { href: addressOf(sessionId) }, shown(sessionId)), " at ",
    element("a", { href: addressOf(sessionId, { point }) }, `point ${count(point)}`));
}

function childrenOf(session, signal) {
  const list = element("ul", { class: "children" });
  const said = element("p", { role: "status" });
  let pageToken = "";
  const more = element("button", { hidden: true, onclick: load }, "More children");

  async function load() {
    more.hidden = true;
    try {
      const answer = await call("SessionService/ListSessions", { parentSessionId: session.sessionId, pageToken }, signal);
      list.append(...(answer.sessions ?? []).map((child) => element("li", {},
        element("a", { href: addressOf(child.sessionId) }, shown(child.sessionId)),
        ` ${counted(child.nextIndex ?? 0, "message")}${child.ended ? ", ended" : ""}`,
        child.title ? element("span", { class: "title" }, line(child.title, 100)) : undefined)));
      pageToken = answer.nextPageToken ?? "";
      more.hidden = pageToken === "";
    } catch (error) {
      if (!signal.aborted) {
        said.textContent = shown(error.message);
        more.hidden = false;
      }
    }
  }

  return element("details", { class: "panel", ontoggle: (event) => { if (event.target.open && !list.firstChild) { fill(said); load(); } } },
    element("summary", {}, counted(session.children, "child", "children")), said, list, more);
}
