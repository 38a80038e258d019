// The rows of the lists of a session, and what stands above its messages.

import { element } from "./dom.js";
import { firstWords } from "./message.js";
import { count, line, words } from "./text.js";
import { stateOf } from "./view.js";

// overview shows how full the window is.
export function overview(session, report) {
  const used = report.tokens ?? 0;
  const window = report.contextWindow;
  const trigger = report.triggerTokens;
  const said = `${count(used)} tokens` + (window ? ` of ${count(window)}` : ", of a window that is unknown") +
    (trigger ? `; compaction is due at ${count(trigger)}` : "");
  return element("section", { class: "overview", "aria-label": "Window" },
    session.title ? element("h2", {}, line(session.title, 200)) : undefined,
    window ? element("meter", { min: 0, max: window, value: Math.min(used, window), high: trigger ?? window, optimum: 0, "aria-label": "Tokens of the window" }) : undefined,
    element("p", {}, said));
}

// logRow returns the row of a message of the log, or of one that is being loaded.
export function logRow(logged, index, view) {
  if (!logged) {
    return element("div", { class: "row" }, element("span", { class: "head" }, `#${index}`), element("span", {}, "…"));
  }
  const state = stateOf(view, logged);
  return element("div", { class: "row", "data-state": state },
    element("span", { class: "head" }, `#${index} ${words(logged.message.role, "ROLE_")}`,
      element("span", { class: "state" }, state), logged.pinned ? element("span", { class: "state" }, "pinned") : undefined),
    element("span", { class: "words", dir: "auto" }, firstWords(logged.message)));
}

// viewRow returns the row of a message of the view.
export function viewRow(m) {
  const edits = (m.edits ?? []).map((kind) => element("span", { class: "state" }, words(kind, "EDIT_KIND_")));
  return element("div", { class: "row", "data-state": m.index === undefined ? "made" : edits.length > 0 ? "edited" : "whole" },
    element("span", { class: "head" }, `${originOf(m)} ${words(m.message.role, "ROLE_")}`, ...edits),
    element("span", { class: "words", dir: "auto" }, firstWords(m.message)));
}

// originOf says where a message of the view comes from.
export function originOf(m) {
  switch (true) {
    case m.index !== undefined: return `#${m.index}`;
    case m.summaryOf !== undefined: return "Summary";
    case m.contextBlock !== undefined: return `Block ${line(m.contextBlock.name ?? "", 60)}`;
    case m.folded !== undefined: return `Fold of #${m.folded.start ?? 0} to #${(m.folded.end ?? 0) - 1}`;
    case m.logRepair !== undefined: return "Repair";
    default: return "Instructions";
  }
}

// facts says what else is known of a message of the log.
export function facts(logged, state) {
  return element("p", { class: "note" }, [
    words(logged.message.role, "ROLE_"), state, `${count(logged.tokens ?? 0)} tokens`,
    logged.message.model ? line(logged.message.model, 80) : "",
  ].filter(Boolean).join(" · "));
}
