import type { Answer, Prompt } from "../compaction/clientModel.js";
import type { ThinkingName } from "../contract/words.js";
import { thinkingOf } from "../contract/words.js";
import type { CompactionEvent } from "../v1.js";
import type { View } from "../view/view.js";
import type { ModelOutput } from "./modelOutput.js";
import type { Mail, RunTool, ToolCall, ToolOutput } from "./toolCalls.js";

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
export function checkTurn(callModel: unknown, { maxSteps, thinking }: LoopOptions): void {
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
