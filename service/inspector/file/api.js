// What the page asks a daemon for, answered from what the file has: this module stands in for api.js of the page.

const held = JSON.parse(document.getElementById("held").textContent);
const { session } = held.session;

// file is what the file says of itself.
export const file = held.about;

// Refused is thrown by no call of a file.
export class Refused extends Error {}

export const canFollow = false;
export const canWrite = false;

export function setToken() {}

// takeToken shows the session where the address names nothing.
export function takeToken() {
  if (location.hash === "") {
    history.replaceState(null, "", `#/session/${encodeURIComponent(session.sessionId)}`);
  }
}

const answers = {
  "SessionService/GetSession": () => held.session,
  "SessionService/ListSessions": () => ({ sessions: [session] }),
  "SessionService/ListMessages": listMessages,
  "SessionService/ListRecords": listRecords,
  "SessionService/SearchMessages": searchMessages,
  "CompactionService/GetLLMView": getView,
};

// stream answers nothing: a file does not change, and cannot be asked what a call would do.
export async function* stream() {
  throw onlyByADaemon();
}

function onlyByADaemon() {
  return new Error("Only a daemon shows this, not a file.");
}

// call answers an RPC.
export async function call(rpc, request) {
  const answer = answers[rpc];
  if (!answer) {
    throw onlyByADaemon();
  }
  if (request.sessionId !== undefined && request.sessionId !== session.sessionId) {
    throw new Error("This file has another session.");
  }
  return answer(request);
}

// pageOf returns a page of a list, and the token of the next one.
function pageOf(list, { pageSize, pageToken }, usual = 100) {
  const from = Number(pageToken || 0);
  const end = from + (pageSize || usual);
  return [list.slice(from, end), end < list.length ? String(end) : ""];
}

function listMessages(request) {
  const indexOf = (m) => m.index ?? 0;
  const dialogue = request.listing === "MESSAGE_LISTING_DIALOGUE" && new Set(held.dialogue);
  const listed = held.log.filter((m) => !dialogue || dialogue.has(indexOf(m)));
  const first = request.pageToken ? 0 : listed.findIndex((m) => indexOf(m) >= (request.fromIndex ?? 0));
  const pageToken = request.pageToken || (first < 0 ? listed.length : first);
  const [messages, nextPageToken] = pageOf(listed, { ...request, pageToken });
  return { messages, nextPageToken };
}

// fieldOf returns the field of a record of a kind: RECORD_KIND_POLICY_CHANGE is policyChange.
function fieldOf(kind) {
  return kind.slice("RECORD_KIND_".length).toLowerCase().replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase());
}

function listRecords(request) {
  let listed = held.records;
  if (request.compactionId) {
    listed = listed.filter((record) => record.compaction?.id === request.compactionId);
  }
  if (request.kinds?.length > 0) {
    const fields = request.kinds.map(fieldOf);
    listed = listed.filter((record) => fields.some((field) => record[field]));
  }
  if (request.fromSequence !== undefined) {
    const at = (record) => record.sequence ?? 0;
    listed = listed.filter((record) => request.newestFirst ? at(record) <= request.fromSequence : at(record) >= request.fromSequence);
  }
  const [records, nextPageToken] = pageOf(request.newestFirst ? listed.toReversed() : listed, request);
  return { records, nextPageToken };
}

function getView(request) {
  if (request.dialect) {
    return getRequest(request);
  }
  const view = held.views.find((v) => v.asOf === request.asOf);
  if (!view) {
    throw new Error("This file has the views as of the points that Time lists, as far as it says above, and of no others.");
  }
  return { messages: view.messages.map((place) => held.messages[place]), report: view.report, viewReport: view.viewReport, viewToken: "" };
}

function getRequest({ dialect, asOf }) {
  const found = asOf === undefined ? held.requests[dialect] : undefined;
  if (!found) {
    throw new Error("This file does not have this request: a daemon makes it.");
  }
  if (found.error) {
    throw new Error(found.error);
  }
  const sources = (found.sources ?? []).map(([start, end]) => ({ start, end }));
  return { messagesJson: found.messages, systemJson: found.system, sources, viewToken: "" };
}

const around = 80;

// searchMessages finds what the page's search finds: words in upper or lower case, or an expression, the newest first.
function searchMessages(request) {
  const matches = request.pattern === undefined ? wordsIn(request.words) : linesLike(request.pattern);
  const hits = held.log.toReversed().flatMap((logged) => hitOf(logged, matches) ?? []);
  const [found, nextPageToken] = pageOf(hits, request);
  return { hits: found, nextPageToken };
}

// wordsIn returns a function that finds all words in a text: where the first one stands, and how often they occur.
function wordsIn(text) {
  const words = text.toLowerCase().split(/\s+/u).filter(Boolean);
  return (contents) => {
    const lower = contents.map((content) => content.text.toLowerCase());
    if (!words.every((word) => lower.some((content) => content.includes(word)))) {
      return undefined;
    }
    const part = lower.findIndex((content) => words.some((word) => content.includes(word)));
    const word = words.find((each) => lower[part].includes(each));
    const start = lower[part].indexOf(word);
    const times = words.map((each) => lower.map((content) => content.split(each).length - 1).reduce((a, b) => a + b, 0));
    return { part, start, end: start + word.length, matches: times.reduce((a, b) => a + b, 0) };
  };
}

// linesLike returns a function that finds lines that match an expression. JavaScript's expressions are almost RE2's.
function linesLike(pattern) {
  const flags = /^\(\?i\)/.test(pattern) ? "iu" : "u";
  const expression = new RegExp(pattern.replace(/^\(\?i\)/, ""), flags);
  return (contents) => {
    /** @type {{ part: number, start: number, end: number } | undefined} */
    let first;
    let matches = 0;
    contents.forEach(({ text }, part) => {
      let at = 0;
      for (const line of text.split("\n")) {
        const found = expression.exec(line);
        if (found) {
          matches++;
          first ??= { part, start: at + found.index, end: at + found.index + found[0].length };
        }
        at += line.length + 1;
      }
    });
    return first && { ...first, matches };
  };
}

// contentsOf returns the texts of a message, and what they are.
function contentsOf(message) {
  return (message.parts ?? []).flatMap((part) => {
    if (part.text) {
      return [{ text: part.text.text ?? "", kind: "CONTENT_KIND_TEXT" }];
    }
    if (part.thinking) {
      return [{ text: part.thinking.text ?? "", kind: "CONTENT_KIND_THINKING" }];
    }
    if (part.toolCall) {
      return [{ text: part.toolCall.arguments ?? "", kind: "CONTENT_KIND_ARGUMENTS", tool: part.toolCall.name }];
    }
    const results = part.toolResult?.parts ?? [];
    return results.map((p) => ({ text: p.text?.text ?? "", kind: "CONTENT_KIND_RESULT", tool: part.toolResult.name }));
  });
}

function hitOf(logged, matches) {
  const contents = contentsOf(logged.message);
  const found = matches(contents);
  if (!found) {
    return undefined;
  }
  const { text, kind, tool } = contents[found.part];
  const from = Math.max(0, found.start - around);
  const bytes = (part) => new TextEncoder().encode(part).length;
  return {
    index: logged.index, sequence: logged.sequence, state: logged.state, role: logged.message.role, kind, tool, matches: found.matches,
    snippet: text.slice(from, found.end + around),
    matchStart: bytes(text.slice(from, found.start)), matchEnd: bytes(text.slice(from, found.end)),
  };
}
