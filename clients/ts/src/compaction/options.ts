import type { WriteOptions } from "../wire/calls.js";
import type { PolicyLike } from "../contract/policy.js";
import type { CompactionReasonName } from "../contract/words.js";

/** Messages to fold into one text where they stand: whole turns, or whole tool groups within one turn. */
export type FoldTarget = (
  | { /** The index of the first message. */ readonly start: number; readonly checkpoint?: never }
  | { /** The first message is the one after this checkpoint. */ readonly checkpoint: number; readonly start?: never }
) & {
  /** The index after the last message. Default: the end of the log, without calls that wait for results. */
  readonly end?: number;
  /** The text that views show. At most 256 KiB. Default: the summarizer writes it. */
  readonly text?: string;
};

/** The options of a compaction. */
export interface CompactionOptions extends WriteOptions {
  /** The reason. With `threshold`, it is skipped where no compaction is due. Default `manual`. */
  readonly reason?: CompactionReasonName;
  /** What the summary must pay attention to. At most 16 KiB. */
  readonly focus?: string;
  /**
   * After an overflow: whether to show the user's last message again after the summary. Default: the policy's setting.
   */
  readonly replay?: boolean;
  /** Whether to cancel a running compaction of the session first. Default false. */
  readonly preempt?: boolean;
  /** Whether it continues when the call ends. Default false. */
  readonly detach?: boolean;
  /** Whether to only plan. Default false. */
  readonly dryRun?: boolean;
  /** Fields that replace those of the session's policy for this call. */
  readonly policy?: PolicyLike;
  /** Whether the caller will repeat the turn. Every event contains it. Default false. */
  readonly willRetry?: boolean;
  /** The messages to fold, in place of what the policy's strategy would do. `session.fold` sets it. */
  readonly fold?: FoldTarget;
  /** Whether to abort the running turn of this session object first. Default true. */
  readonly abortRunning?: boolean;
}

/** All options of a compaction. Other keys are refused: they may be misspelt. */
export const takenOptions: Readonly<Record<keyof CompactionOptions, true>> = {
  signal: true,
  timeoutMs: true,
  requestId: true,
  reason: true,
  focus: true,
  replay: true,
  preempt: true,
  detach: true,
  dryRun: true,
  policy: true,
  willRetry: true,
  fold: true,
  abortRunning: true,
};

/** The options of a prune. */
export interface PruneOptions extends WriteOptions {
  /** The reason. Default `manual`. */
  readonly reason?: CompactionReasonName;
  /** Whether to only plan. Default false. */
  readonly dryRun?: boolean;
  /** Fields that replace those of the session's policy for this call. */
  readonly policy?: PolicyLike;
}

/** All options of a prune. Other keys are refused: they may be misspelt. */
export const takenByPrune: Readonly<Record<keyof PruneOptions, true>> = {
  signal: true,
  timeoutMs: true,
  requestId: true,
  reason: true,
  dryRun: true,
  policy: true,
};
