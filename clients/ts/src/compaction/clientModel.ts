import { create } from "@bufbuild/protobuf";

import { isObject } from "../contract/arguments.js";
import { orAborted } from "../wire/abort.js";
import { callOptions, requestIdOf } from "../wire/calls.js";
import { CompactionResult } from "./compaction.js";
import { foldRangeOf } from "./foldRange.js";
import type { CompactionOptions } from "./options.js";
import { fallbackWarning, warn } from "../view/warnings.js";
import { CompactordError } from "../wire/errors.js";
import { policyOf } from "../contract/policy.js";
import type { SessionLog } from "../session/log.js";
import type {
  CommitCompactionRequest,
  CommitCompactionResponse,
  PlanCompactionResponse,
  SummaryPrompt,
  Usage,
} from "../v1.js";
import { CommitCompactionRequestSchema, PlanCompactionRequestSchema, SkipReason, UsageSchema } from "../v1.js";
import { reasonOf } from "../contract/words.js";

/** A prompt for the model. */
export interface Prompt {
  /** The system prompt. */
  readonly system: string;
  /** The user message; with `viewMessages`, the one after them. */
  readonly text: string;
  /** The most tokens that the answer may have, by the session's estimator. */
  readonly maxAnswerTokens: number;
  /**
   * The number of messages of the session's view to send before the text, with the agent's own system prompt and tools.
   */
  readonly viewMessages: number | undefined;
  /** Why the last answers were refused, as a sentence for the model. Empty at the first try. */
  readonly complaint: string;
}

/** An answer of the model. */
export interface Answer {
  /** The text. */
  readonly text: string;
  /** The model's name. */
  readonly model?: string;
  /** The usage that the provider reported. */
  readonly usage?: Partial<
    Pick<Usage, "inputTokens" | "outputTokens" | "cacheReadTokens" | "cacheWriteTokens" | "totalTokens">
  >;
  /** The cost in US dollars. */
  readonly costUsd?: number;
}

type Writing = (prompt: Prompt) => Promise<Answer>;

/** How often the prompts are tried. At the last try, the fallback writes the texts that fail the checks. */
const tries = 3;

/**
 * Calls the program's own model with a prompt, and returns its answer. `signal` aborts with the compaction: pass it to the
 * SDK, so that the request ends. An answer after the abort is dropped.
 */
export type WriteSummary = (
  prompt: Prompt,
  context: { readonly signal: AbortSignal },
) => Answer | string | PromiseLike<Answer | string>;

/** Plans a compaction, lets the model write the summaries, and commits them. */
export async function compactWithModel(
  session: SessionLog,
  write: WriteSummary,
  options: CompactionOptions & { readonly maxPromptTokens?: number },
): Promise<CompactionResult> {
  const plan = await planned(session, options);
  session.noteReport(plan.report);
  if (plan.planToken === "") {
    return new CompactionResult("skipped", {
      report: plan.report,
      reason: plan.plan?.skipReason ?? SkipReason.UNSPECIFIED,
      message: plan.message,
    });
  }
  if (options.dryRun === true) {
    return new CompactionResult("planned", { plan: plan.plan, report: plan.report, message: plan.message });
  }
  const signal = options.signal ?? new AbortController().signal;
  const writing: Writing = async (prompt) =>
    answerOf(await orAborted(Promise.resolve(write(prompt, { signal })), signal));
  for (let attempt = 1, complaint = ""; ; attempt++) {
    const commit = await answered(plan.prompts, complaint, writing);
    commit.sessionId = session.id;
    commit.planToken = plan.planToken;
    commit.useFallback = attempt === tries;
    commit.requestId = requestIdOf(options);
    try {
      const answer = await session.client.compactions.commitCompaction(commit, callOptions(options));
      const result = committed(session, answer);
      warn(fallbackWarning(result.fallbackCause));
      return result;
    } catch (e) {
      complaint = e instanceof CompactordError && e.reason === "SUMMARY_REJECTED" ? complaintOf(e) : "";
      if (complaint === "" || commit.useFallback) {
        throw e;
      }
    }
  }
}

