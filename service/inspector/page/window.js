// What is in the window: tokens by category, the largest messages, and what would free them.

import { canFollow } from "./api.js";
import { compositionOf, kindOf } from "./composition.js";
import { element, fill } from "./dom.js";
import { firstWords } from "./message.js";
import { ofPresets, ofSession, outcomeOf } from "./plans.js";
import { originOf } from "./rows.js";
import { count, counted, line, shown } from "./text.js";

const mostLargest = 12;

// windowPanel returns a part of the page that says what a view has in it, once it is opened. now() says whether the view is
// the newest one, of which can be asked what would free it, and goTo is called with the index of a message that is chosen.
export function windowPanel(session, { now, goTo }, signal) {
  let view;
  let stale = true;
  // Whether dry runs were asked for, whose answers somebody may be reading.
  let answered = false;
  const inside = element("div");
  const older = element("div", { role: "status" });

  function show(of) {
    const grown = of === view;
    view = of;
    stale = true;
    if (!root.open) {
      return;
    }
    if (grown && answered) {
      fill(older, element("p", { class: "tools" }, "This is how the session was when it was asked.",
        element("button", { class: "small", onclick: draw }, "Show it as it is now")));
    } else {
      draw();
    }
  }

  function draw() {
    if (!view?.whole) {
      fill(inside, element("p", { role: "status" }, "The view is being loaded …"));
      return;
    }
    stale = false;
    answered = false;
    fill(older);
    const largest = element("div", {}, largestOf(view, undefined, goTo));
    const asked = () => { answered = true; };
    fill(inside, older, categoriesOf(view), largest,
      now() ? freeing(session, view, asked, (outcomes) => fill(largest, largestOf(view, outcomes, goTo)), signal)
        : canFollow ? element("p", { class: "note" }, "What would free them can only be asked of the newest view.") : undefined);
  }

  const root = element("details", { class: "panel", ontoggle: () => { if (root.open && stale) draw(); } },
    element("summary", {}, "The window"), inside);
  return { root, show };
}

function share(tokens, all) {
  return all > 0 ? `${(100 * tokens / all).toFixed(1)} %` : "";
}

function meter(tokens, all, name) {
  return element("meter", { min: 0, max: Math.max(1, all), value: Math.min(tokens, all), "aria-label": name });
}

export function table(caption, heads, rows) {
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    element("table", {},
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...heads.map(([name, kind]) => element("th", { scope: "col", class: kind },
        kind === "bar" ? element("span", { class: "hidden" }, name) : name)))),
      element("tbody", {}, ...rows)));
}

const number = (text) => element("td", { class: "number" }, text);

function categoriesOf(view) {
  const { contextWindow, overheadTokens = 0 } = view.report ?? {};
  const parts = compositionOf(view.messages);
  if (overheadTokens > 0) {
    parts.push({ category: "tools and prompts outside of the log", tokens: overheadTokens });
  }
  const used = parts.reduce((sum, part) => sum + part.tokens, 0);
  if (contextWindow > used) {
    parts.push({ category: "free", tokens: contextWindow - used });
  }
  const all = Math.max(used, contextWindow ?? 0);
  return table("Tokens by category", [["Category"], ["Messages", "number"], ["Tokens", "number"], ["Share of the window", "number"], ["Bar", "bar"]],
    parts.map(({ category, tokens, messages }) => element("tr", {},
      element("th", { scope: "row" }, category), number(messages === undefined ? "" : count(messages)),
      number(count(Math.round(tokens))), number(share(tokens, all)), element("td", { class: "bar" }, meter(tokens, all, category)))));
}

