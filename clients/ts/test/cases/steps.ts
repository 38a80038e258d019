import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";

import type {
  CompactionOptions,
  CompactionResult,
  Element,
  FoldTarget,
  ListedCheckpoint,
  PolicyLike,
  View,
} from "../../src/index.js";
import { contentOf } from "../../src/contract/messages.js";
import * as v1 from "../../src/v1.js";
import { json, list } from "./answers.js";
import type { Runner } from "./runner.js";
import { content, request } from "./runner.js";
import type { Step } from "./table.js";
import { text } from "./table.js";

/** Does a step and returns its answer. */
type Does = (runner: Runner, step: Step) => Promise<JsonObject>;

/** What can be done, by its name. */
export const steps: Readonly<Record<string, Does>> = {
  create_session: async (runner, step) => {
    const { sessionId, labels, title, estimator } = request(v1.CreateSessionRequestSchema, step);
    const dialect = runner.dialectOf(step);
    const session = await runner.client.createSession({
      sessionId,
      labels,
      title,
      estimator,
      ...policyOf(step),
      ...(dialect !== undefined && { dialect }),
    });
    runner.keepSession(session);
    return {};
  },
  info: async (runner, step) => json(v1.GetSessionResponseSchema, await runner.session(step).info()),
  update: async (runner, step) => {
    const changes: { title?: string; labels?: Record<string, string>; policy?: PolicyLike } = policyOf(step);
    if (step["title"] !== undefined) {
      changes.title = text(step, "title");
    }
    if (step["labels"] !== undefined) {
      changes.labels = step["labels"] as Record<string, string>;
    }
    return { session: json(v1.SessionSchema, await runner.session(step).update(changes)) };
  },
  delete: async (runner, step) => {
    const { children } = request(v1.DeleteSessionRequestSchema, step);
    await runner.session(step).delete({ children });
    return {};
  },
  list_sessions: async (runner, step) => {
    const { labels, forkedFromSessionId: forkedFrom, order } = request(v1.ListSessionsRequestSchema, step);
    const by = order === v1.SessionOrder.CHANGED ? "changed" : "created";
    return { sessions: await list(v1.SessionSchema, runner.client.listSessions({ labels, forkedFrom, order: by })) };
  },
  append: async (runner, step) => {
    const session = runner.session(step);
    const view = step["from_view"] === true ? runner.lastView(session) : undefined;
    const options = request(v1.AppendMessagesRequestSchema, step, "messages", "json", "items", "raw", "from_view");
    const answer = await session.append(content(step), {
      strict: options.strict,
      modelAnswer: options.modelAnswer,
      ...(view !== undefined && { view }),
      ...(options.expectedNextIndex !== undefined && { expectedNextIndex: options.expectedNextIndex }),
      ...(options.requestId !== "" && { requestId: options.requestId }),
    });
    const told = json(v1.AppendMessagesResponseSchema, answer);
    delete told["point"];
    return told;
  },
  view: async (runner, step) => {
    const session = runner.session(step);
    const { asOf, thinking, maxBytes, markCacheBreakpoints, extraBlocks } = request(v1.GetLLMViewRequestSchema, step);
    const view = await session.view({
      maxBytes,
      markCacheBreakpoints,
      extraBlocks,
      ...(asOf !== undefined && { asOf }),
      ...(thinking !== undefined && { thinking: lower(v1.ThinkingPolicy, thinking) as "strip" }),
    });
    if (asOf === undefined) {
      runner.keepView(session, view);
    }
    return {
      ...shown(view),
      sent: view.messagesSent,
      report: json(v1.ContextReportSchema, view.report),
      disable_thinking: view.disableThinking,
    };
  },
  sync: async (runner, step) => {
    const session = runner.session(step);
    const last = step["from_view"] === true ? runner.lastView(session) : undefined;
    const synced = await session.sync([...elements(last), ...listed(step)], {
      compact: step["compact"] === true,
      view: step["leave_out_view"] !== true,
      ...systemOf(step),
    });
    if (synced.view !== undefined) {
      runner.keepView(session, synced.view);
    }
    return {
      ...(synced.view !== undefined && shown(synced.view)),
      known: synced.known,
      sent: synced.sent,
      appended: synced.appended,
      put_aside: synced.putAside,
      instructions_replaced: synced.instructionsReplaced,
      begins_with_view: synced.beginsWithView,
      next_index: synced.nextIndex,
      point: synced.point,
      findings: synced.findings.map((finding) => json(v1.FindingSchema, finding)),
      report: json(v1.ContextReportSchema, synced.report),
      compaction: json(v1.CompactionEntrySchema, synced.compacted),
    };
  },
  refresh: async (runner, step) => json(v1.GetSessionResponseSchema, await runner.session(step).refresh()),
  compacted: async (runner, step) => {
    const dialect = runner.dialectOf(step);
    const made = await runner.client.compacted(listed(step), {
      ...(dialect !== undefined && { dialect }),
      ...policyOf(step),
      ...systemOf(step),
      state: step["from_state"] === true ? runner.listState : "",
    });
    runner.listState = made.state;
    const state = (made.state === "" ? {} : JSON.parse(made.state)) as { covered?: number };
    return {
      ...shown(made.view),
      report: json(v1.ContextReportSchema, made.report),
      compacted: made.compacted,
      began_anew: made.beganAnew,
      covered: state.covered ?? 0,
    };
  },
  compact: async (runner, step) => result(await runner.session(step).compact(compactionOf(step))),
  compaction_events: async (runner, step) => {
    const kinds: string[] = [];
    for await (const { event } of runner.session(step).compacting(compactionOf(step))) {
      const kind = (event.case ?? "").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      if (kind !== "heartbeat" && kind !== kinds.at(-1)) {
        kinds.push(kind);
      }
    }
    return { events: kinds };
  },
  prune: async (runner, step) => {
    const { reason, dryRun, requestId } = request(v1.PruneRequestSchema, step);
    const options = { dryRun, ...policyOf(step), ...(requestId !== "" && { requestId }), ...reasonOf(reason) };
    return result(await runner.session(step).prune(options));
  },
  plan: async (runner, step) => {
    const asked = request(v1.PlanCompactionRequestSchema, step);
    const plan = await runner.client.compactions.planCompaction(asked);
    for (let more = plan.hasMore; more;) {
      const page = await runner.client.compactions.planCompaction({ ...asked, fromPrompt: plan.prompts.length });
      plan.prompts.push(...page.prompts);
      more = page.hasMore;
    }
    runner.plan = plan;
    return json(v1.PlanCompactionResponseSchema, plan);
  },
  commit: async (runner, step) => {
    const asked = request(v1.CommitCompactionRequestSchema, step);
    asked.planToken = runner.plan?.planToken ?? "";
    const { outcome } = await runner.client.compactions.commitCompaction(asked);
    return outcome.case === "completed"
      ? { ...json(v1.CompactionCompletedSchema, outcome.value), outcome: "completed" }
      : { ...json(v1.CompactionSkippedSchema, outcome.value), outcome: "skipped" };
  },
  compact_with: async (runner, step) => {
    const answer = { text: text(step, "answer"), model: text(step, "model") };
    const { fold } = compactionOf(step, "answer", "model");
    const options = fold === undefined ? {} : { fold };
    return result(await runner.session(step).compactWith(() => Promise.resolve(answer), options));
  },
  tool: async (runner, step) => {
    const given = step["arguments"];
    const written = typeof given === "string" ? given : JSON.stringify(given);
    const output = await runner.tools(step).handle({ name: text(step, "name"), arguments: written });
    return { text: output?.text ?? "", is_error: output?.isError ?? false };
  },
  checkpoint: async (runner, step) => {
    const { title, announce } = request(v1.CreateCheckpointRequestSchema, step);
    return json(v1.CheckpointSchema, await runner.session(step).checkpoint({ title, announce }));
  },
  checkpoints: async (runner, step) => ({
    checkpoints: await list(v1.RecordSchema, recordsOf(runner.session(step).checkpoints())),
  }),
  revert: async (runner, step) => {
    const { target, messageFromFuture, summarize, focus } = request(v1.RevertToCheckpointRequestSchema, step);
    const options = { messageFromFuture, summarize, focus };
    const session = runner.session(step);
    switch (target.case) {
      case "checkpointId":
        return json(v1.RevertToCheckpointResponseSchema, await session.revert({ toCheckpoint: target.value }, options));
      case "point":
        return json(v1.RevertToCheckpointResponseSchema, await session.revert({ point: target.value }, options));
      case "turns":
        return json(v1.RevertToCheckpointResponseSchema, await session.revert({ turns: target.value }, options));
      default:
        return json(v1.RevertToCheckpointResponseSchema, await session.revert({ undo: true }, options));
    }
  },
  clear: async (runner, step) => json(v1.ClearSessionResponseSchema, await runner.session(step).clear()),
  fork: async (runner, step) => {
    const { at, newSessionId, title, labels } = request(v1.ForkSessionRequestSchema, step);
    const fork = await runner.session(step).fork({
      newSessionId,
      title,
      labels,
      ...policyOf(step),
      ...(at.case === "checkpointId" && { atCheckpoint: at.value }),
      ...(at.case === "point" && { point: at.value }),
    });
    runner.keepSession(fork);
    return {};
  },
  child: async (runner, step) => {
    const { at, newSessionId, title, child } = request(v1.ForkSessionRequestSchema, step);
    const { sees, indexes = [], blocks = [], instructions = false } = child ?? {};
    const made = await runner.session(step).startChild({
      sessionId: newSessionId,
      title,
      sees: sees === v1.ChildSees.EVERYTHING ? "everything" : "nothing",
      messages: indexes,
      blocks,
      instructions,
      ...(at.case === "point" && { point: at.value }),
    });
    runner.keepSession(made);
    return {};
  },
  end: async (runner, step) => {
    const { result: text, isError, callId } = request(v1.EndChildRequestSchema, step);
    const ended = await runner.session(step).end(text, { isError, ...(callId !== "" && { call: callId }) });
    const told = json(v1.EndChildResponseSchema, ended);
    delete told["session"];
    return told;
  },
  children: async (runner, step) => ({
    sessions: await list(v1.SessionSchema, runner.session(step).children()),
  }),
  pin: async (runner, step) => {
    const { indexes } = request(v1.PinMessagesRequestSchema, step);
    return json(v1.PinMessagesResponseSchema, await runner.session(step).pin(indexes));
  },
  unpin: async (runner, step) => {
    const { indexes } = request(v1.UnpinMessagesRequestSchema, step);
    return json(v1.UnpinMessagesResponseSchema, await runner.session(step).unpin(indexes));
  },
  set_blocks: async (runner, step) => {
    const { set, remove } = request(v1.UpdateContextBlocksRequestSchema, step);
    const session = runner.session(step);
    const [given, ...others] = set;
    if (given === undefined) {
      return json(v1.UpdateContextBlocksResponseSchema, await session.removeBlock(remove));
    }
    if (others.length > 0 || remove.length > 0) {
      return json(v1.UpdateContextBlocksResponseSchema, await session.updateBlocks({ set, remove }));
    }
    const { name, parts, place, priority, maxTokens, turns, operator } = given;
    const changed = await session.setBlock(name, parts, {
      priority,
      operator,
      ...(place !== v1.BlockPlace.UNSPECIFIED && { place: lower(v1.BlockPlace, place) as "latest" }),
      ...(maxTokens > 0 && { maxTokens }),
      ...(turns > 0 && { turns }),
    });
    return json(v1.UpdateContextBlocksResponseSchema, changed);
  },
  blocks: async (runner, step) => {
    const { names, asOf } = request(v1.ListContextBlocksRequestSchema, step);
    const listed = runner.session(step).blocks({ names, ...(asOf !== undefined && { asOf }) });
    return { blocks: await list(v1.ContextBlockStateSchema, listed) };
  },
  replace_instructions: async (runner, step) => {
    const { messages } = request(v1.ReplaceInstructionsRequestSchema, step);
    return json(v1.ReplaceInstructionsResponseSchema, await runner.session(step).replaceInstructions(messages));
  },
  recall: async (runner, step) => {
    const { what, part, resultPart, range, maxBytes } = request(v1.RecallContentRequestSchema, step, "page");
    const answer = await runner.session(step).recall(what.value ?? "", {
      ...(part !== undefined && { part }),
      ...(resultPart !== undefined && { resultPart }),
      ...(range.case === "bytes" && { bytes: range.value }),
      ...(range.case === "lines" && { lines: range.value }),
      ...(range.case === "match" && { match: range.value }),
      ...(step["page"] === true && maxBytes > 0 && { maxBytes }),
    });
    return step["page"] === true ? json(v1.RecallContentResponseSchema, answer) : { text: answer.text };
  },
  search: async (runner, step) => {
    const { query, roles, states, newestFirst, snippetChars, includeChildren } = request(
      v1.SearchMessagesRequestSchema,
      step,
    );
    const what = query.case === "pattern" ? { pattern: query.value } : { words: query.value ?? "" };
    const hits = runner.session(step).search({ ...what, roles, states, newestFirst, snippetChars, includeChildren });
    return { hits: await list(v1.SearchHitSchema, hits) };
  },
  messages: async (runner, step) => {
    const { listing, fromIndex } = request(v1.ListMessagesRequestSchema, step);
    const which = listing === v1.MessageListing.DIALOGUE ? "dialogue" : "transcript";
    return {
      messages: await list(v1.LoggedMessageSchema, runner.session(step).messages({ listing: which, fromIndex })),
    };
  },
  records: async (runner, step) => {
    const { kinds, compactionId, newestFirst, fromSequence } = request(v1.ListRecordsRequestSchema, step);
    const filter = { kinds, compactionId, newestFirst, ...(fromSequence !== undefined && { fromSequence }) };
    return { records: await list(v1.RecordSchema, runner.session(step).records(filter)) };
  },
  compactions: async (runner, step) => ({
    compactions: await list(v1.CompactionEntrySchema, runner.session(step).compactions()),
  }),
  watch: async (runner, step) => {
    const { fromSequence, withoutContent } = request(v1.WatchSessionRequestSchema, step, "count");
    const items: JsonObject[] = [];
    for await (const kind of runner
      .session(step)
      .watch({ withoutContent, ...(fromSequence !== undefined && { fromSequence }) })) {
      items.push(json(v1.WatchSessionResponseSchema, create(v1.WatchSessionResponseSchema, { kind })));
      if (items.length === step["count"]) {
        break;
      }
    }
    return { items };
  },
  classify_error: async (runner, step) => {
    const asked = request(v1.ClassifyErrorRequestSchema, step);
    return json(v1.ClassifyErrorResponseSchema, await runner.client.classifyError(asked));
  },
  count_tokens: async (runner, step) => {
    const asked = request(v1.CountTokensRequestSchema, step, "messages", "json", "items", "raw");
    const given = ["messages", "json", "items", "raw"].some((name) => name in step);
    if (given) {
      const counted = create(v1.CountedMessagesSchema, contentOf(content(step), runner.dialectOf(step)));
      asked.what = { case: "messages", value: counted };
    }
    return json(v1.CountTokensResponseSchema, await runner.client.countTokens(asked));
  },
};

