// How full the windows of listed sessions are, which the daemon says of each session alone: asked of those in sight.

import { call } from "./api.js";
import { element, fill } from "./dom.js";
import { count } from "./text.js";

const atOnce = 4;

// Fullness fills cells with the window of their sessions, once their rows come into sight.
export class Fullness {
  constructor(signal) {
    this.signal = signal;
    this.known = new Map();
    this.cells = new WeakMap();
    this.waiting = [];
    this.asking = 0;
    this.seen = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting) {
          this.seen.unobserve(target);
          this.waiting.push(target);
          this.next();
        }
      }
    });
    signal.addEventListener("abort", () => this.seen.disconnect());
  }

  // fill fills a cell of a row. What is known of its session from before it has changed is shown until it is asked again.
  fill(row, cell, session) {
    const known = this.known.get(session.uid);
    show(cell, session, known?.report);
    if (known?.changedAt !== session.changedAt) {
      this.cells.set(row, { cell, session });
      this.seen.observe(row);
    }
  }

  next() {
    while (this.asking < atOnce && this.waiting.length > 0 && !this.signal.aborted) {
      this.asking++;
      this.ask(this.cells.get(this.waiting.shift())).finally(() => {
        this.asking--;
        this.next();
      });
    }
  }

  // A session whose window is not to be had, such as one that was deleted meanwhile, shows none.
  async ask({ cell, session }) {
    try {
      const { report } = await call("SessionService/GetSession", { sessionId: session.sessionId }, this.signal);
      this.known.set(session.uid, { changedAt: session.changedAt, report });
      show(cell, session, report);
    } catch {
      show(cell, session);
    }
  }
}

// windowMeter returns a bar of how full a window is. Its colour changes where compaction is due, and again where the window is full.
export function windowMeter(tokens, window, trigger = window) {
  return element("meter", {
    min: 0, max: window, value: Math.min(tokens, window), low: Math.min(trigger, window), high: Math.max(trigger, window - 1), optimum: 0,
    "aria-label": "Tokens of the window",
  });
}

function show(cell, session, report) {
  const window = report?.contextWindow ?? session.resolvedPolicy?.contextWindow;
  if (!report || !window) {
    fill(cell, window ? count(window) : "unknown");
    return;
  }
  const { tokens = 0, triggerTokens = window } = report;
  fill(cell,
    windowMeter(tokens, window, triggerTokens),
    element("span", { class: "title" }, `${(100 * tokens / window).toFixed(0)} % of ${count(window)}`));
}
