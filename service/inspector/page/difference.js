// What a record changed in the view: the messages that left, what stands for them, and what is shown otherwise.

import { call } from "./api.js";
import { element } from "./dom.js";
import { firstWords } from "./message.js";
import { originOf } from "./rows.js";
import { count, counted, joined, line, shown, words } from "./text.js";
import { View } from "./view.js";
import { Virtual } from "./virtual.js";

// differenceOf returns the rows of a difference between two views, in the order of the views: each with the message before,
// the message after, or both.
export function differenceOf(before, after) {
  const left = new Map(before.map((m) => [keyOf(m), m]));
  const come = new Map(after.map((m) => [keyOf(m), m]));
  const rows = [];
  const gone = (m) => !come.has(keyOf(m));
  let at = 0;
  for (const m of after) {
    const was = left.get(keyOf(m));
    if (was) {
      for (; at < before.length && before[at] !== was && gone(before[at]); at++) {
        rows.push({ before: before[at] });
      }
      at += before[at] === was ? 1 : 0;
      if (!same(was, m)) {
        rows.push({ before: was, after: m });
      }
    } else {
      rows.push({ after: m });
    }
  }
  rows.push(...before.slice(at).filter(gone).map((m) => ({ before: m })));
  return rows;
}

function keyOf(m) {
  switch (true) {
    case m.index !== undefined: return `#${m.index}`;
    case m.summaryOf !== undefined: return `summary ${m.summaryOf} ${m.message.role}`;
    case m.folded !== undefined: return `fold ${m.folded.start ?? 0} ${m.folded.end ?? 0}`;
    case m.contextBlock !== undefined: return `block ${m.contextBlock.name}`;
    case m.logRepair !== undefined: return `repair ${m.logRepair.index ?? 0} ${m.logRepair.part ?? 0}`;
    default: return `instructions ${m.instructions} ${m.message.role}`;
  }
}

function same(a, b) {
  return a.tokens === b.tokens && JSON.stringify(a.message) === JSON.stringify(b.message);
}

// pointsOf returns the points before and after a record. A compaction follows the prune of the same operation.
async function pointsOf(session, sequence, signal) {
  const { records = [] } = await call("SessionService/ListRecords", {
    sessionId: session, newestFirst: true, fromSequence: sequence, pageSize: 2,
  }, signal);
  const [record, previous] = records;
  const pair = record?.compaction && previous?.prune?.withCut && previous.sequence === sequence - 1;
  return [sequence - (pair ? 2 : 1), sequence];
}

// differencePanel returns a part of the page in which show(sequence) says what the record with it changed. goTo is called with
// the index of a message that is chosen.
export function differencePanel(session, goTo, signal) {
  const title = element("h2");
  const said = element("p", { role: "status" });
  const figures = element("p", { class: "note" });
  let rows = [];
  const list = new Virtual({
    label: "What changed", height: 48, rowOf: (i) => changeRow(rows[i]),
    opened: (i) => {
      const index = (rows[i].before ?? rows[i].after).index;
      if (index !== undefined) {
        goTo(index);
      }
    },
  });
  list.rows.dataset.of = "change";
  const root = element("section", { class: "panel", "aria-label": "What it changed", hidden: true }, title, said, figures, list.root,
    element("p", { class: "tools" }, element("button", { onclick: () => { root.hidden = true; } }, "Put away")));

  async function show(sequence) {
    root.hidden = false;
    title.textContent = `What the record of point ${count(sequence)} changed in the view`;
    said.textContent = "Loading both views …";
    figures.textContent = "";
    rows = [];
    list.resize(0);
    root.scrollIntoView({ block: "nearest" });
    try {
      const [first, last] = (await pointsOf(session, sequence, signal)).map((point) => new View(session, point));
      await Promise.all([first.load(signal), last.load(signal)]);
      rows = differenceOf(first.messages, last.messages);
      const left = rows.filter((row) => !row.after);
      const come = rows.filter((row) => !row.before);
      const changed = rows.filter((row) => row.before && row.after);
      said.textContent = rows.length === 0 ? "It changed no message of the view." : joined(
        `${counted(left.length, "message")} left, ${count(sum(left, "before"))} tokens`,
        `${counted(come.length, "message")} came, ${count(sum(come, "after"))} tokens`,
        `${counted(changed.length, "message")} changed, ${count(sum(changed, "before"))} → ${count(sum(changed, "after"))} tokens`,
      );
      figures.textContent = `The view: ${count(first.tokens)} → ${count(last.tokens)} tokens, under the policy of now.`;
      list.resize(rows.length);
    } catch (error) {
      if (!signal.aborted) {
        said.textContent = shown(error.message);
      }
    }
  }

  return { root, show };
}

function sum(rows, side) {
  return rows.reduce((all, row) => all + (row[side].tokens ?? 0), 0);
}

function changeRow({ before, after }) {
  const m = after ?? before;
  const kind = !after ? "left" : !before ? "came" : "changed";
  const tokens = [before, after].filter(Boolean).map((side) => count(side.tokens ?? 0)).join(" → ");
  const edits = (after?.edits ?? []).map((edit) => element("span", { class: "state" }, words(edit, "EDIT_KIND_")));
  return element("div", { class: "row", "data-change": kind },
    element("span", { class: "head" }, `${{ left: "−", came: "+", changed: "±" }[kind]} ${originOf(m)} ${words(m.message.role, "ROLE_")} · ${tokens} tokens`,
      element("span", { class: "state" }, kind), ...edits),
    element("span", { class: "words", dir: "auto" }, line(firstWords(m.message))));
}