function policyOf(step: Step): { policy?: PolicyLike } {
  return step["policy"] === undefined ? {} : { policy: step["policy"] as JsonObject };
}

function reasonOf(reason: v1.CompactionReason): { reason?: "manual" } {
  return reason === v1.CompactionReason.UNSPECIFIED ? {} : { reason: lower(v1.CompactionReason, reason) as "manual" };
}

/** How the packages name a value of an enum. */
function lower(names: Readonly<Record<number, string>>, value: number): string {
  return (names[value] ?? "").toLowerCase();
}

function compactionOf(step: Step, ...but: string[]): CompactionOptions {
  const asked = request(v1.CompactRequestSchema, step, ...but);
  const { reason, focus, preempt, dryRun, willRetry, replay, requestId, fold } = asked;
  return {
    focus,
    preempt,
    dryRun,
    willRetry,
    ...policyOf(step),
    ...reasonOf(reason),
    ...(replay !== undefined && { replay }),
    ...(requestId !== "" && { requestId }),
    ...(fold !== undefined && { fold: foldOf(fold) }),
  };
}

function foldOf({ from, end, text }: v1.FoldRange): FoldTarget {
  return {
    ...(from.case === "checkpointId" ? { checkpoint: from.value } : { start: from.value ?? 0 }),
    text,
    ...(end !== undefined && { end }),
  };
}

