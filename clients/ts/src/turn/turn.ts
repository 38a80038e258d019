import type { CompactionResult } from "../compaction/compaction.js";
import type { ToolCall } from "./toolCalls.js";
import type { StopReasonName } from "../contract/words.js";
import type { ContextReport, ModelAnswer } from "../v1.js";

/** The result of a turn. */
export interface Turn {
  /** The text of the last answer; may be empty. */
  readonly text: string;
  /** The last answer, as the daemon describes it. */
  readonly answer: ModelAnswer;
  /** Why the last answer ended, such as `end` or `length`; empty where the provider did not say. */
  readonly stopReason: StopReasonName | "";
  /** The calls without a result. Pass their results to the next turn. */
  readonly toolCalls: readonly ToolCall[];
  /** How full the context is at the end. */
  readonly report: ContextReport | undefined;
  /** How many times the model answered, without overflows. */
  readonly steps: number;
  /** The turn's compactions, in order: their results, or the errors of those that failed without ending the turn. */
  readonly compactions: readonly (CompactionResult | Error)[];
  /** How many tokens the model accepts, where an error of its provider said so in this turn. */
  readonly limitTokens: number | undefined;
  /**
   * What deserves a look, in sentences, of each of which Node warned, too: the policy's fallback wrote a summary, the
   * provider's error contradicts the context window, or the session has none and grows.
   */
  readonly warnings: readonly string[];
  /** Whether the user rejected a call without feedback, which ended the turn. */
  readonly rejected: boolean;
  /** Whether the model has finished. False after `maxSteps`, a rejection, open calls or a failed answer. */
  readonly done: boolean;
}
