import { create } from "@bufbuild/protobuf";

import { callOptions, requestIdOf } from "../wire/calls.js";
import { CompactionResult } from "./compaction.js";
import type { CompactionOptions } from "./options.js";
import { SummaryRejectedError } from "../wire/errors.js";
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

/** What the model is to be asked, as it stands. */
export interface Prompt {
  /** The system prompt. */
  readonly system: string;
  /** The user message; with `viewMessages`, the one behind them. */
  readonly text: string;
  /** The most that the answer may be, in tokens as the session counts. */
  readonly maxAnswerTokens: number;
  /** Send so many messages of the session's view before the text, with the agent's own system prompt and tools. */
  readonly viewMessages: number | undefined;
  /** Why the last answers were refused: to be told to the model. Empty at first. */
  readonly complaint: string;
}

/** What a model answered. */
export interface Answer {
  /** The text. */
  readonly text: string;
  /** The model's name. */
  readonly model?: string;
  /** What it used. */
  readonly usage?: Partial<
    Pick<Usage, "inputTokens" | "outputTokens" | "cacheReadTokens" | "cacheWriteTokens" | "totalTokens">
  >;
  /** What it cost, in US dollars. */
  readonly costUsd?: number;
}

/** How often the prompts are asked; the last try has the fallback write what does not pass. */
const tries = 3;

/** Plans a compaction, has the model write the summaries, and commits. */
export async function compactWithModel(
  session: SessionLog,
  write: (prompt: Prompt) => Promise<Answer | string>,
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
  for (let attempt = 1, complaint = ""; ; attempt++) {
    const commit = await answered(plan.prompts, complaint, write);
    commit.sessionId = session.id;
    commit.planToken = plan.planToken;
    commit.useFallback = attempt === tries;
    commit.requestId = requestIdOf(options);
    try {
      return committed(session, await session.client.compactions.commitCompaction(commit, callOptions(options)));
    } catch (e) {
      complaint = e instanceof SummaryRejectedError ? complaintOf(e) : "";
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
  });
  const plan = await session.client.compactions.planCompaction(request, callOptions(options));
  for (let more = plan.hasMore; more;) {
    request.fromPrompt = plan.prompts.length;
    const page = await session.client.compactions.planCompaction(request, callOptions(options));
    if (page.planToken !== plan.planToken) {
      // Someone wrote in between: the pages would be of two plans.
      return planned(session, options);
    }
    plan.prompts.push(...page.prompts);
    more = page.hasMore;
  }
  return plan;
}

/** Asks all prompts, each folded one with the answer to the one before it, and keeps the answers to be committed. */
async function answered(
  prompts: readonly SummaryPrompt[],
  complaint: string,
  write: (prompt: Prompt) => Promise<Answer | string>,
): Promise<CommitCompactionRequest> {
  const commit = create(CommitCompactionRequestSchema);
  let before = "";
  for (const { system, text, textBeforeAnswer, maxAnswerTokens, viewMessages, final } of prompts) {
    const whole = textBeforeAnswer === undefined ? text : textBeforeAnswer + before + text;
    const given = await write({ system, text: whole, maxAnswerTokens, viewMessages, complaint });
    const answer = typeof given === "string" ? { text: given } : given;
    before = answer.text;
    if (final) {
      commit.answers.push(answer.text);
    }
    addCosts(commit, answer);
  }
  return commit;
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
      throw new TypeError("the daemon answered a commit without an outcome");
  }
}

/** The sentence of the error that says what is wrong with the text; it holds nothing of the conversation. */
function complaintOf(e: SummaryRejectedError): string {
  const mark = "passed the checks: ";
  const at = e.message.indexOf(mark);
  return at < 0 ? "" : e.message.slice(at + mark.length);
}
