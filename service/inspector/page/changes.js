// The changes that the page offers, where the daemon lets it: what each would do, and how each is taken back.

import { call, stream } from "./api.js";
import { element } from "./dom.js";
import { compact, prune } from "./plans.js";
import { planOf } from "./running.js";
import { count, counted, joined, line } from "./text.js";

// changesOf returns the changes of a session, by name. Each takes place once it is proposed and agreed to.
export function changesOf(sessionId, signal) {
  const ask = (rpc, request) => call(rpc, { sessionId, ...request }, signal);

  function compaction() {
    const focus = field("focus", "What the summary should pay most attention to, if anything");
    return {
      title: "Compact",
      fields: [focus.root],
      ask: async () => {
        const plan = unlessSkipped(await compact({ sessionId }, signal));
        return [`${planOf(plan)}.`, "The log keeps every message. Once it is committed, Undo takes it back: it puts aside what is appended until then."];
      },
      act: async () => {
        const said = await begin({ sessionId, focus: focus.input.value, detach: true }, signal);
        return { done: said, back: "The page shows how it goes on, and it goes on without the page. Cancel it as long as it runs, or undo it after." };
      },
    };
  }

  function pruning() {
    return {
      title: "Prune",
      ask: async () => {
        const plan = unlessSkipped(await prune({ sessionId }, signal));
        return [`Edits ${counted(plan.edits?.length ?? 0, "place")} of the view, without a summary: ${count(plan.tokensBefore ?? 0)} → ` +
          `${count(plan.tokensAfter ?? 0)} tokens.`, "The log keeps every message, and Undo takes it back."];
      },
      act: async () => {
        const { prune: entry } = await ask("CompactionService/Prune", {});
        return entry ? {
          done: `Done: ${count(entry.tokensBefore ?? 0)} → ${count(entry.tokensAfter ?? 0)} tokens.`,
          back: `A revert to point ${count(entry.sequence - 1)} takes it back.`, undo: revert(entry.sequence - 1),
        } : { done: "There was nothing to do any more." };
      },
    };
  }

  function checkpoint() {
    const title = field("checkpoint", "Its title");
    return {
      title: "Make a checkpoint",
      fields: [title.root],
      ask: async () => ["Names the end of the log, so that a revert can go back to it. The view stays as it is.", "A checkpoint cannot be taken away again."],
      act: async () => {
        const { checkpoint: made } = await ask("SessionService/CreateCheckpoint", { title: title.input.value });
        return { done: `Done: checkpoint ${count(made.id)}, at point ${count(made.point ?? 0)}.`, back: "It changes no view, and stays." };
      },
    };
  }

  function pin(index, pinned) {
    return {
      title: `${pinned ? "Unpin" : "Pin"} #${index}`,
      ask: async () => [pinned ? "Lets it be summarized and edited again. Edits that were made before are in force again."
        : "Keeps it word for word in every view, whatever is compacted or pruned. With a tool call or a result, the whole tool group is pinned.",
      `${pinned ? "Pin" : "Unpin"} takes it back.`],
      act: async () => {
        const { record } = await ask(`SessionService/${pinned ? "UnpinMessages" : "PinMessages"}`, { indexes: [index] });
        const members = (record?.pin ?? record?.unpin)?.members?.length ?? 0;
        return { done: `Done: ${counted(members, "message")} ${pinned ? "unpinned" : "pinned"}.`, back: `${pinned ? "Pin" : "Unpin"} takes it back.`, undo: pin(index, !pinned) };
      },
    };
  }

  function revert(point) {
    return going(`Revert to point ${count(point)}`, { point });
  }

  function undo() {
    return going("Undo the newest change of the view", { undo: true });
  }

  function going(title, target) {
    return {
      title,
      ask: async () => {
        const { record, messagesPutAside = 0, report } = await ask("SessionService/RevertToCheckpoint", { ...target, dryRun: true });
        if (!record) {
          throw new Error("The view is already as it was there: there is nothing to do.");
        }
        return [`The view is then again that of point ${count(record.revert.point ?? 0)}: ${joined(
          `${counted(messagesPutAside, "message")} put aside`, `${count(report.tokens ?? 0)} tokens after`,
        )}.`, "The log keeps what is put aside. Another revert takes it back. Files and the outside world are not reverted."];
      },
      act: async () => {
        const { record, messagesPutAside = 0 } = await ask("SessionService/RevertToCheckpoint", target);
        if (!record) {
          return { done: "There was nothing to do any more." };
        }
        const before = record.sequence - 1;
        return { done: `Done: ${counted(messagesPutAside, "message")} put aside.`, back: `A revert to point ${count(before)} takes it back.`, undo: revert(before) };
      },
    };
  }

  return { compaction, pruning, checkpoint, pin, revert, undo };
}

function unlessSkipped(plan) {
  if (plan.skipped) {
    throw new Error(plan.skipped);
  }
  return plan;
}

// begin starts a compaction that goes on by itself, and says how it began.
async function begin(request, signal) {
  for await (const { event } of stream("CompactionService/Compact", request, signal)) {
    if (event?.skipped) {
      throw new Error(event.skipped.message || "nothing to do");
    }
    if (event?.started) {
      return `Begun: ${line(planOf(event.started.plan ?? {}), 300)}.`;
    }
  }
  return "It has ended.";
}

function field(id, label) {
  const input = element("input", { id, autocomplete: "off", maxlength: 500 });
  return { input, root: element("p", { class: "field" }, element("label", { for: id }, label), input) };
}
