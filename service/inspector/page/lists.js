// The log and the view of a session side by side, and the message that is chosen, in both.

import { element, fill } from "./dom.js";
import { Log, loadConversation } from "./log.js";
import { showMessage } from "./message.js";
import { facts, factsOfView, legend, logRow, meaningOf, originOf, viewRow } from "./rows.js";
import { count, shown } from "./text.js";
import { inConversation, placeOf, stateOf } from "./view.js";
import { Virtual } from "./virtual.js";

const rowHeight = 48;

// Lists has the two lists, and below them the chosen message. buttons(logged) returns what can be done with a message of the
// log, found is called with the place in the view of a message that is chosen, and failed with an error.
export class Lists {
  constructor({ session, buttons, found, failed, signal }) {
    this.id = session.sessionId;
    this.buttons = buttons;
    this.found = found;
    this.failed = failed;
    this.signal = signal;
    this.filtering = new AbortController();
    this.ofLog = element("section", { class: "side", tabindex: 0, "aria-label": "In the log" });
    this.ofView = element("section", { class: "side", tabindex: 0, "aria-label": "In the view" });
    this.log = new Log(this.id, session.nextIndex ?? 0, () => this.logArrived(), failed, signal);
    this.logList = new Virtual({
      label: "Log", height: rowHeight, opened: (index) => this.choose(index),
      rowOf: (i) => logRow(this.log.at(i), i, this.view),
    });
    this.viewList = new Virtual({
      label: "View", height: rowHeight, opened: (place) => this.chooseOfView(place),
      rowOf: (i) => viewRow(this.view.messages[i]),
    });
    this.logList.rows.dataset.of = "log";
    this.viewList.rows.dataset.of = "view";
    this.conversation = element("input", { id: "conversation", type: "checkbox", onchange: () => this.filter() });
    this.logTitle = element("h2");
    this.viewTitle = element("h2");
    this.root = element("div", {},
      element("div", { class: "choices" },
        element("p", { class: "choice" }, this.conversation, element("label", { for: "conversation" }, "Conversation only")), legend()),
      element("div", { class: "columns" },
        element("section", {}, this.logTitle, this.logList.root),
        element("section", {}, this.viewTitle, this.viewList.root)),
      element("div", { class: "columns" }, this.ofLog, this.ofView));
    fill(this.ofLog, element("p", { class: "note" }, "Choose a message of either list to see it in both."));
  }

  // setView shows another view.
  setView(view) {
    this.view = view;
    this.shownPlace = undefined;
    fill(this.ofView);
    this.viewArrived();
    if (this.chosen !== undefined) {
      this.choose(this.chosen);
    }
  }

  // viewArrived shows what has come of the view.
  viewArrived() {
    const { messages, whole } = this.view;
    this.viewTitle.textContent = `View: ${count(messages.length)}${whole ? "" : " …"}`;
    this.logTitle.textContent = `Log: ${count(this.log.length)}`;
    if (this.shownPlace >= messages.length) {
      this.shownPlace = undefined;
    }
    this.filter();
  }

  // grew shows that the log and perhaps the view have changed. stale says that messages may stand elsewhere than before.
  grew(length, stale) {
    const atEnd = this.logList.atEnd();
    this.log.grow(length, stale);
    this.viewArrived();
    if (atEnd && !this.conversation.checked) {
      this.logList.toEnd();
    }
  }

  logArrived() {
    this.logList.draw();
  }

  // goTo shows a message that is named elsewhere on the page.
  goTo(index) {
    this.choose(index);
    this.logList.root.focus();
  }

  // choose shows a message of the log, and what the view has of it.
  async choose(index) {
    if (index < 0 || index >= this.log.length) {
      return;
    }
    this.chosen = index;
    this.logList.find(index);
    const logged = await this.log.loaded(index);
    if (!logged || this.chosen !== index) {
      return;
    }
    const { view } = this;
    const place = placeOf(view, logged);
    const state = stateOf(view, logged);
    fill(this.ofLog, element("h3", {}, `#${index} in the log`), facts(logged, state, (call) => this.choose(call)), showMessage(logged.message),
      element("p", { class: "tools" }, ...this.buttons(logged)));
    if (place === undefined) {
      this.viewList.none();
      this.shownPlace = undefined;
      const said = view.whole ? `The view does not have it. ${meaningOf(state)}` : "The view is still being loaded.";
      fill(this.ofView, element("h3", {}, "In the view"), element("p", { class: "note" }, said));
      return;
    }
    this.viewList.find(place);
    this.showOfView(place);
  }

  // chooseOfView shows a message of the view, as far as that is loaded, and what it stands for.
  chooseOfView(place) {
    if (place >= this.view.messages.length) {
      return;
    }
    const { index } = this.view.messages[place];
    if (index !== undefined) {
      this.choose(index);
      return;
    }
    this.chosen = undefined;
    this.logList.none();
    this.viewList.find(place);
    fill(this.ofLog, element("h3", {}, "In the log"), element("p", { class: "note" }, "It is no message of the log."));
    this.showOfView(place);
  }

  // A message that is shown already stays where it is scrolled to, as a summary whose citations are followed.
  showOfView(place) {
    this.found(place);
    if (this.shownPlace === place) {
      return;
    }
    this.shownPlace = place;
    const m = this.view.messages[place];
    const cite = m.summaryOf === undefined ? undefined : (index) => this.choose(index);
    const name = originOf(m);
    fill(this.ofView, element("h3", {}, m.index === undefined ? name : `${name} in the view`), factsOfView(m), showMessage(m.message, cite));
  }

  // filter shows all messages, or only the conversation, as far as it is loaded.
  async filter() {
    this.filtering.abort();
    this.filtering = new AbortController();
    const { log, logList, viewList, view } = this;
    if (!this.conversation.checked) {
      logList.resize(log.length);
      viewList.resize(view.messages.length);
      this.select();
      return;
    }
    logList.pick([]);
    viewList.pick([...view.messages.keys()].filter((i) => inConversation(view.messages[i])));
    this.select();
    const mine = AbortSignal.any([this.signal, this.filtering.signal]);
    try {
      await loadConversation(this.id, (indexes) => logList.pick(indexes.filter((i) => i < log.length)), mine);
      this.select();
    } catch (error) {
      if (!mine.aborted) {
        this.failed(error);
      }
    }
  }

  // select marks what is chosen, without scrolling to it.
  select() {
    this.logList.find(this.chosen);
    this.viewList.find(this.shownPlace);
  }
}

// failing returns what shows the errors of a session, and a function that takes one.
export function failing(signal) {
  const root = element("p", { role: "alert" });
  const failed = (error) => {
    if (!signal.aborted) {
      root.textContent = shown(error.message);
    }
  };
  return { root, failed, clear: () => { root.textContent = ""; } };
}
