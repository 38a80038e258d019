// The log and the view of a session, as far as they are loaded.

import { call } from "./api.js";
import { words } from "./text.js";

const pageSize = 100;
const keptPages = 50;

// Log has the messages of a session by index. It loads them by pages, and forgets the oldest pages.
export class Log {
  constructor(session, length, arrived, failed, signal) {
    this.session = session;
    this.length = length;
    this.arrived = arrived;
    this.failed = failed;
    this.signal = signal;
    this.pages = new Map();
  }

  // at returns a message, or nothing while it is being loaded.
  at(index) {
    const number = Math.floor(index / pageSize);
    const page = this.pages.get(number);
    if (page === undefined) {
      this.pages.set(number, this.load(number));
      return undefined;
    }
    return page instanceof Promise ? undefined : page.get(index);
  }

  // loaded waits for a message.
  async loaded(index) {
    this.at(index);
    const number = Math.floor(index / pageSize);
    const page = await this.pages.get(number);
    return page?.get(index);
  }

  async load(number) {
    const page = new Map();
    const end = Math.min(this.length, (number + 1) * pageSize);
    try {
      for (let from = number * pageSize, token = ""; from < end;) {
        const answer = await call("SessionService/ListMessages", {
          sessionId: this.session, fromIndex: token ? 0 : from, pageToken: token, pageSize: end - from,
        }, this.signal);
        const messages = answer.messages ?? [];
        for (const m of messages) {
          page.set(m.index ?? 0, m);
        }
        token = answer.nextPageToken ?? "";
        if (messages.length === 0 || !token) {
          break;
        }
        from = (messages.at(-1).index ?? 0) + 1;
      }
    } catch (error) {
      this.pages.delete(number);
      if (!this.signal.aborted) {
        this.failed(error);
      }
      return page;
    }
    this.pages.set(number, page);
    for (const old of this.pages.keys()) {
      if (this.pages.size <= keptPages) {
        break;
      }
      if (old !== number && !(this.pages.get(old) instanceof Promise)) {
        this.pages.delete(old);
      }
    }
    this.arrived();
    return page;
  }
}

// loadConversation calls arrived with the indexes of the messages that are conversation, whenever there are more.
export async function loadConversation(session, arrived, signal) {
  const indexes = [];
  let pageToken = "";
  do {
    const answer = await call("SessionService/ListMessages", {
      sessionId: session, listing: "MESSAGE_LISTING_DIALOGUE", pageSize: 1000, pageToken,
    }, signal);
    indexes.push(...(answer.messages ?? []).map((m) => m.index ?? 0));
    arrived(indexes);
    pageToken = answer.nextPageToken ?? "";
  } while (pageToken);
}

// inConversation says whether a message of a view is what people and the model said to each other.
export function inConversation({ message }) {
  return ["ROLE_USER", "ROLE_ASSISTANT"].includes(message.role) && (message.parts ?? []).some((part) => part.text?.text);
}

// loadView returns the messages of a session's view, and where each message of the log stands in it.
export async function loadView(session, signal) {
  const messages = [];
  const dropped = new Set();
  let viewToken = "";
  for (let more = true; more;) {
    const answer = await call("CompactionService/GetLLMView", { sessionId: session, viewToken }, signal);
    messages.length = Math.min(messages.length, answer.unchangedPrefix ?? 0);
    messages.push(...(answer.messages ?? []));
    for (const index of answer.viewReport?.thinkingDropped ?? []) {
      dropped.add(index);
    }
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
  return { messages, places, folds, summary, dropped };
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
  return logged.state === "MESSAGE_STATE_COVERED" ? view.summary : undefined;
}

const hiding = new Set(["EDIT_KIND_HIDE_RESULT", "EDIT_KIND_OFFLOAD_RESULT", "EDIT_KIND_COLLAPSE_GROUP", "EDIT_KIND_FOLD"]);

// stateOf says in one word what the view has of a message of the log.
export function stateOf(view, logged) {
  const index = logged.index ?? 0;
  if (!view.places.has(index)) {
    if (logged.state !== "MESSAGE_STATE_ACTIVE") {
      return words(logged.state, "MESSAGE_STATE_");
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
