import { randomUUID } from "node:crypto";

import { orAborted, pause, reasonOf } from "../wire/abort.js";
import type { Answer, Prompt } from "../compaction/clientModel.js";
import type { SessionCompactions } from "../compaction/compacting.js";
import type { CompactionResult } from "../compaction/compaction.js";
import type { CompactionOptions } from "../compaction/options.js";
import {
  CheckpointNotFoundError,
  CheckpointPutAsideError,
  CompactionRunningError,
  InvalidRequestError,
  ToolCallsOpenError,
  HistoryRevertedError,
  leavesOpen,
} from "../wire/errors.js";
import type { Appendable, Appendables } from "../contract/messages.js";
import { wholeOf, type ModelOutput } from "./modelOutput.js";
import { providerError } from "./providerError.js";
import {
  byShape,
  outcomeOf,
  toolCallsOf,
  type Mail,
  type RunTool,
  type ToolCall,
  type ToolOutput,
} from "./toolCalls.js";
import type { Turn } from "./turn.js";
import { ContextOverflowError } from "./errors.js";
import type { Step, TurnState, Write } from "./state.js";
import { MessageState, StopReason, type CompactionEvent, type ModelAnswer, type Part } from "../v1.js";
import type { View } from "../view/view.js";
import type { ThinkingName } from "../contract/words.js";
import { thinkingOf } from "../contract/words.js";

/**
 * Calls the model with the view and answers what it answers. `signal` aborts when the turn does: hand it to the SDK, so that
 * the request ends; what a call answers after that is dropped.
 */
export type CallModel = (
  view: View,
  context: { readonly signal: AbortSignal },
) => ModelOutput | PromiseLike<ModelOutput>;

/** Tools that are asked first, as a turn uses them. `AgentTools` are such. */
export interface Tools {
  /** Whether the model can send D-Mails. */
  readonly dmail: boolean;
  /** Whether a tool of this name is one of them. */
  handles(name: string): boolean;
  /** Answers a call; undefined where it is none of theirs. */
  handle(call: ToolCall, options: { readonly signal?: AbortSignal }): Promise<ToolOutput | undefined>;
  /** Takes out the pending D-Mail. */
  takeMail(): Mail | undefined;
  /** Discards it. */
  discardMail(): void;
}

/** How a turn is taken. */
export interface LoopOptions {
  /** Runs the calls that `tools` do not handle. Without it the turn ends where the model calls one of these. */
  readonly runTool?: RunTool;
  /** The tools that are asked first. */
  readonly tools?: Tools;
  /** How many answers of the model the turn may take. Default: as many as it takes. */
  readonly maxSteps?: number;
  /** Told every event of the turn's own compactions, and awaited. What it throws, or rejects with, ends the turn. */
  readonly onEvent?: (event: CompactionEvent) => unknown;
  /** Has the summaries of the turn's own compactions written by a model of the caller's, in place of the daemon's. */
  readonly summarizeWith?: (prompt: Prompt) => Promise<Answer | string>;
  /** Whether a checkpoint is made before each step; with D-Mail it is, and announced. Default false. */
  readonly checkpointSteps?: boolean;
  /** What happens to thinking in the turn's views, in place of the policy's. */
  readonly thinking?: ThinkingName;
  /** Marks places for the provider's prompt cache in the turn's views. Default false. */
  readonly markCacheBreakpoints?: boolean;
  /** Aborts the turn, which rejects with the signal's reason. An append that is under way is waited for. */
  readonly signal?: AbortSignal;
}

/** Throws a TypeError or RangeError that names what a turn cannot be taken with. */
function checkTurn(callModel: unknown, { maxSteps, thinking }: LoopOptions): void {
  if (typeof callModel !== "function") {
    throw new TypeError(`callModel: must be a function, and is ${typeof callModel}`);
  }
  if (maxSteps !== undefined && !(Number.isInteger(maxSteps) && maxSteps > 0)) {
    throw new RangeError(`maxSteps: ${String(maxSteps)} is no whole number above 0`);
  }
  if (thinking !== undefined) {
    thinkingOf(thinking);
  }
}

/** One turn: the five steps of an agent's loop, until the model has no more calls to make. */
export class TurnLoop {
  readonly #session: SessionCompactions;
  readonly #turns: TurnState;
  readonly #callModel: CallModel;
  readonly #options: LoopOptions;
  readonly #abort = new AbortController();
  readonly #compactions: (CompactionResult | Error)[] = [];
  #steps = 0;
  #thresholdFailed = false;
  #compacting = false;
  /** What the caller's onEvent threw. */
  #broken: { readonly error: unknown } | undefined;

