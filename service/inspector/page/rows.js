// The rows of the lists of a session, and what stands above its messages.

import { element } from "./dom.js";
import { windowMeter } from "./fullness.js";
import { firstWords } from "./message.js";
import { count, counted, joined, line, time, words } from "./text.js";
import { stateOf } from "./view.js";

// overview shows how full the window is.
export function overview(session, report) {
  const used = report.tokens ?? 0;
  const window = report.contextWindow;
  const trigger = report.triggerTokens;
  const outside = report.overheadTokens ?? 0;
  const said = `${count(used)} tokens` + (window ? ` of ${count(window)}` : ", of a window that is unknown") +
    (outside > 0 ? `: ${count(used - outside)} in the view, ${count(outside)} of tools and prompts outside of the log` : "") +
    (trigger ? `; compaction is due ${used >= trigger ? "now, " : ""}at ${count(trigger)}${used >= trigger ? " or more" : ""}` : "");
  return element("section", { class: "overview", "aria-label": "Window" },
    session.title ? element("h2", {}, line(session.title, 200)) : undefined,
    window ? windowMeter(used, window, trigger) : undefined,
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
      element("span", { class: "state" }, state), logged.pinned ? element("span", { class: "state" }, "pinned") : undefined,
      ` ${sizeAndTools(logged)}`),
    element("span", { class: "words", dir: "auto" }, firstWords(logged.message)));
}

// sizeAndTools says how large a message is, and which tools it calls or has results of.
function sizeAndTools({ message, tokens = 0 }) {
  const parts = message.parts ?? [];
  const calls = parts.flatMap((part) => part.toolCall ?? []);
  const results = parts.flatMap((part) => part.toolResult ?? []);
  const namesOf = (all) => line([...new Set(all.flatMap(({ name }) => name || []))].join(", "), 60);
  return joined(counted(tokens, "token"), calls.length > 0 && `calls ${namesOf(calls)}`, namesOf(results),
    results.some((result) => result.isError) && "failed");
}

// viewRow returns the row of a message of the view.
export function viewRow(m) {
  const edits = (m.edits ?? []).map((kind) => element("span", { class: "state" }, words(kind, "EDIT_KIND_")));
  return element("div", { class: "row", "data-state": m.index === undefined ? "made" : edits.length > 0 ? "edited" : "whole" },
    element("span", { class: "head" }, `${originOf(m)} ${words(m.message.role, "ROLE_")}`, ...edits, `${edits.length > 0 ? "" : " ·"} ${sizeAndTools(m)}`),
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

// facts says what else is known of a message of the log. goTo is called with the index of the message whose call it answers.
export function facts(logged, state, goTo) {
  const { message, answers } = logged;
  const call = answers?.index ?? 0;
  return element("p", { class: "note" }, joined(
    words(message.role, "ROLE_"), state, counted(logged.tokens ?? 0, "token"), message.model && line(message.model, 80),
    message.writtenAt ? `written ${time(message.writtenAt, "medium")}` : `appended ${time(logged.appendedAt, "medium")}`,
  ), ...(answers ? [" · answers ", element("button", { class: "cite", onclick: () => goTo(call) }, `#${call}`)] : []));
}

// factsOfView says what else is known of a message of the view.
export function factsOfView(m) {
  return element("p", { class: "note" }, joined(words(m.message.role, "ROLE_"), counted(m.tokens ?? 0, "token"),
    ...(m.edits ?? []).map((kind) => words(kind, "EDIT_KIND_"))));
}

const meanings = {
  whole: "The view has all of it.",
  "thinking dropped": "The view has all but its thinking.",
  edited: "The view has a shorter form of a part of it.",
  hidden: "The view has a placeholder for it, or one line for its tool group.",
  folded: "The view has one text for a range of messages.",
  covered: "The view has a line of the summary for it, or nothing.",
  replaced: "Newer instructions stand in its place.",
  "put aside": "A revert went back to before it.",
  "left out": "The view has nothing of it, as of an answer that ended in an error.",
  later: "It came after the point that is shown.",
};

// meaningOf says in a sentence what a state means.
export function meaningOf(state) {
  return meanings[state] ?? "";
}

// legend says what each state means.
export function legend() {
  return element("details", { class: "legend" }, element("summary", {}, "What the states mean"), element("dl", {},
    ...Object.entries(meanings).flatMap(([state, means]) => [
      element("dt", {}, element("span", { class: "state", "data-state": state }, state)), element("dd", {}, means),
    ])));
}
