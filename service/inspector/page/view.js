// The view of a session, now or as of a point, and what it has of each message of the log.

import { call } from "./api.js";
import { words } from "./text.js";

// The first page is small, so that it is there soon.
const firstBytes = 256 * 1024;

// View has the messages of a session's view as far as they are loaded, and where each message of the log stands in them.
// Without a point it is the newest view.
export class View {
  constructor(session, asOf) {
    this.session = session;
    this.asOf = asOf;
    this.tokens = 0;
    this.token = "";
    this.whole = false;
    this.then = undefined;
    this.clear(0);
  }

  // clear leaves only the messages before a place.
  clear(end) {
    const kept = (this.messages ?? []).slice(0, end);
    this.messages = [];
    this.places = new Map();
    this.folds = [];
    this.dropped = new Set([...this.dropped ?? []].filter((index) => kept.some((m) => m.index === index)));
    this.summary = undefined;
    this.add(kept);
  }

  add(messages) {
    for (const m of messages) {
      const place = this.messages.push(m) - 1;
      if (m.index !== undefined) {
        this.places.set(m.index, place);
      } else if (m.summaryOf !== undefined) {
        this.summary ??= place;
      } else if (m.folded !== undefined) {
        this.folds.push({ start: m.folded.start ?? 0, end: m.folded.end ?? 0, place });
      }
    }
  }

  // load brings the view up to date: it loads what is new since the last time. arrived is called after each page.
  async load(signal, arrived = () => {}) {
    for (let more = true; more;) {
      const answer = await call("CompactionService/GetLLMView", {
        sessionId: this.session, viewToken: this.token, asOf: this.asOf, maxBytes: this.token ? 0 : firstBytes,
      }, signal);
      const prefix = answer.unchangedPrefix ?? 0;
      if (prefix < this.messages.length) {
        this.clear(prefix);
      }
      this.add(answer.messages ?? []);
      for (const index of answer.viewReport?.thinkingDropped ?? []) {
        this.dropped.add(index);
      }
      this.tokens = answer.viewReport?.tokens ?? 0;
      this.report = answer.report ?? {};
      this.token = answer.viewToken;
      more = answer.hasMore === true;
      if (more) {
        arrived();
      }
    }
    if (this.asOf !== undefined) {
      this.then = await loadThen(this.session, this.asOf, this.messages[this.summary]?.summaryOf, signal);
    }
    this.whole = true;
    arrived();
  }
}

// loadThen returns what says where messages stood at a point: the reverts up to it, and what its compaction covers.
async function loadThen(session, point, compactionId, signal) {
  const reverts = [];
  let pageToken = "";
  do {
    const answer = await call("SessionService/ListRecords", { sessionId: session, kinds: ["RECORD_KIND_REVERT"], pageToken }, signal);
    reverts.push(...(answer.records ?? []));
    pageToken = answer.nextPageToken ?? "";
  } while (pageToken);
  const entries = compactionId && await call("SessionService/ListRecords", { sessionId: session, compactionId }, signal);
  return { point, reverts, covered: entries?.records?.[0]?.compaction?.covered ?? {} };
}

// activeAt says whether a message was in the log at a point, and not put aside.
function activeAt(then, logged) {
  let { point } = then;
  for (const record of then.reverts.toReversed()) {
    if (record.sequence <= point && logged.sequence < record.sequence) {
      point = record.revert.point ?? 0;
    }
  }
  return logged.sequence <= point;
}

// standing says where a message of the log stands, at the point of the view.
function standing({ then, messages }, logged) {
  if (!then) {
    return words(logged.state, "MESSAGE_STATE_");
  }
  const index = logged.index ?? 0;
  switch (true) {
    case logged.sequence > then.point: return "later";
    case !activeAt(then, logged): return "put aside";
    case (then.covered.start ?? 0) <= index && index < (then.covered.end ?? 0): return "covered";
    case logged.state === "MESSAGE_STATE_REPLACED" && messages.some((m) => m.instructions !== undefined): return "replaced";
    default: return "active";
  }
}

// placeOf returns which message of the view shows a message of the log, or stands for it.
export function placeOf(view, logged) {
  const index = logged.index ?? 0;
  if (view.places.has(index)) {
    return view.places.get(index);
  }
  const fold = view.folds.find((f) => f.start <= index && index < f.end);
  if (fold) {
    return fold.place;
  }
  return standing(view, logged) === "covered" ? view.summary : undefined;
}

const hiding = new Set(["EDIT_KIND_HIDE_RESULT", "EDIT_KIND_OFFLOAD_RESULT", "EDIT_KIND_COLLAPSE_GROUP", "EDIT_KIND_FOLD"]);

// isHidden says whether a message of a view shows a placeholder.
export function isHidden(m) {
  return (m.edits ?? []).some((kind) => hiding.has(kind));
}

// stateOf says in one word what the view has of a message of the log.
export function stateOf(view, logged) {
  const index = logged.index ?? 0;
  if (!view.places.has(index)) {
    if (!view.whole) {
      return "…";
    }
    const state = standing(view, logged);
    if (state !== "active") {
      return state;
    }
    return view.folds.some((f) => f.start <= index && index < f.end) ? "folded" : "left out";
  }
  const m = view.messages[view.places.get(index)];
  if (isHidden(m)) {
    return "hidden";
  }
  if ((m.edits ?? []).length > 0) {
    return "edited";
  }
  return view.dropped.has(index) ? "thinking dropped" : "whole";
}

// inConversation says whether a message of a view is what people and the model said to each other.
export function inConversation({ message }) {
  return ["ROLE_USER", "ROLE_ASSISTANT"].includes(message.role) && (message.parts ?? []).some((part) => part.text?.text);
}
