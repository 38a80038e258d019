// The list of sessions.

import { call, canFollow } from "./api.js";
import { element, fill } from "./dom.js";
import { addressOf } from "./family.js";
import { Fullness } from "./fullness.js";
import { count, line, shown, time } from "./text.js";

const pageSize = 200;
const refreshing = 5000;
const liveFor = 60_000;

// showSessions shows the sessions that changed last, with a field that filters those that are loaded.
export async function showSessions(main, signal) {
  const loaded = [];
  const fullness = new Fullness(signal);
  let next = "";
  const filter = element("input", { id: "filter", type: "search", oninput: draw });
  const since = element("input", { id: "since", type: "date", onchange: draw });
  const found = element("p", { id: "found", role: "status" });
  const body = element("tbody");
  const more = element("button", { onclick: () => load() }, "Load more");

  async function load() {
    const answer = await call("SessionService/ListSessions", {
      pageSize, pageToken: next, order: "SESSION_ORDER_CHANGED",
    }, signal);
    loaded.push(...(answer.sessions ?? []));
    next = answer.nextPageToken ?? "";
    draw();
  }

  // refresh brings what has changed to the top, as long as the page is looked at.
  async function refresh() {
    if (document.hidden) {
      return;
    }
    const answer = await call("SessionService/ListSessions", { pageSize, order: "SESSION_ORDER_CHANGED" }, signal).catch(() => ({}));
    const newest = answer.sessions ?? [];
    const known = new Map(loaded.map((s) => [s.uid, s]));
    const changed = newest.some((s) => known.get(s.uid)?.changedAt !== s.changedAt);
    const ended = loaded.some((s) => s.live && !isLive(s));
    if (changed) {
      const listed = new Set(newest.map((s) => s.uid));
      loaded.splice(0, loaded.length, ...newest, ...loaded.filter((s) => !listed.has(s.uid)));
    }
    if (changed || ended) {
      draw();
    }
  }

  function draw() {
    const sought = filter.value.toLowerCase();
    const from = since.value ? new Date(`${since.value}T00:00`).getTime() : 0;
    const hits = loaded.filter((s) => searched(s).includes(sought) && new Date(s.changedAt).getTime() >= from);
    const focused = body.contains(document.activeElement) ? document.activeElement.getAttribute("href") : undefined;
    fill(body, ...hits.map((s) => row(s, fullness)));
    [...body.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus();
    found.textContent = `${count(hits.length)} of ${count(loaded.length)} loaded sessions`;
    more.hidden = next === "";
  }

  await load();
  fill(main,
    element("div", { class: "filters" },
      element("label", { for: "filter" }, "Id, title or label"), filter,
      element("label", { for: "since" }, "Changed since"), since),
    found,
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Sessions" },
      element("table", {},
        element("caption", { class: "hidden" }, "Sessions, last changed first"),
        element("thead", {}, element("tr", {},
          element("th", { scope: "col" }, "Session"),
          ...["Messages", "Active", "Compacted up to", "Window"].map((h) => element("th", { scope: "col", class: "number" }, h)),
          element("th", { scope: "col" }, "Changed"))),
        body)),
    more);
  if (canFollow) {
    const timer = setInterval(refresh, refreshing);
    signal.addEventListener("abort", () => clearInterval(timer));
    document.addEventListener("visibilitychange", refresh, { signal });
  }
}

// isLive says whether a session has changed within the last minute.
function isLive(s) {
  return Date.now() - new Date(s.changedAt).getTime() < liveFor;
}

function searched(s) {
  const labels = Object.entries(s.labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return [s.sessionId, s.title ?? "", ...labels].join("\n").toLowerCase();
}

function row(s, fullness) {
  s.live = canFollow && isLive(s);
  const labels = Object.entries(s.labels ?? {}).map(([key, value]) =>
    element("span", { class: "label" }, line(`${key}=${value}`, 60)));
  const full = element("td", { class: "number" });
  const made = element("tr", {},
    element("th", { scope: "row" },
      element("a", { href: addressOf(s.sessionId) }, shown(s.sessionId)),
      s.live ? element("span", { class: "state live" }, "live") : undefined,
      s.title ? element("span", { class: "title" }, line(s.title, 100)) : undefined,
      ...labels),
    element("td", { class: "number" }, count(s.nextIndex ?? 0)),
    element("td", { class: "number" }, count(s.activeMessages ?? 0)),
    element("td", { class: "number" }, s.compactionId ? `#${count(s.firstKeptIndex - 1)}` : "not"),
    full,
    element("td", { class: "when" }, time(s.changedAt)));
  fullness.fill(made, full, s);
  return made;
}