  constructor(session: SessionCompactions, turns: TurnState, callModel: CallModel, options: LoopOptions) {
    this.#session = session;
    this.#turns = turns;
    this.#callModel = callModel;
    this.#options = options;
    checkTurn(callModel, options);
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

  /**
   * Appends what an earlier turn could not, and the input. Without one, goes on where that turn broke off, which may be amid
   * a step.
   */
  async #takeUp(input: Appendables): Promise<Step | undefined> {
    const isNew = !(Array.isArray(input) && input.length === 0);
    if (isNew) {
      this.#turns.queue({ kind: "input", content: input, requestId: randomUUID() });
    }
    await this.#dropReverted();
    for (let write = this.#turns.unsent[0]; write !== undefined; write = this.#turns.unsent[0]) {
      try {
        await this.#write(write);
      } catch (error) {
        // The view that it answers was taken back since: nobody waits for it any more.
        if (!(write.kind === "answer" && error instanceof HistoryRevertedError)) {
          throw error;
        }
      }
    }
    if (isNew) {
      this.#turns.begin();
    }
    return this.#turns.step;
  }

  /** Drops the step that an earlier turn broke off in where a revert has put its answer aside: its tools are not to run. */
  async #dropReverted(): Promise<void> {
    const { step } = this.#turns;
    if (step === undefined) {
      return;
    }
    const { index } = step.answer;
    for await (const { state } of this.#session.messages({ fromIndex: index, signal: this.#signal })) {
      if (state === MessageState.PUT_ASIDE) {
        this.#turns.forgetStep();
      }
      return;
    }
  }

  async #nextStep(): Promise<Step> {
    await this.#compactIfDue();
    await this.#checkpoint();
    return this.#answer();
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
      if (this.#broken !== undefined) {
        throw error;
      }
      this.#thresholdFailed = true;
      this.#compactions.push(asError(error));
    }
  }

  /** Steps 2 to 4: the model's answer to the view, appended. An overflow has it called once more, after a compaction. */
  async #answer(): Promise<Step> {
    for (;;) {
      await orAborted(this.#turns.announced(), this.#signal);
      const view = await orAborted(this.#view(), this.#signal);
      let output: Appendable;
      try {
        output = await wholeOf(this.#callModel(view, { signal: this.#signal }), this.#signal);
      } catch (error) {
        this.#signal.throwIfAborted();
        const why = await this.#overflowOf(error);
        if (why === undefined) {
          throw error;
        }
        await this.#makeRoom(why, error);
        continue;
      }
      this.#signal.throwIfAborted();
      const write: Write = { kind: "answer", content: output, requestId: randomUUID(), view };
      this.#turns.queue(write);
      await this.#write(write);
      const { step } = this.#turns;
      if (step !== undefined && !(await this.#relieved(step))) {
        return step;
      }
    }
  }

  #view(): Promise<View> {
    const { thinking, markCacheBreakpoints = false } = this.#options;
    return this.#session.view({
      markCacheBreakpoints,
      signal: this.#signal,
      ...(thinking !== undefined && { thinking }),
    });
  }

  /** Makes room after an answer that is an overflow. False where it is none. */
  async #relieved({ answer }: Step): Promise<boolean> {
    if (answer.overflow) {
      this.#turns.forgetStep();
      await this.#makeRoom(answer.why);
    }
    return answer.overflow;
  }

  /** Appends, and keeps what is appended until it is known that the daemon has it. */
  async #write(write: Write): Promise<void> {
    const { kind, content, requestId, view } = write;
    const options = { requestId, modelAnswer: kind === "answer", ...(view !== undefined && { view }) };
    const { answer } = await this.#session.append(content, options).catch((error: unknown) => {
      if (!leavesOpen(error)) {
        this.#turns.written(write);
      }
      throw error;
    });
    this.#turns.written(write);
    const { step } = this.#turns;
    if (step?.writes?.[0] === write) {
      step.writes.shift();
    }
    if (kind === "answer") {
      this.#note(answer);
    }
  }

  #note(answer: ModelAnswer | undefined): void {
    if (answer === undefined) {
      throw new TypeError("the daemon does not describe answers: it is older than this client");
    }
    this.#turns.step = { answer, outcomes: [] };
    if (answer.overflow) {
      return;
    }
    this.#steps++;
    this.#turns.paused = answer.stopReason === StopReason.PAUSE;
    if (!endedBadly(answer)) {
      this.#turns.permitRetry();
    }
  }

  /** The calls of an answer. One that ended badly has none: the log closes them. */
  async #callsOf({ answer }: Step): Promise<readonly ToolCall[]> {
    if (endedBadly(answer)) {
      return [];
    }
    if (answer.partsLeftOut) {
      answer.parts = await this.#partsOf(answer.index);
    }
    return toolCallsOf(answer.index, answer.parts);
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

  /**
   * Step 4: compacts after an overflow, so that the model can be called again. Throws a ContextOverflowError where that was
   * just done, or is of no use. A compaction that fails leaves the permission to try again.
   */
  async #makeRoom(why: string, cause?: unknown): Promise<void> {
    if (!this.#turns.mayRetry) {
      throw this.#overflow("the context overflowed again after a compaction", why, cause);
    }
    const { result, waited } = await this.#compact({ reason: "overflow", willRetry: true });
    // Another client's compaction may have made the room while this one waited for it.
    if (!result.done && !waited) {
      throw this.#overflow("the context overflowed, and there is nothing to compact", why, cause);
    }
    this.#turns.takeRetry();
  }

  #overflow(message: string, why: string, cause?: unknown): ContextOverflowError {
    const { tokens, contextWindow } = this.#session.report ?? {};
    return new ContextOverflowError(message, { why, tokens, contextWindow, cause });
  }

  /** Compacts; while another client's compaction runs, waits for its end first. */
  async #compact(
    options: Pick<CompactionOptions, "reason" | "willRetry">,
  ): Promise<{ result: CompactionResult; waited: boolean }> {
    const { summarizeWith } = this.#options;
    const onEvent = this.#watched();
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

  /** The caller's onEvent, such that what it throws is told from a failure of the compaction. */
  #watched(): LoopOptions["onEvent"] {
    const { onEvent } = this.#options;
    return (
      onEvent &&
      (async (event) => {
        try {
          await onEvent(event);
        } catch (error) {
          this.#broken = { error };
          throw error;
        }
      })
    );
  }

  /** With D-Mail the model is told of the checkpoints that it can send one to. */
  async #checkpoint(): Promise<void> {
    const announce = this.#options.tools?.dmail ?? false;
    if ((!announce && this.#options.checkpointSteps !== true) || this.#turns.between) {
      return;
    }
    // One of which it is not known whether it was made is not made twice.
    const requestId = this.#turns.checkpointId(announce);
    try {
      await this.#session.checkpoint({ announce, requestId });
    } catch (error) {
      if (!leavesOpen(error)) {
        this.#turns.checkpointed();
      }
      throw error;
    }
    this.#turns.checkpointed();
  }

  /** Step 5: runs the calls and appends their results. Answers the turn where that was its end. */
  async #finish(step: Step): Promise<Turn | undefined> {
    const { answer } = step;
    if (await this.#relieved(step)) {
      return undefined;
    }
    const calls = (step.calls ??= await this.#callsOf(step));
    if (calls.length === 0) {
      const paused = answer.stopReason === StopReason.PAUSE;
      return paused && !this.#full ? undefined : this.#turn(answer, { done: !endedBadly(answer) && !paused });
    }
    if (step.writes === undefined) {
      await this.#runCalls(step, calls);
      this.#signal.throwIfAborted();
      if (this.#turns.step !== step) {
        // A tool has taken the conversation back to before its call.
        return this.#full ? this.#turn(answer, { done: false }) : undefined;
      }
      step.writes = writesOf(step);
    }
    for (let write = step.writes[0]; write !== undefined; write = step.writes[0]) {
      await this.#writeResults(step, write);
    }
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

  /** Appends results. Where they are refused, their tools are asked again when the turn is taken up. */
  async #writeResults(step: Step, write: Write): Promise<void> {
    this.#turns.queue(write);
    try {
      await this.#write(write);
    } catch (error) {
      const refused =
        error instanceof InvalidRequestError || error instanceof ToolCallsOpenError || error instanceof TypeError;
      if (refused) {
        const content: readonly unknown[] = Array.isArray(write.content) ? write.content : [write.content];
        step.outcomes.forEach((outcome, at) => {
          if (content.includes(outcome?.result)) {
            step.outcomes[at] = undefined;
          }
        });
        delete step.writes;
      }
      throw error;
    }
  }

  /** Whether the turn may have no more answers of the model. */
  get #full(): boolean {
    return this.#steps >= (this.#options.maxSteps ?? Number.POSITIVE_INFINITY);
  }

  /** Runs the calls that have no outcome yet, all at once. */
  async #runCalls({ outcomes }: Step, calls: readonly ToolCall[]): Promise<void> {
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

/** The results of a step in one append; where some are a provider's JSON, neighbours of one shape in one. */
function writesOf({ outcomes }: Step): Write[] {
  const results = outcomes.flatMap((outcome) => (outcome === undefined ? [] : [outcome.result]));
  return byShape(results).map((content) => ({ kind: "results", content, requestId: randomUUID() }));
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ kind }) => (kind.case === "text" ? kind.value.text : "")).join("");
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
