// The view as a request in a provider's shape has it: the JSON of each message, as it would be sent.

import { call } from "./api.js";
import { element, fill } from "./dom.js";
import { showText } from "./message.js";
import { originOf } from "./rows.js";
import { count, line, shown } from "./text.js";
import { Virtual } from "./virtual.js";

const dialects = {
  DIALECT_ANTHROPIC: "Anthropic Messages",
  DIALECT_OPENAI_CHAT: "OpenAI Chat Completions",
  DIALECT_OPENAI_RESPONSES: "OpenAI Responses",
  DIALECT_GEMINI: "Gemini",
};

// requestPanel returns a part of the page that loads the JSON when it is opened, or another dialect is chosen: as of a
// point, if there is one. view() is the view that the page shows, and choose is called with the place there of what an element
// was made from. Call find with the place of a message that is chosen elsewhere, and grew when the session has changed: stale
// says that messages may stand elsewhere than before.
export function requestPanel(session, asOf, { view, choose }, signal) {
  let elements = [];
  let asked = 0;
  // Whether the places of its elements are still those of the view.
  let fits = true;
  const dialect = element("select", { id: "dialect", onchange: load },
    ...Object.entries(dialects).map(([value, name]) => element("option", { value }, name)));
  const said = element("p", { role: "status" });
  const older = element("div", { role: "status" });
  const chosen = element("section", { class: "side", tabindex: 0, "aria-label": "JSON" });
  const list = new Virtual({
    label: "Messages of the request", height: 48, rowOf: (i) => row(elements[i], i),
    opened: (i) => {
      showElement(i);
      if (fits && elements[i].start < elements[i].end) {
        choose(elements[i].start);
      }
    },
  });
  list.rows.dataset.of = "request";

  function showElement(i) {
    fill(chosen, madeOf(elements[i]), element("div", { class: "message" }, showText(elements[i].json)));
  }

  // madeOf names what an element was made from.
  function madeOf({ start, end }) {
    const messages = fits ? view().messages.slice(start, end) : [];
    return element("p", { class: "tools note" }, start === end ? "The provider demands it: the view has no such message." : "Made from",
      ...messages.map((m, i) => element("button", { class: "small", onclick: () => choose(start + i) }, originOf(m))));
  }

  function find(place) {
    const holds = (i) => elements[i] !== undefined && elements[i].start <= place && place < elements[i].end;
    if (!fits || holds(list.current)) {
      return;
    }
    const at = elements.findIndex((_, i) => holds(i));
    if (at >= 0) {
      list.show(at);
      showElement(at);
    }
  }

  function grew(stale) {
    if (!root.open) {
      asked = 0;
      return;
    }
    fits &&= !stale;
    fill(older, element("p", { class: "tools" }, "This is the request as it was when it was loaded.",
      element("button", { class: "small", onclick: load }, "Show it as it is now")));
  }

  async function load() {
    const mine = ++asked;
    said.textContent = "Loading …";
    elements = [];
    fits = true;
    fill(older);
    list.resize(0);
    fill(chosen);
    try {
      const loaded = await loadRequest(session, dialect.value, asOf, signal);
      if (mine !== asked) {
        return;
      }
      elements = loaded;
      said.textContent = `${count(elements.length)} elements. A request joins neighbours where its provider demands that, so it can have fewer messages than the view.`;
      list.root.scrollTop = 0;
      list.current = -1;
    } catch (error) {
      if (mine === asked && !signal.aborted) {
        said.textContent = shown(error.message);
      }
    }
    list.resize(elements.length);
  }

  const root = element("details", { class: "panel", ontoggle: (event) => { if (event.target.open && asked === 0) load(); } },
    element("summary", {}, "Request as JSON"),
    element("div", { class: "filters" }, element("label", { for: "dialect" }, "Dialect"), dialect),
    said, older, element("div", { class: "columns" }, list.root, chosen));
  return { root, find, grew };
}

// loadRequest returns the JSON of a system prompt that stands apart, and of each message, with the messages of the view that it
// was made from.
async function loadRequest(session, dialect, asOf, signal) {
  const messages = [];
  const sources = [];
  let system = [];
  let viewToken = "";
  for (let more = true; more;) {
    const answer = await call("CompactionService/GetLLMView", { sessionId: session, dialect, asOf, viewToken, withSources: true }, signal);
    messages.length = Math.min(messages.length, answer.unchangedPrefix ?? 0);
    sources.length = messages.length;
    messages.push(...(answer.messagesJson ?? []));
    sources.push(...(answer.sources ?? []));
    system = answer.systemJson ?? system;
    viewToken = answer.viewToken;
    more = answer.hasMore === true;
  }
  // A system prompt that stands apart has what comes before the first message.
  const lead = sources.find(({ start = 0, end = 0 }) => start < end)?.start ?? 0;
  return [
    ...system.map((json) => ({ json, kind: "system prompt", start: 0, end: lead })),
    ...messages.map((json, i) => ({ json, kind: kindOf(json), start: sources[i]?.start ?? 0, end: sources[i]?.end ?? 0 })),
  ];
}

// kindOf says whose message it is, or of which type an item is that has no role.
function kindOf(json) {
  const { role, type } = JSON.parse(json);
  return String(role ?? type ?? "");
}

function row({ json, kind }, i) {
  return element("div", { class: "row" },
    element("span", { class: "head" }, `${count(i + 1)} ${line(kind, 60)} · ${count(json.length)} characters`),
    element("span", { class: "words", dir: "auto" }, line(json)));
}
