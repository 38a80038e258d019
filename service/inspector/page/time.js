// The points of a session, the newest first: its records, and the messages between them.

import { call } from "./api.js";
import { curveOf } from "./curve.js";
import { element, fill } from "./dom.js";
import { addressOf } from "./family.js";
import { capital, count, counted, joined, line, shown, time, words } from "./text.js";

const pageSize = 100;

// timePanel returns a part of the page that lists the points, and at them the forks that are known. at() is the point of the view that is shown, or nothing
// for the newest view; goTo is called with a point that is chosen, and compare with one whose record is to be looked at;
// report() is the newest report. Call mark when the point has changed, and grew when the session has.
export function timePanel(session, forks, { at, goTo, compare, report }, signal) {
  const curve = curveOf(session, report, goTo, signal);
  let next = "";
  let asked = 0;
  let after;
  const said = element("p", { role: "status" });
  const list = element("ol", { class: "hits", "aria-label": "Points" });
  const more = element("button", { hidden: true, onclick: () => load(false) }, "Earlier points");

  // grew lists the points anew.
  function grew() {
    if (root.open) {
      begin();
    } else {
      asked = 0;
    }
  }

  function begin() {
    next = "";
    // What follows the records that are loaded: the end of the log, then the oldest of them.
    after = { sequence: (session.point ?? 0) + 1, nextIndex: session.nextIndex ?? 0 };
    load(true);
    curve.load();
    forks?.begin().catch((error) => {
      if (!signal.aborted) {
        said.textContent = shown(error.message);
      }
    });
  }

  async function load(anew) {
    const mine = ++asked;
    more.hidden = true;
    said.textContent = "Loading …";
    try {
      const answer = await call("SessionService/ListRecords", {
        sessionId: session.sessionId, newestFirst: true, fromSequence: session.point ?? 0, pageSize, pageToken: next,
      }, signal);
      if (mine !== asked) {
        return;
      }
      const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute("data-point") : undefined;
      if (anew) {
        fill(list);
      }
      for (const record of answer.records ?? []) {
        add(appended(record, after), recordRow(record));
        after = record;
      }
      list.querySelector(`[data-point="${focused}"]`)?.focus();
      next = answer.nextPageToken ?? "";
      more.hidden = next === "";
      said.textContent = "The view as of a point is what the model would see just after it, under the policy of now.";
      placeForks();
      mark();
    } catch (error) {
      if (!signal.aborted && mine === asked) {
        said.textContent = shown(error.message);
        more.hidden = false;
      }
    }
  }

  function add(...rows) {
    list.append(...rows.filter((row) => row !== undefined));
  }

  // appended returns the row of the messages between a record and what follows it.
  function appended(record, following) {
    const from = record.nextIndex ?? 0;
    const end = following.nextIndex ?? 0;
    if (from === end) {
      return undefined;
    }
    const which = end === from + 1 ? `#${from}` : `#${from} to #${end - 1}`;
    return pointRow(following.sequence - 1, `${count(end - from)} ${end === from + 1 ? "message" : "messages"}`, which);
  }

  function recordRow(record) {
    const point = record.sequence ?? 0;
    const row = pointRow(point, ...described(record));
    if (changing.some((kind) => record[kind])) {
      row.append(element("button", { class: "small", onclick: () => compare(point) }, "What it changed",
        element("span", { class: "hidden" }, ` at point ${count(point)}`)));
    }
    return row;
  }

  function pointRow(point, title, facts, state) {
    return element("li", {}, element("button", { class: "hit", "data-point": point, onclick: () => goTo(point) },
      element("span", {}, title, ...[`point ${count(point)}`, state].filter(Boolean).map((text) => element("span", { class: "state" }, text))),
      " ", facts ? element("span", { class: "snippet note", dir: "auto" }, facts) : undefined));
  }

  // forkRows are the rows of sessions at whose point this one, or another one from this one, was forked.
  const forkRows = new Map();
  if (session.forkedFrom && !session.parent) {
    forkRows.set("", forkRow("Forked here from", session.forkedFrom.sessionId, session.forkedFrom.point));
  }
  forks?.watch(() => {
    for (const { uid, sessionId, forkedFrom } of forks.found) {
      if (!forkRows.has(uid)) {
        forkRows.set(uid, forkRow("Fork", sessionId, forkedFrom.point));
      }
    }
    placeForks();
    mark();
  });

  function forkRow(title, sessionId, point = 0) {
    const row = pointRow(point, title);
    row.append(element("a", { href: addressOf(sessionId) }, shown(sessionId)));
    return { row, point };
  }

  // placeForks puts these rows above those of earlier points, as far as these are loaded.
  function placeForks() {
    const pointOf = (row) => Number(row.firstChild.dataset.point);
    for (const { row, point } of forkRows.values()) {
      const earlier = [...list.children].find((other) => other !== row && pointOf(other) < point);
      if (earlier) {
        earlier.before(row);
      } else if (next === "" && list.firstChild) {
        list.append(row);
      }
    }
  }

  // mark shows which point the view is of.
  function mark() {
    const current = String(at() ?? session.point ?? 0);
    for (const button of list.querySelectorAll("[data-point]")) {
      button.setAttribute("aria-current", String(button.dataset.point === current));
    }
  }

  const root = element("details", { class: "panel", ontoggle: (event) => { if (event.target.open && asked === 0) begin(); } },
    element("summary", {}, "Time"), curve.root, said, list, more);
  return { root, mark, grew };
}

