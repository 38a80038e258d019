// The sessions that a session comes from, those that were forked from it, and those that are below it.

import { call } from "./api.js";
import { element, fill } from "./dom.js";
import { count, counted, line, shown, time } from "./text.js";

// addressOf returns the address of a session in this page, as of a point, or with a message chosen.
/** @param {string} id @param {{ point?: number, index?: number }} [at] */
export function addressOf(id, { point, index } = {}) {
  const rest = index !== undefined ? `//${index}` : point !== undefined ? `/${point}` : "";
  return `#/session/${encodeURIComponent(id)}${rest}`;
}

// Forks are the sessions that were forked from a session. The daemon looks for them among all that were created since, in
// pages.
export class Forks {
  constructor(session, signal) {
    this.session = session;
    this.signal = signal;
    this.found = [];
    this.next = "";
    this.whole = false;
    this.watchers = [];
    this.begun = undefined;
  }

  // watch has arrived called now, and whenever there are more.
  watch(arrived) {
    this.watchers.push(arrived);
    arrived();
  }

  // begin looks for the first ones, unless that was done.
  begin() {
    this.begun ??= this.more();
    return this.begun;
  }

  // more looks for more of them.
  async more() {
    const answer = await call("SessionService/ListSessions", { forkedFromSessionId: this.session.sessionId, pageToken: this.next }, this.signal);
    this.found.push(...(answer.sessions ?? []));
    this.next = answer.nextPageToken ?? "";
    this.whole = this.next === "";
    for (const arrived of this.watchers) {
      arrived();
    }
  }
}

// familyOf returns what says where a session comes from, and the panels with what is below it and was forked from it. forks are
// not there where nobody can be asked.
export function familyOf(session, forks, signal) {
  const from = session.parent ? origin("A child of", session.parent) : session.forkedFrom ? origin("Forked from", session.forkedFrom) : undefined;
  return { from, panels: [
    ...(session.children > 0 ? [childrenOf(session, signal)] : []),
    ...(forks ? [forksOf(forks, signal)] : []),
  ] };
}

function origin(verb, { sessionId, point = 0 }) {
  return element("p", {}, `${verb} `, element("a", { href: addressOf(sessionId) }, shown(sessionId)), " at ",
    element("a", { href: addressOf(sessionId, { point }) }, `point ${count(point)}`));
}

// linkTo leads to a session, and says what else is known of it.
function linkTo(session, ...facts) {
  return element("li", {}, element("a", { href: addressOf(session.sessionId) }, shown(session.sessionId)), ...facts,
    session.title ? element("span", { class: "title" }, line(session.title, 100)) : undefined);
}

function forksOf(forks, signal) {
  const list = element("ul", { class: "children", "aria-label": "Forks" });
  const said = element("p", { role: "status" });
  const more = element("button", { hidden: true, onclick: () => look(() => forks.more()) }, "Look among older sessions");

  async function look(further) {
    more.hidden = true;
    said.textContent = "Looking for forks …";
    try {
      await further();
    } catch (error) {
      if (!signal.aborted) {
        said.textContent = shown(error.message);
        more.hidden = false;
      }
    }
  }

  forks.watch(() => {
    fill(list, ...forks.found.map((fork) => linkTo(fork, " from ",
      element("a", { href: addressOf(forks.session.sessionId, { point: fork.forkedFrom.point ?? 0 }) }, `point ${count(fork.forkedFrom.point ?? 0)}`),
      `, ${counted(fork.nextIndex ?? 0, "message")}, created ${time(fork.createdAt)}`)));
    said.textContent = `${counted(forks.found.length, "fork")}${forks.whole ? "" : " so far"}`;
    more.hidden = forks.whole;
  });
  return element("details", { class: "panel", ontoggle: (event) => { if (event.target.open) look(() => forks.begin()); } },
    element("summary", {}, "Forks"), said, list, more);
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
      list.append(...(answer.sessions ?? []).map((child) => linkTo(child,
        ` ${counted(child.nextIndex ?? 0, "message")}${child.ended ? ", ended" : ""}`)));
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
