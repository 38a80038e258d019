import { Code } from "@connectrpc/connect";

import { CompactordError } from "../wire/errors.js";

/** Another turn of this session runs. */
export class TurnRunningError extends CompactordError {
  override name = "TurnRunningError";

  constructor() {
    super("a turn of this session runs", { code: Code.FailedPrecondition, reason: "TURN_RUNNING" });
  }
}

/** The turn was aborted by a compaction, or by `abortTurn`. What its model still says is dropped. */
export class TurnAbortedError extends CompactordError {
  override name = "TurnAbortedError";

  constructor(by: string) {
    super(`the turn was aborted by ${by}`, { code: Code.Aborted, reason: "TURN_ABORTED" });
  }
}

/**
 * The context is over the model's window, and no compaction helps: the model answered with an overflow again after one, or
 * there was nothing to take out. `cause` is what the provider's SDK threw, where it threw something.
 */
export class ContextOverflowError extends CompactordError {
  override name = "ContextOverflowError";
  /** Tokens of the context at the overflow, by the daemon's report. */
  readonly tokens: number | undefined;
  /** The context window; undefined where unknown. */
  readonly contextWindow: number | undefined;
  /** The rule by which it is an overflow, in one sentence. */
  readonly why: string;

  constructor(
    message: string,
    facts: {
      readonly why: string;
      readonly tokens?: number | undefined;
      readonly contextWindow?: number | undefined;
      readonly cause?: unknown;
    },
  ) {
    super(message, { code: Code.FailedPrecondition, reason: "CONTEXT_OVERFLOW", cause: facts.cause });
    this.why = facts.why;
    this.tokens = facts.tokens;
    this.contextWindow = facts.contextWindow;
  }
}