// The kinds of records that change views.
const changing = ["compaction", "prune", "revert", "pin", "unpin", "contextBlocks", "instructions"];

// described returns a title for a record, what else to say of it, and whether it was put aside.
function described(record) {
  const [title, facts] = kinds.find(([kind]) => record[kind])?.[1](record) ?? ["Another record", ""];
  return [title, [facts, time(record.createdAt, "medium")].filter(Boolean).join(" · "), record.putAside ? "put aside" : undefined];
}

/** @type {[string, (record: any) => string[]][]} */
const kinds = Object.entries({
  compaction: ({ compaction: c }) => ["Compaction", joined(fromTo(c), range("covers", c.covered), freed(c), made(c.provenance))],
  prune: ({ prune: p }) => ["Prune", joined(fromTo(p), counted(p.edits?.length ?? 0, "edit"), freed(p), made(p.provenance))],
  attempt: ({ attempt: a }) => [
    `${capital(words(a.outcome, "ATTEMPT_OUTCOME_"))} attempt`,
    joined(a.errorReason && words(a.errorReason, "ERROR_REASON_"), a.skipReason && words(a.skipReason, "SKIP_REASON_"),
      line(a.message ?? "", 500), made(a.provenance)),
  ],
  checkpoint: ({ checkpoint: c }) => [`Checkpoint ${c.id}`, line(c.title ?? "", 500)],
  revert: ({ revert: r }) => [`Revert to point ${count(r.point ?? 0)}`, `${counted(r.messagesPutAside ?? 0, "message")} put aside`],
  pin: ({ pin }) => ["Pin", counted(pin.members?.length ?? 0, "message")],
  unpin: ({ unpin }) => ["Unpin", counted(unpin.members?.length ?? 0, "message")],
  policyChange: () => ["Policy", ""],
  contextBlocks: ({ contextBlocks: b }) => ["Context blocks", joined(
    b.set && `set: ${line(b.set.map((block) => block.name).join(", "))}`, b.removed && `removed: ${line(b.removed.join(", "))}`,
  )],
  instructions: ({ instructions: i }) => ["Instructions", counted(i.messages?.length ?? 0, "message")],
  childEnd: ({ childEnd: c }) => ["End of the child", c.isError ? "failed" : ""],
});

function fromTo({ tokensBefore = 0, tokensAfter = 0 }) {
  return `${count(tokensBefore)} → ${count(tokensAfter)} tokens`;
}

function freed({ tokensBefore = 0, tokensAfter = 0 }) {
  return `${count(Math.max(0, tokensBefore - tokensAfter))} freed`;
}

function range(verb, { start = 0, end = 0 } = {}) {
  return end > start ? `${verb} #${start} to #${end - 1}` : "";
}

// made says why an entry or an attempt was made, and what that took.
function made(p = {}) {
  return joined(p.reason && words(p.reason, "COMPACTION_REASON_"), p.summarizer && `by ${line(p.summarizer, 80)}`,
    p.model && line(p.model, 80), p.duration && `${Number(p.duration.slice(0, -1)).toFixed(1)} s`,
    p.costUsd !== undefined && `${p.costUsd} USD`);
}
