import { orAborted, pause, reasonOf } from "./abort.js";
import type { AgentTools } from "./agentTools.js";
import type { Answer, Prompt } from "./clientModel.js";
import type { CompactionResult } from "./compaction.js";
import {
  CheckpointNotFoundError,
  CheckpointPutAsideError,
  CompactionRunningError,
  DeadlineExceededError,
  OperationCancelledError,
  UnavailableError,
} from "./errors.js";
import type { Appendable } from "./messages.js";
import type { Appendables, CompactionOptions } from "./options.js";
import { wholeOf, type ModelOutput } from "./modelOutput.js";
import { providerError } from "./providerError.js";
import type { Session } from "./session.js";
import { byShape, outcomeOf, toolCallsOf, type RunTool, type ToolCall, type ToolOutcome } from "./toolCalls.js";
import { ContextOverflowError } from "./turnErrors.js";
import type { Turns } from "./turns.js";
import { StopReason, type CompactionEvent, type ContextReport, type ModelAnswer, type Part } from "./v1.js";
import type { View } from "./view.js";

/**
 * Calls the model with the view and answers what it answers. `signal` aborts when the turn does: hand it to the SDK, so that
 * the request ends; what a call answers after that is dropped.
 */
export type CallModel = (
  view: View,
  context: { readonly signal: AbortSignal },
) => ModelOutput | PromiseLike<ModelOutput>;

/** How a turn is taken. */
export interface TurnOptions {
  /** Runs the calls that `tools` do not handle. Without it the turn ends where the model calls one of these. */
  readonly runTool?: RunTool;
  /** The agent tools; they handle the calls of their own names. */
  readonly tools?: AgentTools;
  /** How many answers of the model the turn may take. Default: as many as it takes. */
  readonly maxSteps?: number;
  /** Told every event of the turn's own compactions. What it throws ends the turn. */
  readonly onEvent?: (event: CompactionEvent) => void;
  /** Has the summaries of the turn's own compactions written by a model of the caller's, in place of the daemon's. */
  readonly summarizeWith?: (prompt: Prompt) => Promise<Answer | string>;
  /** Whether a checkpoint is made before each step; with D-Mail it is, and announced. Default false. */
  readonly checkpointSteps?: boolean;
  /** Aborts the turn, which rejects with the signal's reason. An append that is under way is waited for. */
  readonly signal?: AbortSignal;
}

/** What a turn came to. */
export interface Turn {
  /** The text of the last answer; empty where it has none. */
  readonly text: string;
  /** The last answer, as the daemon describes it. */
  readonly answer: ModelAnswer;
  /** The calls that nobody has answered yet: append their results and take the next turn. */
  readonly toolCalls: readonly ToolCall[];
  /** How full the context is at the end. */
  readonly report: ContextReport | undefined;
  /** How many answers the model gave, overflows aside. */
  readonly steps: number;
  /** What the turn's compactions came to, in order: a result, or the error of one that failed and did not end the turn. */
  readonly compactions: readonly (CompactionResult | Error)[];
  /** Whether the user rejected a call without a word on how to go on: that ended the turn. */
  readonly rejected: boolean;
  /** Whether the model ended the turn by itself: not by `maxSteps`, a rejection, open calls or an error. */
  readonly done: boolean;
}

/** An answer of the model, and how far its calls are answered. */
export interface Step {
  readonly answer: ModelAnswer;
  readonly calls: readonly ToolCall[];
  /** What became of each call; undefined where nobody has answered it. */
  readonly outcomes: (ToolOutcome | undefined)[];
  /** How many of the appends of results are made. */
  sent: number;
}

/** An answer of which it is not known whether the daemon has it. */
export interface Unsent {
  readonly output: Appendable;
  readonly view: View;
}

/** One turn: the five steps of an agent's loop, until the model has no more calls to make. */
export class TurnLoop {
  readonly #session: Session;
  readonly #turns: Turns;
  readonly #callModel: CallModel;
  readonly #options: TurnOptions;
  readonly #abort = new AbortController();
  readonly #compactions: (CompactionResult | Error)[] = [];
  #steps = 0;
  #thresholdFailed = false;
  #compacting = false;

