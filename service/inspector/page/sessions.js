// The list of sessions.

import { call } from "./api.js";
import { element, fill } from "./dom.js";
import { count, line, shown, time } from "./text.js";

const pageSize = 200;

// showSessions shows the sessions that changed last, with a field that filters those that are loaded.
export async function showSessions(main, signal) {
  const loaded = [];
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

  function draw() {
    const sought = filter.value.toLowerCase();
    const from = since.value ? new Date(`${since.value}T00:00`).getTime() : 0;
    const hits = loaded.filter((s) => searched(s).includes(sought) && new Date(s.changedAt).getTime() >= from);
    fill(body, ...hits.map(row));
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
}

function searched(s) {
  const labels = Object.entries(s.labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return [s.sessionId, s.title ?? "", ...labels].join("\n").toLowerCase();
}

function row(s) {
  const labels = Object.entries(s.labels ?? {}).map(([key, value]) =>
    element("span", { class: "label" }, line(`${key}=${value}`, 60)));
  return element("tr", {},
    element("th", { scope: "row" },
      element("a", { href: `#/session/${encodeURIComponent(s.sessionId)}` }, shown(s.sessionId)),
      s.title ? element("span", { class: "title" }, line(s.title, 100)) : undefined,
      ...labels),
    element("td", { class: "number" }, count(s.nextIndex ?? 0)),
    element("td", { class: "number" }, count(s.activeMessages ?? 0)),
    element("td", { class: "number" }, s.compactionId ? `#${count(s.firstKeptIndex - 1)}` : "not"),
    element("td", { class: "number" }, s.resolvedPolicy?.contextWindow ? count(s.resolvedPolicy.contextWindow) : "unknown"),
    element("td", {}, time(s.changedAt)));
}