/** The plan with the prompts of all its pages. */
async function planned(
  session: SessionLog,
  options: CompactionOptions & { readonly maxPromptTokens?: number },
): Promise<PlanCompactionResponse> {
  const request = create(PlanCompactionRequestSchema, {
    sessionId: session.id,
    reason: reasonOf(options.reason),
    focus: options.focus ?? "",
    ...(options.replay !== undefined && { replay: options.replay }),
    ...(options.policy !== undefined && { policy: policyOf(options.policy) }),
    ...(options.maxPromptTokens !== undefined && { maxPromptTokens: options.maxPromptTokens }),
    ...(options.fold !== undefined && { fold: foldRangeOf(options.fold) }),
  });
  const plan = await session.client.compactions.planCompaction(request, callOptions(options));
  for (let more = plan.hasMore; more;) {
    request.fromPrompt = plan.prompts.length;
    const page = await session.client.compactions.planCompaction(request, callOptions(options));
    if (page.planToken !== plan.planToken) {
      // The session changed between the pages, so they would belong to two plans.
      return planned(session, options);
    }
    plan.prompts.push(...page.prompts);
    more = page.hasMore;
  }
  return plan;
}

/**
 * Lets the model answer all prompts, in a fold each with the answer to the one before, and returns the answers to
 * commit.
 */
async function answered(
  prompts: readonly SummaryPrompt[],
  complaint: string,
  write: Writing,
): Promise<CommitCompactionRequest> {
  const commit = create(CommitCompactionRequestSchema);
  let before = "";
  for (const { system, text, textBeforeAnswer, maxAnswerTokens, viewMessages, final } of prompts) {
    const whole = textBeforeAnswer === undefined ? text : textBeforeAnswer + before + text;
    const answer = await write({ system, text: whole, maxAnswerTokens, viewMessages, complaint });
    before = answer.text;
    if (final) {
      commit.answers.push(answer.text);
    }
    addCosts(commit, answer);
  }
  return commit;
}

/** The answer that `write` returned, also where the program has no types. */
function answerOf(given: unknown): Answer {
  if (typeof given === "string") {
    return { text: given };
  }
  if (!isObject(given) || typeof given["text"] !== "string") {
    const returned =
      given === undefined || given === null
        ? "nothing"
        : isObject(given)
          ? "an object without a text"
          : `a ${typeof given}`;
    throw new TypeError(`write: it returned ${returned}; it must return a text, or an object whose text is a string`);
  }
  return given as unknown as Answer;
}

function addCosts(commit: CommitCompactionRequest, { model, usage, costUsd }: Answer): void {
  commit.summarizerCalls++;
  commit.model = model ?? commit.model;
  if (costUsd !== undefined) {
    commit.costUsd = (commit.costUsd ?? 0) + costUsd;
  }
  if (usage !== undefined) {
    const sum = commit.usage ?? create(UsageSchema);
    sum.inputTokens += usage.inputTokens ?? 0;
    sum.outputTokens += usage.outputTokens ?? 0;
    sum.cacheReadTokens += usage.cacheReadTokens ?? 0;
    sum.cacheWriteTokens += usage.cacheWriteTokens ?? 0;
    sum.totalTokens += usage.totalTokens ?? 0;
    commit.usage = sum;
  }
}

function committed(session: SessionLog, { outcome }: CommitCompactionResponse): CompactionResult {
  session.noteReport(outcome.value?.report);
  switch (outcome.case) {
    case "completed":
      return new CompactionResult("completed", outcome.value);
    case "skipped":
      return new CompactionResult("skipped", outcome.value);
    case undefined:
      throw new TypeError("the daemon's response to a commit has no outcome");
  }
}

/** The part of the error that says what is wrong with the text. It contains nothing of the conversation. */
function complaintOf(e: CompactordError): string {
  const mark = "passed the checks: ";
  const at = e.message.indexOf(mark);
  return at < 0 ? "" : e.message.slice(at + mark.length);
}