  constructor(session: Session, turns: Turns, callModel: CallModel, options: TurnOptions) {
    this.#session = session;
    this.#turns = turns;
    this.#callModel = callModel;
    this.#options = options;
  }

  /** Whether a compaction of this turn is under way. */
  get compacting(): boolean {
    return this.#compacting;
  }

  /** Ends the turn as soon as what it is writing is written. */
  abort(reason: Error): void {
    this.#abort.abort(reason);
  }

  /** Takes the turn. Rejects with the reason of the abort where it is aborted, whatever failed because of it. */
  async run(input: Appendables): Promise<Turn> {
    const outer = this.#options.signal;
    const follow = (): void => {
      if (outer !== undefined) {
        this.abort(reasonOf(outer));
      }
    };
    outer?.addEventListener("abort", follow, { once: true });
    try {
      outer?.throwIfAborted();
      return await this.#run(input);
    } catch (error) {
      if (this.#signal.aborted) {
        this.#turns.forget();
        throw reasonOf(this.#signal);
      }
      throw error;
    } finally {
      outer?.removeEventListener("abort", follow);
      this.#options.tools?.discardMail();
    }
  }

  get #signal(): AbortSignal {
    return this.#abort.signal;
  }

  async #run(input: Appendables): Promise<Turn> {
    let step = await this.#takeUp(input);
    await orAborted(this.#turns.compactionsEnded(), this.#signal);
    for (;;) {
      this.#signal.throwIfAborted();
      step ??= await this.#nextStep();
      const turn = await this.#finish(step);
      this.#turns.step = undefined;
      if (turn !== undefined) {
        return turn;
      }
      step = undefined;
    }
  }