/** The content of a view. */
function shown(view: View): JsonObject {
  return {
    messages: view.dialect === undefined ? view.neutral.map((message) => json(v1.ViewMessageSchema, message)) : [],
    messages_json: [...view.messagesJson],
    system_json: [...view.systemJson],
  };
}

/** The messages of a view, as elements of an agent's list. */
function elements(view: View | undefined): Element[] {
  return view === undefined ? [] : [...(view.dialect === undefined ? view.neutral : view.messages)];
}

/** The elements of an agent's list. */
function listed(step: Step): Element[] {
  return step["messages"] === undefined && step["items"] === undefined ? [] : content(step);
}

/** The system prompt of an agent's list. */
function systemOf(step: Step): { readonly system?: string } {
  return step["system"] === undefined ? {} : { system: text(step, "system") };
}

/** How a compaction ended, as the table has it. */
function result({ outcome, compaction, prune, plan, report, reason, message }: CompactionResult): JsonObject {
  return {
    outcome,
    // What the daemon says: what to do is said in the language's own names.
    message: message.replace(/: to compact in another way, .*$/, ""),
    ...(compaction !== undefined && { compaction: json(v1.CompactionEntrySchema, compaction) }),
    ...(prune !== undefined && { prune: json(v1.PruneEntrySchema, prune) }),
    ...(plan !== undefined && { plan: json(v1.CompactionPlanSchema, plan) }),
    ...(report !== undefined && { report: json(v1.ContextReportSchema, report) }),
    ...(reason !== "" && { reason: `SKIP_REASON_${reason.toUpperCase()}` }),
  };
}

/** The records of checkpoints, but for their sequences, which are the checkpoints' points. */
async function* recordsOf(listed: AsyncIterable<ListedCheckpoint>): AsyncGenerator<v1.Record> {
  for await (const { checkpoint, putAside, nextIndex, createdAt } of listed) {
    const kind = { case: "checkpoint", value: checkpoint } as const;
    yield create(v1.RecordSchema, { putAside, nextIndex, kind, ...(createdAt !== undefined && { createdAt }) });
  }
}
