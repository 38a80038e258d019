// One session: its log and its view side by side, and the message that is chosen, in both.

import { call } from "./api.js";
import { element, fill } from "./dom.js";
import { Log, loadConversation } from "./log.js";
import { showMessage } from "./message.js";
import { requestPanel } from "./request.js";
import { facts, logRow, originOf, overview, viewRow } from "./rows.js";
import { searchPanel } from "./search.js";
import { count, shown } from "./text.js";
import { timePanel } from "./time.js";
import { inConversation, loadView, placeOf, stateOf } from "./view.js";
import { Virtual } from "./virtual.js";

const rowHeight = 48;

// showSession shows a session: its view as of a point, if there is one, else as it is now.
export async function showSession(main, id, point, signal) {
  const [{ session, report }, newest] = await Promise.all([
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
  let view = newest;
  let shownPlace;
  let chosen;
  let leaving = new AbortController();
  let filtering = new AbortController();

  // choose shows a message of the log, and what the view has of it.
  async function choose(index) {
    if (index < 0 || index >= log.length) {
      return;
    }
    chosen = index;
    logList.find(index);
    const logged = await log.loaded(index);
    if (!logged || chosen !== index) {
      return;
    }
    const place = placeOf(view, logged);
    fill(ofLog, element("h3", {}, `#${index} in the log`), facts(logged, stateOf(view, logged)), showMessage(logged.message),
      element("button", { class: "small", onclick: () => goBack(logged.sequence) }, "View as of here"));
    if (place === undefined) {
      viewList.none();
      shownPlace = undefined;
      fill(ofView, element("h3", {}, "In the view"), element("p", { class: "note" }, "The view does not have it."));
      return;
    }
    viewList.find(place);
    showOfView(place);
  }

  function chooseOfView(place) {
    const { index } = view.messages[place];
    if (index !== undefined) {
      choose(index);
      return;
    }
    chosen = undefined;
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

  // filter shows all messages, or only the conversation, as far as it is loaded.
  async function filter(conversation) {
    filtering.abort();
    filtering = new AbortController();
    if (!conversation) {
      logList.resize(log.length);
      viewList.resize(view.messages.length);
    } else {
      logList.pick([]);
      viewList.pick([...view.messages.keys()].filter((i) => inConversation(view.messages[i])));
    }
    const select = () => {
      logList.find(chosen);
      viewList.find(shownPlace);
    };
    select();
    if (conversation) {
      const mine = AbortSignal.any([signal, filtering.signal]);
      await loadConversation(id, (indexes) => logList.pick(indexes.filter((i) => i < log.length)), mine).then(select).catch((error) => {
        if (!mine.aborted) {
          problem.textContent = shown(error.message);
        }
      });
    }
  }

  // goBack shows the view as of a point, or the newest one.
  async function goBack(asOf) {
    leaving.abort();
    leaving = new AbortController();
    const mine = AbortSignal.any([signal, leaving.signal]);
    try {
      view = asOf === undefined ? newest : await loadView(id, mine, asOf);
    } catch (error) {
      if (!mine.aborted) {
        problem.textContent = shown(error.message);
      }
      return;
    }
    point = asOf;
    problem.textContent = "";
    history.replaceState(null, "", `#/session/${encodeURIComponent(id)}${point === undefined ? "" : `/${point}`}`);
    showPoint();
    shownPlace = undefined;
    fill(ofView);
    filter(conversation.checked);
    if (chosen !== undefined) {
      choose(chosen);
    }
  }

  // showPoint says which point the view is of.
  function showPoint() {
    if (where.contains(document.activeElement)) {
      viewList.root.focus();
    }
    fill(where, ...(point === undefined ? [] : [
      element("p", {}, `This is the view as of point ${count(point)}: ${count(view.tokens)} tokens.`),
      element("button", { onclick: () => goBack(undefined) }, "Back to now"),
    ]));
    viewTitle.textContent = `View: ${count(view.messages.length)}`;
    times.mark();
    const request = requestPanel(id, point, signal);
    request.open = requests.firstChild?.open ?? false;
    fill(requests, request);
  }

  // goTo shows a message that is named elsewhere on the page.
  function goTo(index) {
    choose(index);
    logList.root.focus();
  }

  const where = element("div", { class: "where", role: "status" });
  const viewTitle = element("h2");
  const requests = element("div");
  const times = timePanel(session, () => point, goBack, signal);
  const conversation = element("input", { id: "conversation", type: "checkbox", onchange: () => filter(conversation.checked) });
  fill(main, element("p", {}, element("a", { href: "#/" }, "All sessions")),
    overview(session, report), problem,
    searchPanel(id, newest, goTo, signal), times.root, requests, where,
    element("p", { class: "choice" }, conversation, element("label", { for: "conversation" }, "Conversation only")),
    element("div", { class: "columns" },
      element("section", {}, element("h2", {}, `Log: ${count(log.length)}`), logList.root),
      element("section", {}, viewTitle, viewList.root)),
    element("div", { class: "columns" }, ofLog, ofView));
  fill(ofLog, element("p", { class: "note" }, "Choose a message of either list to see it in both."));
  const first = point;
  await goBack(undefined);
  if (first !== undefined) {
    await goBack(first);
  }
}
