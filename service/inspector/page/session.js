// One session: what is in its window, its points, and its log and view side by side.

import { call, canFollow } from "./api.js";
import { element, fill } from "./dom.js";
import { Lists, failing } from "./lists.js";
import { requestPanel } from "./request.js";
import { overview } from "./rows.js";
import { searchPanel } from "./search.js";
import { count } from "./text.js";
import { timePanel } from "./time.js";
import { View } from "./view.js";
import { windowPanel } from "./window.js";

// showSession shows a session: its view as of a point, if there is one, else as it is now; and a message, if one is named.
export async function showSession(main, id, { point: first, index }, signal) {
  const { session, report } = await call("SessionService/GetSession", { sessionId: id }, signal);
  const newest = new View(id);
  const problem = failing(signal);
  let view = newest;
  let point;
  let leaving = new AbortController();

  const lists = new Lists({
    session, failed: problem.failed, signal,
    buttons: (logged) => [element("button", { class: "small", onclick: () => goBack(logged.sequence) }, "View as of here")],
  });

  // goBack shows the view as of a point, or the newest one.
  async function goBack(asOf) {
    leaving.abort();
    leaving = new AbortController();
    const mine = AbortSignal.any([signal, leaving.signal]);
    let to = newest;
    try {
      if (asOf !== undefined) {
        to = new View(id, asOf);
        await to.load(mine);
      }
    } catch (error) {
      if (!mine.aborted) {
        problem.failed(error);
      }
      return;
    }
    view = to;
    point = asOf;
    problem.clear();
    history.replaceState(null, "", `#/session/${encodeURIComponent(id)}${point === undefined ? "" : `/${point}`}`);
    showPoint();
    lists.setView(view);
    contents.show(view);
  }

  // showPoint says which point the view is of.
  function showPoint() {
    if (where.contains(document.activeElement)) {
      lists.viewList.root.focus();
    }
    fill(where, ...(point === undefined ? [] : [
      element("p", {}, `This is the view as of point ${count(point)}: ${count(view.tokens)} tokens.`),
      element("button", { onclick: () => goBack(undefined) }, "Back to now"),
    ]));
    times.mark();
    const request = requestPanel(id, point, signal);
    request.open = requests.firstChild?.open ?? false;
    fill(requests, request);
  }

  const goTo = (chosen) => lists.goTo(chosen);
  const where = element("div", { class: "where", role: "status" });
  const requests = element("div");
  const times = timePanel(session, () => point, goBack, signal);
  const contents = windowPanel(session, { now: () => view === newest && canFollow, goTo }, signal);
  fill(main, element("p", {}, element("a", { href: "#/" }, "All sessions")),
    overview(session, report), problem.root, contents.root,
    searchPanel(id, newest, goTo, signal), times.root, requests, where, lists.root);
  await goBack(undefined);
  const loading = newest.load(signal, () => {
    if (view === newest) {
      lists.viewArrived();
    }
  });
  if (first !== undefined) {
    await goBack(first);
  }
  if (index !== undefined) {
    lists.goTo(index);
  }
  await loading.catch(problem.failed);
  if (view === newest) {
    contents.show(view);
    if (lists.chosen !== undefined) {
      lists.choose(lists.chosen);
    }
  }
}
