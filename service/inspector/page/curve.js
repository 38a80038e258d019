// The tokens of the view over time, as a curve, against the window and where compaction is due.

import { drawing, element, fill } from "./dom.js";
import { historyOf } from "./history.js";
import { count, counted, joined, shown } from "./text.js";

const width = 1000;
const height = 200;
const mostPoints = 1000;

const kinds = {
  compaction: { names: ["compaction"], is: (record) => record.compaction },
  prune: { names: ["prune"], is: (record) => record.prune },
  revert: { names: ["revert"], is: (record) => record.revert },
  attempt: { names: ["attempt that did nothing", "attempts that did nothing"], is: (record) => record.attempt },
};

// curveOf returns a part of the page with the curve. Its load draws it, goTo is called with a point that is chosen on it, and
// report() is the newest report.
export function curveOf(session, report, goTo, signal) {
  const root = element("figure", { class: "curve" });
  let asked = 0;

  async function load() {
    const mine = ++asked;
    const said = element("p", { role: "status" }, "Loading the curve …");
    if (!root.firstChild) {
      fill(root, said);
    }
    try {
      const history = await historyOf(session, (at, all) => { said.textContent = `Loading the curve: ${count(at)} of ${count(all)} …`; }, signal);
      if (mine === asked) {
        fill(root, ...drawn(history, report(), goTo));
      }
    } catch (error) {
      if (!signal.aborted && mine === asked) {
        fill(root, element("p", { role: "status" }, shown(error.message)));
      }
    }
  }

  return { root, load };
}

function drawn({ tokens, records }, { contextWindow, triggerTokens }, goTo) {
  const most = tokens.reduce((a, b) => Math.max(a, b), 1);
  // A window that is much larger than all that was in it would leave no curve to look at.
  const top = 1.05 * Math.max(most, ...[contextWindow, triggerTokens].filter((n) => n !== undefined && n < 4 * most));
  const last = Math.max(1, tokens.length - 1);
  const x = (sequence) => width * sequence / last;
  const y = (n) => height * (1 - n / top);
  const line = (kind, x1, y1, x2, y2) => drawing("line", { class: kind, x1, y1, x2, y2, "vector-effect": "non-scaling-stroke" });
  const level = (kind, n) => n === undefined || n > top ? undefined : line(kind, 0, y(n), width, y(n));
  const points = thinned(tokens).map(([sequence, n]) => `${x(sequence).toFixed(1)},${y(n).toFixed(1)}`).join(" ");
  const marks = [];
  const numbers = [];
  for (const [kind, { names: [one, many], is }] of Object.entries(kinds)) {
    const found = records.filter(is);
    marks.push(...found.slice(-mostPoints).map(({ sequence }) => line(kind, x(sequence), height, x(sequence), 0)));
    if (found.length > 0) {
      numbers.push(element("span", { class: `key ${kind}` }, counted(found.length, one, many)));
    }
  }
  const said = joined(`${count(tokens.at(-1))} tokens of the view now`, `${count(most)} at most`, contextWindow && `window ${count(contextWindow)}`,
    triggerTokens && `compaction due at ${count(triggerTokens)}`);
  const svg = drawing("svg", {
    viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": `Tokens of the view over ${counted(tokens.length, "point")}: ${said}`,
    onclick: (event) => {
      const box = svg.getBoundingClientRect();
      goTo(Math.max(0, Math.min(last, Math.round((event.clientX - box.left) / box.width * last))));
    },
  }, level("window", contextWindow), level("trigger", triggerTokens), ...marks,
  drawing("polyline", { class: "tokens", points, "vector-effect": "non-scaling-stroke" }));
  return [svg, element("figcaption", {}, said, element("span", { class: "keys" }, ...numbers), element("span", { class: "note" },
    "Estimates of single messages, exact at compactions and prunes. A click goes to the point there; so do the points below."))];
}

// thinned returns points of a curve, of many the lowest and the highest of each stretch.
function thinned(tokens) {
  if (tokens.length <= mostPoints) {
    return [...tokens.entries()];
  }
  const stretch = tokens.length / (mostPoints / 2);
  const points = [];
  for (let from = 0; from < tokens.length; from += stretch) {
    const start = Math.floor(from);
    const end = Math.min(tokens.length, Math.max(start + 1, Math.floor(from + stretch)));
    let low = start;
    let high = start;
    for (let i = start; i < end; i++) {
      low = tokens[i] < tokens[low] ? i : low;
      high = tokens[i] > tokens[high] ? i : high;
    }
    points.push(...[...new Set([Math.min(low, high), Math.max(low, high)])].map((i) => [i, tokens[i]]));
  }
  points.push([tokens.length - 1, tokens.at(-1)]);
  return points;
}
