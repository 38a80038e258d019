import type { WriteOptions } from "../wire/calls.js";
import type { PolicyLike } from "../contract/policy.js";
import type { CompactionEvent } from "../v1.js";
import type { CompactionReasonName } from "../contract/words.js";

/** How a compaction goes about it. */
export interface CompactionOptions extends WriteOptions {
  /** Why. A `threshold` one is skipped where none is due. Default `manual`. */
  readonly reason?: CompactionReasonName;
  /** What the summary is to attend to. At most 16 KiB. */
  readonly focus?: string;
  /** After an overflow: whether the last user message is shown again behind the summary. Default: as the policy says. */
  readonly replay?: boolean;
  /** Cancels a running compaction of the session first. Default false. */
  readonly preempt?: boolean;
  /** Goes on when the call ends. Default false. */
  readonly detach?: boolean;
  /** Only plans. Default false. */
  readonly dryRun?: boolean;
  /** In place of the session's policy, field by field. */
  readonly policy?: PolicyLike;
  /** Whether the model is called again after it: told to those who watch. Default false. */
  readonly willRetry?: boolean;
  /** Whether it aborts a turn that runs in this session object; else it goes on beside it. Default true. */
  readonly abortRunning?: boolean;
}

/** How {@link CompactionOptions}' compaction goes about it, and who is told. */
export interface CompactOptions extends CompactionOptions {
  /** Called with each event, and awaited. What it throws, or rejects with, cancels the compaction and is thrown. */
  readonly onEvent?: (event: CompactionEvent) => unknown;
}

/** How a prune goes about it. */
export interface PruneOptions extends WriteOptions {
  /** Why. Default `manual`. */
  readonly reason?: CompactionReasonName;
  /** Only plans. Default false. */
  readonly dryRun?: boolean;
  /** In place of the session's policy, field by field. */
  readonly policy?: PolicyLike;
}
