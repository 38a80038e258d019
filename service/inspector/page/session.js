// One session: its log and its view side by side, and the message that is chosen, in both.

import { call } from "./api.js";
import { element, fill } from "./dom.js";
import { Log, loadView, placeOf, stateOf } from "./log.js";
import { firstWords, showMessage } from "./message.js";
import { requestPanel } from "./request.js";
import { count, line, shown, words } from "./text.js";
import { Virtual } from "./virtual.js";

const rowHeight = 48;

// showSession shows a session as it is now.
export async function showSession(main, id, signal) {
  const [{ session, report }, view] = await Promise.all([
    call("SessionService/GetSession", { sessionId: id }, signal), loadView(id, signal),
  ]);
  const problem = element("p", { role: "alert" });
  const ofLog = element("section", { class: "side", tabindex: 0, "aria-label": "In the log" });
  const ofView = element("section", { class: "side", tabindex: 0, "aria-label": "In the view" });
  const log = new Log(id, session.nextIndex ?? 0, () => logList.draw(),
    (error) => { problem.textContent = shown(error.message); }, signal);
  const logList = new Virtual({
    label: "Log", height: rowHeight, opened: choose,
    rowOf: (i) => logRow(log.at(i), i, view),
  });
  const viewList = new Virtual({
    label: "View", height: rowHeight, opened: chooseOfView,
    rowOf: (i) => viewRow(view.messages[i]),
  });
  logList.rows.dataset.of = "log";
  viewList.rows.dataset.of = "view";
  let shownPlace;

  // choose shows a message of the log, and what the view has of it.
  async function choose(index) {
    if (index < 0 || index >= log.length) {
      return;
    }
    logList.show(index);
    const logged = await log.loaded(index);
    if (!logged || logList.current !== index) {
      return;
    }
    const place = placeOf(view, logged);
    fill(ofLog, element("h3", {}, `#${index} in the log`), facts(logged, stateOf(view, logged)), showMessage(logged.message));
    if (place === undefined) {
      viewList.none();
      shownPlace = undefined;
      fill(ofView, element("h3", {}, "In the view"), element("p", { class: "note" }, "The view does not have it."));
      return;
    }
    viewList.show(place);
    showOfView(place);
  }

  function chooseOfView(place) {
    const { index } = view.messages[place];
    if (index !== undefined) {
      choose(index);
      return;
    }
    logList.none();
    fill(ofLog, element("h3", {}, "In the log"), element("p", { class: "note" }, "It is no message of the log."));
    showOfView(place);
  }

  // A message that is shown already stays where it is scrolled to, as a summary whose citations are followed.
  function showOfView(place) {
    if (shownPlace === place) {
      return;
    }
    shownPlace = place;
    const m = view.messages[place];
    fill(ofView, element("h3", {}, originOf(m)), showMessage(m.message, m.summaryOf === undefined ? undefined : choose));
  }

  fill(main, element("p", {}, element("a", { href: "#/" }, "All sessions")),
    overview(session, report), problem, requestPanel(id, signal),
    element("div", { class: "columns" },
      element("section", {}, element("h2", {}, `Log: ${count(log.length)}`), logList.root),
      element("section", {}, element("h2", {}, `View: ${count(view.messages.length)}`), viewList.root)),
    element("div", { class: "columns" }, ofLog, ofView));
  logList.resize(log.length);
  viewList.resize(view.messages.length);
  fill(ofLog, element("p", { class: "note" }, "Choose a message of either list to see it in both."));
}

// overview shows how full the window is.
function overview(session, report) {
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

function logRow(logged, index, view) {
  if (!logged) {
    return element("div", { class: "row" }, element("span", { class: "head" }, `#${index}`), element("span", {}, "…"));
  }
  const state = stateOf(view, logged);
  return element("div", { class: "row", "data-state": state },
    element("span", { class: "head" }, `#${index} ${words(logged.message.role, "ROLE_")}`,
      element("span", { class: "state" }, state), logged.pinned ? element("span", { class: "state" }, "pinned") : undefined),
    element("span", { class: "words", dir: "auto" }, firstWords(logged.message)));
}

function viewRow(m) {
  const edits = (m.edits ?? []).map((kind) => element("span", { class: "state" }, words(kind, "EDIT_KIND_")));
  return element("div", { class: "row", "data-state": m.index === undefined ? "made" : edits.length > 0 ? "edited" : "whole" },
    element("span", { class: "head" }, `${originOf(m)} ${words(m.message.role, "ROLE_")}`, ...edits),
    element("span", { class: "words", dir: "auto" }, firstWords(m.message)));
}

// originOf says where a message of the view comes from.
function originOf(m) {
  switch (true) {
    case m.index !== undefined: return `#${m.index}`;
    case m.summaryOf !== undefined: return "Summary";
    case m.contextBlock !== undefined: return `Block ${line(m.contextBlock.name ?? "", 60)}`;
    case m.folded !== undefined: return `Fold of #${m.folded.start ?? 0} to #${(m.folded.end ?? 0) - 1}`;
    case m.logRepair !== undefined: return "Repair";
    default: return "Instructions";
  }
}

function facts(logged, state) {
  return element("p", { class: "note" }, [
    words(logged.message.role, "ROLE_"), state, `${count(logged.tokens ?? 0)} tokens`,
    logged.message.model ? line(logged.message.model, 80) : "",
  ].filter(Boolean).join(" · "));
}
