import { Code } from "@connectrpc/connect";

import { CompactordError } from "../wire/errors.js";

/** The error of a turn that was begun while another one of the session object runs. */
export function turnRunning(): CompactordError {
  const facts = { code: Code.FailedPrecondition, reason: "TURN_RUNNING" } as const;
  return new CompactordError("a turn of this session is already running: wait for it, or call abortTurn", facts);
}

/** The turn was aborted by a compaction or by `abortTurn`. Later answers of its model are dropped. */
export class TurnAbortedError extends CompactordError {
  override name = "TurnAbortedError";

  constructor(by: string) {
    super(`the turn was aborted by ${by}`, { code: Code.Aborted, reason: "TURN_ABORTED" });
  }
}

/**
 * The conversation does not fit into the model's context window, and no compaction helps: there was another overflow
 * after one, or there was nothing to compact. `cause` is the error of the provider's SDK, where there was one.
 */
export class ContextOverflowError extends CompactordError {
  override name = "ContextOverflowError";
  /** Tokens of the context at the overflow, as the daemon reports them. */
  readonly tokens: number | undefined;
  /** The context window; undefined where it is unknown. */
  readonly contextWindow: number | undefined;
  /** How many tokens the model accepts, where the error of its provider says so. */
  readonly limitTokens: number | undefined;
  /** The rule that found the overflow, in one sentence. */
  readonly why: string;

  constructor(
    message: string,
    facts: {
      readonly why: string;
      readonly tokens?: number | undefined;
      readonly contextWindow?: number | undefined;
      readonly limitTokens?: number | undefined;
      readonly cause?: unknown;
    },
  ) {
    super(message, { code: Code.FailedPrecondition, reason: "CONTEXT_OVERFLOW", cause: facts.cause });
    this.why = facts.why;
    this.tokens = facts.tokens;
    this.contextWindow = facts.contextWindow;
    this.limitTokens = facts.limitTokens;
  }
}
