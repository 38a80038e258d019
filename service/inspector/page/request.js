// The view as a request in a provider's shape has it: the JSON of each message, as it would be sent.

import { call } from "./api.js";
import { element, fill } from "./dom.js";
import { showText } from "./message.js";
import { count, line, shown } from "./text.js";
import { Virtual } from "./virtual.js";

const dialects = {
  DIALECT_ANTHROPIC: "Anthropic Messages",
  DIALECT_OPENAI_CHAT: "OpenAI Chat Completions",
  DIALECT_OPENAI_RESPONSES: "OpenAI Responses",
  DIALECT_GEMINI: "Gemini",
};

// requestPanel returns a part of the page that loads the JSON when it is opened, or another dialect is chosen: as of a
// point, if there is one.
export function requestPanel(session, asOf, signal) {
  let elements = [];
  let asked = 0;
  const dialect = element("select", { id: "dialect", onchange: load },
    ...Object.entries(dialects).map(([value, name]) => element("option", { value }, name)));
  const said = element("p", { role: "status" });
  const chosen = element("section", { class: "side", tabindex: 0, "aria-label": "JSON" });
  const list = new Virtual({
    label: "Messages of the request", height: 48, rowOf: (i) => row(elements[i], i),
    opened: (i) => fill(chosen, element("div", { class: "message" }, showText(elements[i].json))),
  });
  list.rows.dataset.of = "request";

  async function load() {
    const mine = ++asked;
    said.textContent = "Loading …";
    elements = [];
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
      list.current = 0;
    } catch (error) {
      if (mine === asked && !signal.aborted) {
        said.textContent = shown(error.message);
      }
    }
    list.resize(elements.length);
  }

  return element("details", { class: "panel", ontoggle: (event) => { if (event.target.open && asked === 0) load(); } },
    element("summary", {}, "Request as JSON"),
    element("div", { class: "filters" }, element("label", { for: "dialect" }, "Dialect"), dialect),
    said, element("div", { class: "columns" }, list.root, chosen));
}

// loadRequest returns the JSON of a system prompt that stands apart, and of each message.
async function loadRequest(session, dialect, asOf, signal) {
  const messages = [];
  let system = [];
  let viewToken = "";
  for (let more = true; more;) {
    const answer = await call("CompactionService/GetLLMView", { sessionId: session, dialect, asOf, viewToken }, signal);
    messages.length = Math.min(messages.length, answer.unchangedPrefix ?? 0);
    messages.push(...(answer.messagesJson ?? []));
    system = answer.systemJson ?? system;
    viewToken = answer.viewToken;
    more = answer.hasMore === true;
  }
  return [
    ...system.map((json) => ({ json, kind: "system prompt" })), ...messages.map((json) => ({ json, kind: kindOf(json) })),
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
