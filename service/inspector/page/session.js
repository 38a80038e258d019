// One session: what is in its window, its points, and its log and view side by side.

import { call, canFollow, canWrite } from "./api.js";
import { changesOf } from "./changes.js";
import { differencePanel } from "./difference.js";
import { element, fill } from "./dom.js";
import { Lists, failing } from "./lists.js";
import { familyOf, Forks } from "./family.js";
import { follow } from "./live.js";
import { propose } from "./proposal.js";
import { requestPanel } from "./request.js";
import { overview } from "./rows.js";
import { runningPanel } from "./running.js";
import { searchPanel } from "./search.js";
import { count } from "./text.js";
import { timePanel } from "./time.js";
import { View } from "./view.js";
import { windowPanel } from "./window.js";

// showSession shows a session: its view as of a point, if there is one, else as it is now; and a message, if one is named.
export async function showSession(main, id, { point: first, index }, signal) {
  const got = await call("SessionService/GetSession", { sessionId: id }, signal);
  const { session } = got;
  let { report } = got;
  const newest = new View(id);
  const problem = failing(signal);
  let view = newest;
  let point;
  let request;
  let leaving = new AbortController();

  const changes = changesOf(id, signal);
  const offer = (name, change) => element("button", { class: "small", onclick: () => propose(change(), signal) }, name);
  const lists = new Lists({
    session, found: (place) => request?.find(place), failed: problem.failed, signal,
    buttons: (logged) => [
      element("button", { class: "small", onclick: () => goBack(logged.sequence) }, "View as of here"),
      ...(canWrite ? [
        offer(logged.pinned ? "Unpin …" : "Pin …", () => changes.pin(logged.index ?? 0, logged.pinned)),
        offer("Revert to here …", () => changes.revert(logged.sequence)),
      ] : []),
    ],
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
    const { open = false } = request?.root ?? {};
    request = requestPanel(id, point, { view: () => view, choose: (place) => lists.chooseOfView(place) }, signal);
    request.root.open = open;
    fill(requests, request.root);
  }

  // update brings the page up to date with a log that has grown. stale says that messages may stand elsewhere than before.
  let updating = Promise.resolve();
  function update(length, stale) {
    updating = updating.then(async () => {
      const [now] = await Promise.all([call("SessionService/GetSession", { sessionId: id }, signal), newest.load(signal)]);
      Object.assign(session, now.session);
      report = now.report;
      fill(head, overview(session, report));
      lists.grew(Math.max(length, session.nextIndex ?? 0), stale);
      times.grew();
      if (view === newest) {
        contents.show(view);
        request.grew(stale);
      }
      if (stale && lists.chosen !== undefined) {
        lists.choose(lists.chosen);
      }
    }).catch(problem.failed);
  }

  const goTo = (chosen) => lists.goTo(chosen);
  const where = element("div", { class: "where", role: "status" });
  const requests = element("div");
  const head = element("div", {}, overview(session, report));
  const following = element("p", { class: "note", role: "status" });
  const difference = differencePanel(id, goTo, signal);
  const running = runningPanel(id, difference.show, signal);
  const forks = canFollow ? new Forks(session, signal) : undefined;
  const family = familyOf(session, forks, signal);
  const times = timePanel(session, forks, { at: () => point, goTo: goBack, compare: difference.show, report: () => report }, signal);
  const contents = windowPanel(session, { now: () => view === newest && canFollow, goTo }, signal);
  const actions = canWrite ? element("p", { class: "tools", role: "group", "aria-label": "Actions" },
    offer("Compact …", changes.compaction), offer("Prune …", changes.pruning), offer("Checkpoint …", changes.checkpoint),
    offer("Undo …", changes.undo)) : undefined;
  fill(main, element("p", {}, element("a", { href: "#/" }, "All sessions")),
    head, family.from, following, actions, problem.root, running.root,
    element("div", { class: "panels" }, contents.root, searchPanel(id, newest, goTo, signal), times.root, requests, ...family.panels),
    difference.root, where, lists.root);
  await goBack(undefined);
  updating = newest.load(signal, () => {
    if (view === newest) {
      lists.viewArrived();
    }
  });
  const loading = updating;
  updating = updating.catch(problem.failed);
  if (canFollow) {
    follow(session, { changed: update, event: running.event, said: (text) => { following.textContent = text; } }, signal);
  }
  if (first !== undefined) {
    await goBack(first);
  }
  if (index !== undefined) {
    lists.goTo(index);
  }
  await loading;
  if (view === newest) {
    contents.show(view);
    if (lists.chosen !== undefined) {
      lists.choose(lists.chosen);
    }
  }
}
