// The view of a session, now or as of a point, and what it has of each message of the log.

import { call } from "./api.js";
import { words } from "./text.js";

// loadView returns the messages of a session's view, and where each message of the log stands in it. Without a point it is
// the newest view.
export async function loadView(session, signal, asOf) {
  const messages = [];
  const dropped = new Set();
  let tokens = 0;
  let viewToken = "";
  for (let more = true; more;) {
    const answer = await call("CompactionService/GetLLMView", { sessionId: session, viewToken, asOf }, signal);
    messages.length = Math.min(messages.length, answer.unchangedPrefix ?? 0);
    messages.push(...(answer.messages ?? []));
    for (const index of answer.viewReport?.thinkingDropped ?? []) {
      dropped.add(index);
    }
    tokens = answer.viewReport?.tokens ?? 0;
    viewToken = answer.viewToken;
    more = answer.hasMore === true;
  }
  const places = new Map();
  const folds = [];
  let summary;
  messages.forEach((m, i) => {
    if (m.index !== undefined) {
      places.set(m.index, i);
    } else if (m.summaryOf !== undefined) {
      summary ??= i;
    } else if (m.folded !== undefined) {
      folds.push({ start: m.folded.start ?? 0, end: m.folded.end ?? 0, place: i });
    }
  });
  const then = asOf === undefined ? undefined : await loadThen(session, asOf, messages[summary]?.summaryOf, signal);
  return { messages, places, folds, summary, dropped, tokens, then };
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

// stateOf says in one word what the view has of a message of the log.
export function stateOf(view, logged) {
  const index = logged.index ?? 0;
  if (!view.places.has(index)) {
    const state = standing(view, logged);
    if (state !== "active") {
      return state;
    }
    return view.folds.some((f) => f.start <= index && index < f.end) ? "folded" : "left out";
  }
  const edits = view.messages[view.places.get(index)].edits ?? [];
  if (edits.some((kind) => hiding.has(kind))) {
    return "hidden";
  }
  if (edits.length > 0) {
    return "edited";
  }
  return view.dropped.has(index) ? "thinking dropped" : "whole";
}

// inConversation says whether a message of a view is what people and the model said to each other.
export function inConversation({ message }) {
  return ["ROLE_USER", "ROLE_ASSISTANT"].includes(message.role) && (message.parts ?? []).some((part) => part.text?.text);
}
