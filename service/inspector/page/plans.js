// What prunes and compactions would do now, without doing it.

import { call, stream } from "./api.js";
import { words } from "./text.js";

// ofSession are the plans of a session: a name, and what asks for each.
export function ofSession(session) {
  const sessionId = session.sessionId;
  const plans = [
    { name: "Prune", says: "by the policy of this session", ask: (signal) => prune({ sessionId }, signal) },
    { name: "Hide results", says: "all but those of the newest tool group", ask: (signal) => prune({ sessionId, policy: hideAll }, signal) },
    { name: "Compact", says: "by the policy of this session", ask: (signal) => compact({ sessionId }, signal) },
  ];
  return plans.map((plan) => ({ ...plan, own: true }));
}

const hideAll = { pruneStrategy: { hideToolResults: { keepGroups: 1, minimumTokens: 0 } } };

// ofPresets returns a plan for each preset, and for each policy that the operator named.
export async function ofPresets(session, signal) {
  const { contextWindow, maxOutputTokens } = session.resolvedPolicy ?? {};
  const { presets = [] } = await call("CompactionService/ListStrategies", { contextWindow, maxOutputTokens }, signal);
  return presets.filter(({ policy }) => policy).map(({ name, description, policy }) => ({
    name, says: description, ask: (signal) => compact({ sessionId: session.sessionId, policy }, signal),
  }));
}

// compact returns the plan of a compaction, or why there is none.
export async function compact(request, signal) {
  let skipped;
  for await (const { event } of stream("CompactionService/Compact", { ...request, dryRun: true }, signal)) {
    if (event?.planned) {
      return event.planned.skipReason ? { skipped: words(event.planned.skipReason, "SKIP_REASON_") } : event.planned;
    }
    skipped = event?.skipped ?? skipped;
  }
  return { skipped: skipped?.message || "nothing to do" };
}

// prune returns the plan of a prune in the shape of that of a compaction.
export async function prune(request, signal) {
  const answer = await call("CompactionService/Prune", { ...request, dryRun: true }, signal);
  return answer.prune ?? { skipped: answer.message || words(answer.skipReason ?? "SKIP_REASON_", "SKIP_REASON_") };
}

// outcomeOf returns what a plan would make of a view. A summary counts with the most that it may have.
export function outcomeOf(plan, messages) {
  const freed = new Map();
  for (const edit of plan.edits ?? []) {
    freed.set(edit.index ?? 0, (freed.get(edit.index ?? 0) ?? 0) + (edit.tokensFreed ?? 0));
  }
  const kept = plan.cut?.firstKeptIndex;
  const before = plan.tokensBefore ?? 0;
  let tokens = before;
  const outcome = { before, removed: 0, edited: 0, prefix: 0, after: 0, kept, changes: new Map(), summary: plan.cut?.maxSummaryTokens ?? 0 };
  const leading = leadingOf(messages);
  let same = true;
  messages.forEach((m, place) => {
    const gone = kept !== undefined && place >= leading && isCut(m, kept);
    const less = gone ? m.tokens ?? 0 : Math.min(freed.get(m.index) ?? 0, m.tokens ?? 0);
    const edited = !gone && m.index !== undefined && freed.has(m.index);
    if (gone || edited) {
      same = false;
      outcome.changes.set(place, { gone, less });
      outcome.removed += gone ? 1 : 0;
      outcome.edited += gone ? 0 : 1;
      tokens -= less;
    } else if (same && (kept === undefined || place < leading)) {
      outcome.prefix += m.tokens ?? 0;
    }
  });
  outcome.after = Math.max(0, plan.tokensAfter ?? tokens + outcome.summary);
  return outcome;
}

// isCut says whether a cut takes a message out of the view.
function isCut(m, kept) {
  if (m.outOfPlace || m.contextBlock) {
    return false;
  }
  return m.summaryOf !== undefined || (m.folded?.end ?? m.logRepair?.index ?? m.index ?? kept) < kept || (m.folded && m.folded.end === kept);
}

// leadingOf returns how many messages at the start of a view no compaction touches.
function leadingOf(messages) {
  const end = messages.findIndex((m) => !(m.instructions !== undefined || m.contextBlock ||
    m.index !== undefined && ["ROLE_SYSTEM", "ROLE_DEVELOPER"].includes(m.message.role)));
  return end < 0 ? messages.length : end;
}