// largestOf lists the largest messages. outcomes are those of the plans that would free some of them.
function largestOf(view, outcomes, goTo) {
  const places = [...view.messages.keys()].sort((a, b) => (view.messages[b].tokens ?? 0) - (view.messages[a].tokens ?? 0)).slice(0, mostLargest);
  const heads = [["Message"], ["Kind"], ["Tokens", "number"], ["Share of the view", "number"]];
  if (outcomes) {
    heads.push(["What would free it"]);
  }
  return table("The largest messages", heads, places.map((place) => {
    const m = view.messages[place];
    const name = originOf(m);
    return element("tr", {},
      element("th", { scope: "row" },
        m.index === undefined ? name : element("button", { class: "cite", onclick: () => goTo(m.index) }, name),
        element("span", { class: "title", dir: "auto" }, line(firstWords(m.message), 80))),
      element("td", {}, kindOf(m)), number(count(m.tokens ?? 0)), number(share(m.tokens ?? 0, view.tokens)),
      outcomes ? element("td", { class: "remedies" }, remediesOf(place, outcomes)) : undefined);
  }));
}

function remediesOf(place, outcomes) {
  return outcomes.filter(({ outcome }) => outcome?.changes.has(place)).map(({ plan, outcome }) => {
    const { gone, less } = outcome.changes.get(place);
    return gone ? `${plan.name}: the summary covers it` : `${plan.name}: ${count(less)} less`;
  }).join("; ") || "none of these";
}

// freeing asks, where it is told to, what would free tokens. asked is called when it begins, and known with what the plans of
// the session would do.
function freeing(session, view, asked, known, signal) {
  const said = element("p", { role: "status" });
  const rows = element("div");
  const outcomes = [];

  async function ask(button, plans) {
    button.disabled = true;
    asked();
    try {
      for (const plan of await plans()) {
        said.textContent = `Asking what ${shown(plan.name)} would do …`;
        outcomes.push(await tried(plan, view, signal));
        fill(rows, plansTable(outcomes, view));
      }
      said.textContent = "Nothing was changed.";
      known(outcomes.filter(({ plan }) => plan.own));
    } catch (error) {
      if (!signal.aborted) {
        said.textContent = shown(error.message);
      }
      button.disabled = false;
    }
  }

  const own = element("button", { onclick: () => ask(own, () => ofSession(session)) }, "What would free tokens?");
  const presets = element("button", { onclick: () => ask(presets, () => ofPresets(session, signal)) }, "Compare presets");
  return element("div", {}, element("p", { class: "tools" }, own, presets), said, rows);
}

// tried returns what a plan would do, or why it would not.
async function tried(plan, view, signal) {
  try {
    const planned = await plan.ask(signal);
    return planned.skipped ? { plan, why: planned.skipped } : { plan, planned, outcome: outcomeOf(planned, view.messages) };
  } catch (error) {
    if (signal.aborted) {
      throw error;
    }
    return { plan, why: error.message };
  }
}

function plansTable(outcomes, view) {
  const heads = [["Dry run"], ...["Tokens before", "After, at most", "Less", "Summarized", "Edited", "Still cached", "Read anew"]
    .map((name) => [name, "number"]), ["Summarizer"]];
  return element("div", {}, table("What would free tokens", heads, outcomes.map(({ plan, planned, outcome, why }) => element("tr", {},
    element("th", { scope: "row" }, shown(plan.name), element("span", { class: "title" }, line(plan.says, 90))),
    ...(outcome ? [
      number(count(outcome.before)), number(count(outcome.after)), number(share(Math.max(0, outcome.before - outcome.after), outcome.before)),
      number(outcome.kept === undefined ? "–" : counted(outcome.removed, "message")), number(count(outcome.edited)),
      number(`${count(outcome.prefix)} (${share(outcome.prefix, view.tokens)})`), number(count(Math.max(0, outcome.after - outcome.prefix))),
      element("td", {}, costOf(planned)),
    ] : [element("td", { colspan: heads.length - 1 }, shown(why))])))),
  element("p", { class: "note" }, "After counts the summary with the most that it may have. Still cached are the tokens at the start of the " +
    "next request that stay as they are, so that a provider's prompt cache still has them; the rest is read anew, once. Now all " +
    `${count(view.tokens)} are.`));
}

function costOf(planned) {
  if (!planned.cut) {
    return "–";
  }
  const cost = planned.estimatedCostUsd === undefined ? "" : `, about ${planned.estimatedCostUsd.toFixed(4)} USD`;
  return planned.summarizerInputTokens ? `${count(planned.summarizerInputTokens)} tokens in ${counted(planned.chunks ?? 1, "call")}${cost}` : "no model";
}