  /** Appends the input. Without one, goes on where an earlier turn broke off, which may be amid a step. */
  async #takeUp(input: Appendables): Promise<Step | undefined> {
    const { unsent } = this.#turns;
    if (unsent !== undefined) {
      const step = await this.#appendAnswer(unsent);
      this.#turns.step = step;
    }
    if (Array.isArray(input) && input.length === 0) {
      return this.#turns.step;
    }
    await this.#session.append(input);
    this.#turns.permitRetry();
    this.#turns.step = undefined;
    return undefined;
  }

  async #nextStep(): Promise<Step> {
    await this.#compactIfDue();
    await this.#checkpoint();
    const step = await this.#answer();
    this.#turns.step = step;
    return step;
  }

  /** Step 1: compacts where the report says so. A failure is no reason to end the turn, and is not tried again in it. */
  async #compactIfDue(): Promise<void> {
    const report = this.#session.report ?? (await orAborted(this.#session.info(), this.#signal)).report;
    if (report?.shouldCompact !== true || this.#thresholdFailed) {
      return;
    }
    try {
      await this.#compact({ reason: "threshold" });
    } catch (error) {
      this.#signal.throwIfAborted();
      this.#thresholdFailed = true;
      this.#compactions.push(asError(error));
    }
  }

  /** Steps 2 to 4: the model's answer to the view, appended. An overflow has it called once more, after a compaction. */
  async #answer(): Promise<Step> {
    for (;;) {
      await orAborted(this.#turns.announced(), this.#signal);
      const view = await orAborted(this.#session.view({ signal: this.#signal }), this.#signal);
      let output: Appendable;
      try {
        output = await wholeOf(this.#callModel(view, { signal: this.#signal }), this.#signal);
      } catch (error) {
        this.#signal.throwIfAborted();
        const why = await this.#overflowOf(error);
        if (why === undefined || !(await this.#makeRoom(why, error))) {
          throw error;
        }
        continue;
      }
      this.#signal.throwIfAborted();
      const step = await this.#appendAnswer({ output, view });
      if (step !== undefined) {
        return step;
      }
    }
  }

  /** Appends an answer. Undefined where it is an overflow, and there is room now for another. */
  async #appendAnswer(said: Unsent): Promise<Step | undefined> {
    this.#turns.unsent = said;
    const appended = await this.#session
      .append(said.output, { view: said.view, modelAnswer: true })
      .catch((error: unknown) => {
        if (!leavesOpen(error)) {
          this.#turns.unsent = undefined;
        }
        throw error;
      });
    this.#turns.unsent = undefined;
    const { answer } = appended;
    if (answer === undefined) {
      throw new TypeError("the daemon does not describe answers: it is older than this client");
    }
    if (answer.overflow) {
      if (!(await this.#makeRoom(answer.why))) {
        throw this.#overflow("the context overflowed, and there is nothing to compact", answer.why);
      }
      return undefined;
    }
    this.#steps++;
    this.#turns.paused = answer.stopReason === StopReason.PAUSE;
    if (!endedBadly(answer)) {
      this.#turns.permitRetry();
    }
    const parts = answer.partsLeftOut ? await this.#partsOf(answer.index) : answer.parts;
    return { answer: { ...answer, parts }, calls: toolCallsOf(answer.index, parts), outcomes: [], sent: 0 };
  }

  /** All parts of a message of the log. */
  async #partsOf(index: number): Promise<Part[]> {
    for await (const { message } of this.#session.messages({ fromIndex: index, signal: this.#signal })) {
      return message?.parts ?? [];
    }
    return [];
  }

  /** Why what the call of the model threw is an overflow; undefined where it is none, or nobody can tell. */
  async #overflowOf(thrown: unknown): Promise<string | undefined> {
    try {
      const { id: sessionId, client } = this.#session;
      const asked = { ...providerError(thrown), sessionId };
      const judged = await client.compactions.classifyError(asked, { signal: this.#signal });
      return judged.overflow ? judged.why : undefined;
    } catch {
      this.#signal.throwIfAborted();
      // The caller is to see what the provider said, not that nobody could judge it.
      return undefined;
    }
  }

  /** Step 4: compacts after an overflow, so that the model can be called again. False where there is nothing to compact. */
  async #makeRoom(why: string, cause?: unknown): Promise<boolean> {
    if (!this.#turns.takeRetry()) {
      throw this.#overflow("the context overflowed again after a compaction", why, cause);
    }
    const { result, waited } = await this.#compact({ reason: "overflow", willRetry: true });
    // Another client's compaction may have made the room while this one waited for it.
    return result.done || waited;
  }

  #overflow(message: string, why: string, cause?: unknown): ContextOverflowError {
    const { tokens, contextWindow } = this.#session.report ?? {};
    return new ContextOverflowError(message, { why, tokens, contextWindow, cause });
  }

  /** Compacts; while another client's compaction runs, waits for its end first. */
  async #compact(
    options: Pick<CompactionOptions, "reason" | "willRetry">,
  ): Promise<{ result: CompactionResult; waited: boolean }> {
    const { onEvent, summarizeWith } = this.#options;
    const asked = { ...options, abortRunning: false, signal: this.#signal };
    this.#compacting = true;
    try {
      for (let attempt = 0; ; attempt++) {
        try {
          const compaction =
            summarizeWith === undefined
              ? this.#session.compact({ ...asked, ...(onEvent !== undefined && { onEvent }) })
              : this.#session.compactWith(summarizeWith, asked);
          const result = await orAborted(compaction, this.#signal);
          if (result.done) {
            this.#compactions.push(result);
          }
          return { result, waited: attempt > 0 };
        } catch (error) {
          if (!(error instanceof CompactionRunningError)) {
            throw error;
          }
          await pause(Math.min(5_000, 200 * 2.5 ** attempt) * (0.8 + 0.4 * Math.random()), this.#signal);
        }
      }
    } finally {
      this.#compacting = false;
    }
  }

  /** With D-Mail the model is told of the checkpoints that it can send one to. */
  async #checkpoint(): Promise<void> {
    const announce = this.#options.tools?.dmail ?? false;
    if ((announce || this.#options.checkpointSteps === true) && !this.#turns.between) {
      await this.#session.checkpoint({ announce });
    }
  }

  /** Step 5: runs the calls and appends their results. Answers the turn where that was its end. */
  async #finish(step: Step): Promise<Turn | undefined> {
    const { answer, calls } = step;
    if (endedBadly(answer) || calls.length === 0) {
      const goesOn = answer.stopReason === StopReason.PAUSE && !this.#full;
      return goesOn ? undefined : this.#turn(answer, { done: !endedBadly(answer) && !this.#turns.paused });
    }
    await this.#runCalls(step);
    this.#signal.throwIfAborted();
    await this.#appendResults(step);
    const toolCalls = calls.filter((_, at) => step.outcomes[at] === undefined);
    const rejections = step.outcomes.flatMap((outcome) => outcome?.rejected ?? []);
    const rejected = rejections.some(({ feedback }) => feedback === "");
    if (toolCalls.length === 0 && rejections.length === 0) {
      await this.#deliverMail();
    } else {
      this.#options.tools?.discardMail();
    }
    const ended = rejected || toolCalls.length > 0 || this.#full;
    return ended ? this.#turn(answer, { done: false, toolCalls, rejected }) : undefined;
  }

  /** Whether the turn may have no more answers of the model. */
  get #full(): boolean {
    return this.#steps >= (this.#options.maxSteps ?? Number.POSITIVE_INFINITY);
  }

  /** Runs the calls that have no outcome yet, all at once. */
  async #runCalls({ calls, outcomes }: Step): Promise<void> {
    await Promise.all(
      calls.map(async (call, at) => {
        const run = this.#runnerOf(call);
        if (run !== undefined) {
          outcomes[at] ??= await outcomeOf(call, run, this.#signal);
        }
      }),
    );
  }

  #runnerOf(call: ToolCall): RunTool | undefined {
    const { tools, runTool } = this.#options;
    if (tools?.handles(call.name) !== true) {
      return runTool;
    }
    return async (one, { signal }) => (await tools.handle(one, { signal })) ?? "";
  }

  /** Appends the results of a step at once; where some are a provider's JSON, neighbours of one shape at once. */
  async #appendResults(step: Step): Promise<void> {
    const results = step.outcomes.flatMap((outcome) => outcome?.result ?? []);
    for (const some of byShape(results).slice(step.sent)) {
      await this.#session.append(some);
      step.sent++;
    }
  }

  /** Goes back to the checkpoint that the model has sent a D-Mail to in this step. */
  async #deliverMail(): Promise<void> {
    const mail = this.#options.tools?.takeMail();
    if (mail === undefined) {
      return;
    }
    try {
      const { checkpointId, message } = mail;
      await this.#session.revert({ toCheckpoint: checkpointId }, { messageFromFuture: message });
    } catch (error) {
      // Another client went back to before the checkpoint meanwhile: the model reads that nothing was delivered.
      if (!(error instanceof CheckpointPutAsideError || error instanceof CheckpointNotFoundError)) {
        throw error;
      }
    }
  }

  #turn(answer: ModelAnswer, end: Partial<Turn> & Pick<Turn, "done">): Turn {
    return {
      text: textOf(answer.parts),
      answer,
      toolCalls: [],
      report: this.#session.report,
      steps: this.#steps,
      compactions: this.#compactions,
      rejected: false,
      ...end,
    };
  }
}

/** Whether views leave the answer out, with its calls: there is nothing to go on with. */
function endedBadly({ stopReason }: ModelAnswer): boolean {
  return stopReason === StopReason.ERROR || stopReason === StopReason.ABORTED;
}

/** Whether an error leaves open if the daemon did what it was asked for. */
function leavesOpen(error: unknown): boolean {
  return (
    error instanceof UnavailableError ||
    error instanceof DeadlineExceededError ||
    error instanceof OperationCancelledError
  );
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ kind }) => (kind.case === "text" ? kind.value.text : "")).join("");
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
