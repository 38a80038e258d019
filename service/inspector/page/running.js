// A compaction while it runs: its stage, its progress, and the summary as it is written; and how it ended.

import { call, canWrite } from "./api.js";
import { element, fill } from "./dom.js";
import { capital, count, counted, joined, shown, words } from "./text.js";

const endings = ["completed", "skipped", "failed", "cancelled"];

// runningPanel returns a part of the page that is there while a compaction runs, and after it until it is put away. Call its
// event with each event. compare is called with the record of one that has completed, to show what it changed.
export function runningPanel(session, compare, signal) {
  let operation;
  let attempt;
  const title = element("h2");
  const stage = element("p", { role: "status" });
  const progress = element("progress", { "aria-label": "Progress of the stage" });
  const plan = element("p", { class: "note" });
  const summary = element("pre", { dir: "auto", tabindex: 0, role: "region", "aria-label": "Summary" });
  const written = element("details", { open: true }, element("summary", {}, "The summary, as it is written"), element("div", { class: "message" }, summary));
  const tools = element("p", { class: "tools" });
  const root = element("section", { class: "running", "aria-label": "Compaction", hidden: true });

  function begin(id) {
    operation = id;
    attempt = undefined;
    title.textContent = "A compaction runs";
    stage.textContent = "";
    plan.textContent = "";
    fill(summary);
    fill(tools, canWrite ? element("button", { onclick: cancel }, "Cancel it") : undefined);
    progress.removeAttribute("value");
    fill(root, title, stage, progress, plan, written, tools);
    root.hidden = false;
  }

  function event(e) {
    if (e.operationId !== operation) {
      begin(e.operationId);
    }
    const ending = endings.find((kind) => e[kind]);
    if (e.started) {
      plan.textContent = planOf(e.started.plan ?? {});
    } else if (e.progress) {
      move(e.progress);
    } else if (e.summaryDelta) {
      write(e.summaryDelta);
    } else if (ending) {
      end(ending, e[ending]);
    }
  }

  function move({ stage: name, done = 0, total = 0 }) {
    const said = `Stage: ${words(name, "COMPACTION_STAGE_")}`;
    if (stage.textContent !== said) {
      stage.textContent = said;
    }
    progress.max = Math.max(1, total);
    progress.value = done;
  }

  function write({ attempt: number = 1, text = "" }) {
    if (number !== attempt) {
      attempt = number;
      fill(summary);
    }
    summary.append(shown(text));
  }

  function end(kind, ending) {
    title.textContent = `The compaction ${kind === "completed" ? "is completed" : kind === "skipped" ? "was skipped" : kind === "failed" ? "has failed" : "was cancelled"}`;
    stage.textContent = kind === "completed" ? madeOf(ending)
      : joined(ending.reason && words(ending.reason, kind === "failed" ? "ERROR_REASON_" : "SKIP_REASON_"), shown(ending.message ?? ""));
    progress.remove();
    const record = ending.compaction ?? ending.prune;
    fill(tools,
      kind === "completed" && record ? element("button", { onclick: () => compare(record.sequence) }, "What it changed") : undefined,
      element("button", { onclick: () => { root.hidden = true; } }, "Put away"));
  }

  async function cancel(pressed) {
    pressed.target.disabled = true;
    try {
      await call("CompactionService/CancelCompaction", { sessionId: session, operationId: operation }, signal);
    } catch (error) {
      if (!signal.aborted) {
        stage.textContent = shown(error.message);
        pressed.target.disabled = false;
      }
    }
  }

  return { root, event };
}

// planOf says what a compaction does.
export function planOf({ cut, edits = [], tokensBefore = 0, chunks = 0, summarizerInputTokens = 0 }) {
  const { start = 0, end = 0 } = cut?.summarized ?? {};
  return capital(joined(
    cut && `summarizes #${start} to #${Math.max(start, end - 1)}`,
    edits.length > 0 && `edits ${counted(new Set(edits.map((edit) => edit.index ?? 0)).size, "message")}`,
    `${count(tokensBefore)} tokens before`,
    cut && `at most ${count(cut.maxSummaryTokens ?? 0)} tokens of summary`,
    summarizerInputTokens > 0 && `a model reads ${count(summarizerInputTokens)} tokens in ${counted(chunks, "call")}`,
  ));
}

function madeOf({ compaction, prune }) {
  const first = prune?.withCut ? prune : compaction ?? prune;
  const last = compaction ?? prune;
  return `${count(first.tokensBefore ?? 0)} → ${count(last.tokensAfter ?? 0)} tokens`;
}
