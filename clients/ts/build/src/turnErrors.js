import { Code } from "@connectrpc/connect";
import { CompactordError } from "./errors.js";
/** Another turn of this session runs. */
export class TurnRunningError extends CompactordError {
    name = "TurnRunningError";
    constructor() {
        super("a turn of this session runs", { code: Code.FailedPrecondition, reason: "TURN_RUNNING" });
    }
}
/** The turn was aborted by a compaction, or by `abortTurn`. What its model still says is dropped. */
export class TurnAbortedError extends CompactordError {
    name = "TurnAbortedError";
    constructor(by) {
        super(`the turn was aborted by ${by}`, { code: Code.Aborted, reason: "TURN_ABORTED" });
    }
}
/**
 * The context is over the model's window, and no compaction helps: the model answered with an overflow again after one, or
 * there was nothing to take out. `cause` is what the provider's SDK threw, where it threw something.
 */
export class ContextOverflowError extends CompactordError {
    name = "ContextOverflowError";
    /** Tokens of the context at the overflow, by the daemon's report. */
    tokens;
    /** The context window; undefined where unknown. */
    contextWindow;
    /** The rule by which it is an overflow, in one sentence. */
    why;
    constructor(message, facts) {
        super(message, { code: Code.FailedPrecondition, reason: "CONTEXT_OVERFLOW", cause: facts.cause });
        this.why = facts.why;
        this.tokens = facts.tokens;
        this.contextWindow = facts.contextWindow;
    }
}
