import type { WriteSummary } from "../compaction/clientModel.js";
import { checkFunction, checkKeys, checkList, isObject } from "../contract/arguments.js";
import type { DialectName } from "../contract/messages.js";
import type { ThinkingName } from "../contract/words.js";
import { thinkingOf } from "../contract/words.js";
import type { CompactionEvent, ContextBlock } from "../v1.js";
import type { View } from "../view/view.js";
import type { ModelOutput } from "./modelOutput.js";
import type { Mail, RunTool, ToolCall, ToolOutput } from "./toolCalls.js";

/**
 * Calls the model with the view and returns its answer. `signal` aborts with the turn: pass it to the SDK, so that the
 * request ends. An answer after the abort is dropped.
 */
export type CallModel<D extends DialectName | undefined = DialectName | undefined> = (
  view: View<D>,
  context: { readonly signal: AbortSignal },
) => ModelOutput | PromiseLike<ModelOutput>;

/** Tools that are asked to run a call before `runTool`, such as `AgentTools`. */
export interface Tools {
  /** Whether a tool takes the number of a checkpoint. A turn then announces one before each step. */
  readonly nameCheckpoints: boolean;
  /** Whether this object has a tool with this name. */
  handles(name: string): boolean;
  /** Runs a call; undefined where the call is of another tool. */
  handle(call: ToolCall, options: { readonly signal?: AbortSignal }): Promise<ToolOutput | undefined>;
  /** Returns and forgets the pending D-Mail. */
  takeMail(): Mail | undefined;
  /** Discards the pending D-Mail. */
  discardMail(): void;
}

/** Context blocks for the views of a turn alone, or a function that returns them for each view. */
export type ExtraBlocks =
  readonly ContextBlock[] | (() => readonly ContextBlock[] | PromiseLike<readonly ContextBlock[]>);

/** The options of a turn. */
export interface LoopOptions {
  /** Runs the calls that `tools` do not handle. Without it the turn ends at such a call. */
  readonly runTool?: RunTool;
  /** Tools that are asked to run a call before `runTool`. */
  readonly tools?: Tools;
  /** How many times the model may answer. Default: no limit. */
  readonly maxSteps?: number;
  /** Called with each event of the turn's compactions, and awaited. An error that it throws ends the turn. */
  readonly onEvent?: (event: CompactionEvent) => unknown;
  /** Lets a model of the caller write the summaries of the turn's compactions, in place of the daemon's summarizer. */
  readonly summarizeWith?: WriteSummary;
  /**
   * Whether to make a checkpoint before each step. With `dmail` or `fold` among the tools, each step has an
   * announced checkpoint anyway. Default
   * false.
   */
  readonly checkpointSteps?: boolean;
  /** Which thinking the turn's views show, in place of the policy's setting. */
  readonly thinking?: ThinkingName;
  /** Whether the turn's views have marks for the provider's prompt cache. Default false. */
  readonly markCacheBreakpoints?: boolean;
  /**
   * Context blocks for the turn's views alone, as for `view`, or a function that returns them anew for each view. After a
   * paused answer the turn leaves them out, since they would end what the model goes on with. Default none.
   */
  readonly extraBlocks?: ExtraBlocks;
  /** Aborts the turn, which rejects with the signal's reason. A running append is completed first. */
  readonly signal?: AbortSignal;
}

const takenOptions: Readonly<Record<keyof LoopOptions, true>> = {
  runTool: true,
  tools: true,
  maxSteps: true,
  onEvent: true,
  summarizeWith: true,
  checkpointSteps: true,
  thinking: true,
  markCacheBreakpoints: true,
  extraBlocks: true,
  signal: true,
};

/** Checks the arguments of a turn. Throws a TypeError or RangeError that names the wrong one. */
export function checkTurn(callModel: unknown, options: LoopOptions): void {
  const { maxSteps, thinking, runTool, onEvent, summarizeWith } = options;
  if (typeof callModel !== "function") {
    throw new TypeError(`callModel: must be a function, and is ${typeof callModel}`);
  }
  checkKeys("runTurn", options, Object.keys(takenOptions));
  if (options.extraBlocks !== undefined && typeof options.extraBlocks !== "function") {
    checkList("extraBlocks", options.extraBlocks);
  }
  for (const [name, given] of Object.entries({ runTool, onEvent, summarizeWith })) {
    checkFunction(name, given);
  }
  const tools: unknown = options.tools;
  if (tools !== undefined && !(isObject(tools) && "handle" in tools)) {
    throw new TypeError("tools: must be new AgentTools(session)");
  }
  if (maxSteps !== undefined && !(Number.isInteger(maxSteps) && maxSteps > 0)) {
    throw new RangeError(`maxSteps: ${String(maxSteps)} is not a whole number above 0`);
  }
  if (thinking !== undefined) {
    thinkingOf(thinking);
  }
}
