// A search in all of a session's log.

import { call } from "./api.js";
import { element, fill } from "./dom.js";
import { addressOf } from "./family.js";
import { count, line, shown, words } from "./text.js";
import { stateOf } from "./view.js";

const pageSize = 50;

// searchPanel returns a part of the page that searches. The newest view says what is left of a hit, and found is called with
// the index of a hit that is chosen.
export function searchPanel(session, view, found, signal) {
  let query;
  let hits = 0;
  let next = "";
  let asked = 0;
  const input = element("input", { id: "search", type: "search", required: true });
  const expression = element("input", { id: "expression", type: "checkbox" });
  const children = element("input", { id: "children", type: "checkbox" });
  const said = element("p", { role: "status" });
  const list = element("ol", { class: "hits", "aria-label": "Hits" });
  const more = element("button", { hidden: true, onclick: () => load() }, "Search on");

  function search(event) {
    event.preventDefault();
    query = { ...(expression.checked ? { pattern: input.value } : { words: input.value }), includeChildren: children.checked };
    hits = 0;
    next = "";
    fill(list);
    load();
  }

  async function load() {
    const mine = ++asked;
    said.textContent = "Searching …";
    more.hidden = true;
    try {
      const answer = await call("SessionService/SearchMessages", {
        sessionId: session, ...query, newestFirst: true, pageSize, pageToken: next,
      }, signal);
      if (mine !== asked) {
        return;
      }
      next = answer.nextPageToken ?? "";
      hits += answer.hits?.length ?? 0;
      list.append(...(answer.hits ?? []).map((hit) => hit.sessionId ? childRow(hit) : hitRow(hit, stateOf(view, hit), found)));
      said.textContent = `${count(hits)} ${hits === 1 ? "message" : "messages"}${next ? " so far, the newest first" : ""}`;
      more.hidden = next === "";
    } catch (error) {
      if (mine === asked && !signal.aborted) {
        said.textContent = shown(error.message);
      }
    }
  }

  return element("details", { class: "panel" },
    element("summary", {}, "Search"),
    element("form", { class: "filters", onsubmit: search },
      element("label", { for: "search" }, "In all of the log"), input,
      element("span", { class: "choice" }, expression, element("label", { for: "expression" }, "as an expression (RE2)")),
      element("span", { class: "choice" }, children, element("label", { for: "children" }, "children, too")),
      element("button", {}, "Search")),
    said, list, more);
}

function hitRow(hit, state, found) {
  return element("li", {}, element("button", { class: "hit", onclick: () => found(hit.index ?? 0) }, ...factsOf(hit, state)));
}

// childRow leads to the message in the child.
function childRow(hit) {
  return element("li", {}, element("a", { class: "hit", href: addressOf(hit.sessionId, { index: hit.index ?? 0 }) },
    element("span", { class: "head" }, `in ${shown(hit.sessionId)}`), ...factsOf(hit, words(hit.state, "MESSAGE_STATE_"))));
}

function factsOf(hit, state) {
  const index = hit.index ?? 0;
  const what = words(hit.kind, "CONTENT_KIND_") + (hit.tool ? ` of ${line(hit.tool, 60)}` : "");
  const times = hit.matches > 1 ? ` · ${count(hit.matches)} matches` : "";
  return [
    element("span", { class: "head" }, `#${index} ${words(hit.role, "ROLE_")} · ${what}${times}`, element("span", { class: "state" }, state)),
    snippetOf(hit),
  ];
}

// snippetOf marks the match, which the daemon names by bytes.
function snippetOf(hit) {
  const bytes = new TextEncoder().encode(hit.snippet ?? "");
  const text = (from, to) => shown(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(from, to)).replace(/\s+/gu, " "));
  const start = hit.matchStart ?? 0;
  const end = hit.matchEnd ?? 0;
  return element("span", { class: "snippet", dir: "auto" }, text(0, start), element("mark", {}, text(start, end)), text(end));
}
