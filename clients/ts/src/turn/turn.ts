import type { CompactionResult } from "../compaction/compaction.js";
import type { ToolCall } from "./toolCalls.js";
import type { ContextReport, ModelAnswer } from "../v1.js";

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
