import { Code } from "@connectrpc/connect";

/** A field of a request that breaks its rule. */
export interface FieldViolation {
  /** The field's path, such as `policy.trigger.trigger_ratio`. */
  readonly field: string;
  /** What is wrong with it. */
  readonly description: string;
}

/** The fields of an error besides its text. */
export interface ErrorFacts {
  /** The gRPC status. */
  readonly code: Code;
  /** The stable reason, such as `SESSION_NOT_FOUND`. */
  readonly reason: string;
  /** The values that belong to the reason, by key, such as `next_index`. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The wrong fields of the request. */
  readonly fieldViolations?: readonly FieldViolation[];
  /** How many milliseconds to wait before a retry, where the daemon says so. */
  readonly retryAfterMs?: number | undefined;
  /** The error that caused it. */
  readonly cause?: unknown;
}

/**
 * The base of all errors of this package. Decide by the class or by {@link reason}; the text is for people. No error
 * contains content of a conversation.
 */
export class CompactordError extends Error {
  override name = "CompactordError";
  /** The gRPC status. */
  readonly code: Code;
  /** The stable reason, as docs/api.md lists them. For errors of gRPC itself: the name of the status. */
  readonly reason: string;
  /** The values that belong to the reason, by key. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The wrong fields of the request, at most 20. */
  readonly fieldViolations: readonly FieldViolation[];
  /** How many milliseconds to wait before a retry, where the daemon says so. */
  readonly retryAfterMs: number | undefined;
  /** For a write: the request's id. The same call with this `requestId` is not executed twice. */
  requestId: string | undefined;

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = facts.code;
    this.reason = facts.reason;
    this.metadata = facts.metadata ?? {};
    this.fieldViolations = facts.fieldViolations ?? [];
    this.retryAfterMs = facts.retryAfterMs;
  }

  /** The number in the metadata by this key; undefined where there is none. */
  protected figure(key: string): number | undefined {
    const text = this.metadata[key];
    return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
  }
}

/** The request is not valid, whatever the session's state: {@link CompactordError.fieldViolations} names the fields. */
export class InvalidRequestError extends CompactordError {
  override name = "InvalidRequestError";
}

/** Something that the request names does not exist. */
export class NotFoundError extends CompactordError {
  override name = "NotFoundError";
}

/** The session changed in the meantime: read it again, then decide. */
export class ConflictError extends CompactordError {
  override name = "ConflictError";
}

/** No session has this id. */
export class SessionNotFoundError extends NotFoundError {
  override name = "SessionNotFoundError";
}

/** The session id is in use. */
export class SessionExistsError extends CompactordError {
  override name = "SessionExistsError";
}

/** No checkpoint has this id. */
export class CheckpointNotFoundError extends NotFoundError {
  override name = "CheckpointNotFoundError";

  /** The highest checkpoint id of the session. */
  get lastCheckpoint(): number | undefined {
    return this.figure("last_checkpoint");
  }
}

/** A revert to an earlier point put the checkpoint aside. */
export class CheckpointPutAsideError extends CompactordError {
  override name = "CheckpointPutAsideError";

  /** The checkpoint's point. A revert to the point is still possible. */
  get point(): number | undefined {
    return this.figure("point");
  }
}

/** No compaction with this operation id is running. */
export class OperationNotFoundError extends NotFoundError {
  override name = "OperationNotFoundError";
}

/** The log does not have the message, or the message does not have the part. */
export class ContentNotFoundError extends NotFoundError {
  override name = "ContentNotFoundError";
}

/** A revert put the message aside. */
export class MessagePutAsideError extends CompactordError {
  override name = "MessagePutAsideError";
}

/** There are not enough turns to revert, or there is no change to undo. */
export class NothingToRevertError extends CompactordError {
  override name = "NothingToRevertError";
}

/** `expectedNextIndex` is not the index that the next message gets: another client has appended. */
export class WrongNextIndexError extends ConflictError {
  override name = "WrongNextIndexError";

  /** The index that the next message will get. */
  get nextIndex(): number | undefined {
    return this.figure("next_index");
  }
}

/** A revert came after the view that the answer was made from: fetch a new view and repeat the turn. */
export class HistoryRevertedError extends ConflictError {
  override name = "HistoryRevertedError";
}

/** The session was reverted, compacted or appended to in the meantime. */
export class StateChangedError extends ConflictError {
  override name = "StateChangedError";
}

/**
 * Another client has written to the session what the list of a sync lacks. Call `session.refresh()`, take what you need of
 * `session.view()` into the list, and sync again. What the list leaves out then is put aside.
 */
export class SyncConflictError extends ConflictError {
  override name = "SyncConflictError";

  /** The index of the first message that the list lacks; undefined where another client has gone back. */
  get index(): number | undefined {
    return this.figure("index");
  }

  /** The index that the next message will get. */
  get nextIndex(): number | undefined {
    return this.figure("next_index");
  }
}

/** A compaction of this session is already running. */
export class CompactionRunningError extends CompactordError {
  override name = "CompactionRunningError";

  /** The operation id of the running compaction. */
  get operationId(): string | undefined {
    return this.metadata["operation_id"];
  }
}

/** The fixed tokens, which no compaction can remove, are at or above the trigger. */
export class TargetUnreachableError extends CompactordError {
  override name = "TargetUnreachableError";

  /** Tokens that no compaction can remove. */
  get fixedTokens(): number | undefined {
    return this.figure("fixed_tokens");
  }

  /** Tokens at which compaction is due. */
  get triggerTokens(): number | undefined {
    return this.figure("trigger_tokens");
  }
}

/** Three automatic compactions in a row did not help. */
export class BreakerOpenError extends CompactordError {
  override name = "BreakerOpenError";

  /** Tokens that must be appended before automatic compactions run again. */
  get closesAfterTokens(): number | undefined {
    return this.figure("closes_after_tokens");
  }
}

/** Tool calls are open. Append their results first. */
export class ToolCallsOpenError extends CompactordError {
  override name = "ToolCallsOpenError";

  /** The ids of the open calls, as views show them. */
  get callIds(): readonly string[] {
    const ids = this.metadata["call_ids"];
    return ids === undefined || ids === "" ? [] : ids.split(",");
  }
}

/** The view would break a rule of the provider, and there is no repair for it. */
export class ViewInvalidError extends CompactordError {
  override name = "ViewInvalidError";

  /** The id of the rule. */
  get rule(): string | undefined {
    return this.metadata["rule"];
  }

  /** The position in the rendered view of the message that breaks the rule. */
  get messageIndex(): number | undefined {
    return this.figure("message");
  }
}

/** A plan would make the view invalid. */
export class PlanInvalidError extends ConflictError {
  override name = "PlanInvalidError";
}

/** A message, a request or the store is larger than allowed. */
export class LimitExceededError extends CompactordError {
  override name = "LimitExceededError";

  /** The name of the limit, or its value. */
  get limit(): string | undefined {
    return this.metadata["limit"];
  }

  /** The value of the limit, or the actual value. */
  get value(): number | undefined {
    return this.figure("value");
  }
}

/** Earlier answers on this connection have not been read, and there is no room for this one. */
export class SlowReaderError extends CompactordError {
  override name = "SlowReaderError";
}

/**
 * The daemon's running requests leave too little memory for this one; {@link CompactordError.retryAfterMs} says when to
 * try again.
 */
export class MemoryExhaustedError extends CompactordError {
  override name = "MemoryExhaustedError";
}

/** A watch reads too slowly for the changes of its session. */
export class WatcherTooSlowError extends CompactordError {
  override name = "WatcherTooSlowError";

  /** The sequence where to continue. */
  get nextSequence(): number | undefined {
    return this.figure("next_sequence");
  }
}

/** Too many calls wait for work of this kind; {@link CompactordError.retryAfterMs} says when to try again. */
export class TooManyWaitingError extends CompactordError {
  override name = "TooManyWaitingError";

  /** The kind of work: `compactions`, `searches`, `imports` or `views`. */
  get pool(): string | undefined {
    return this.metadata["pool"];
  }
}

/** The child has ended: its log takes nothing more, and it has its result. */
export class ChildEndedError extends CompactordError {
  override name = "ChildEndedError";
}

/** The session is no child, or its parent was deleted. */
export class NoParentError extends CompactordError {
  override name = "NoParentError";
}

/** The session has children, and was not to be deleted then. */
export class HasChildrenError extends CompactordError {
  override name = "HasChildrenError";
}

/** The summarizer cannot be reached; {@link CompactordError.retryAfterMs} says when to try again. */
export class SummarizerUnavailableError extends CompactordError {
  override name = "SummarizerUnavailableError";
}

/** The summarizer's provider refuses the request, and a retry does not help. */
export class SummarizerRefusedError extends CompactordError {
  override name = "SummarizerRefusedError";
}

/** No summary passed the checks, and the policy has no fallback. */
export class SummaryRejectedError extends CompactordError {
  override name = "SummaryRejectedError";

  /** The check that failed. */
  get check(): string | undefined {
    return this.metadata["check"];
  }

  /** For answers of the client's own model: the position of the answer, from 0. */
  get prompt(): number | undefined {
    return this.figure("prompt");
  }
}

/** The daemon does not support the request: it is older than this package, or was built without the feature. */
export class UnsupportedError extends CompactordError {
  override name = "UnsupportedError";
}

/** The operation was cancelled by another client, by a shutdown, or by the end of the session. */
export class OperationCancelledError extends CompactordError {
  override name = "OperationCancelledError";
}

/** The time limit of the call or of the policy has passed. For a write: see {@link UnavailableError}. */
export class DeadlineExceededError extends CompactordError {
  override name = "DeadlineExceededError";
}

/**
 * No daemon answers, it is shutting down, or its store fails. A write may have been executed or not: repeat it with
 * the error's `requestId`.
 */
export class UnavailableError extends CompactordError {
  override name = "UnavailableError";
}

/** Whether it is unknown after this error if the daemon executed the request. */
export function leavesOpen(error: unknown): boolean {
  return (
    error instanceof UnavailableError ||
    error instanceof DeadlineExceededError ||
    error instanceof OperationCancelledError
  );
}

/** The token is missing or wrong. */
export class UnauthenticatedError extends CompactordError {
  override name = "UnauthenticatedError";
}

/** The token does not permit this call. */
export class PermissionDeniedError extends CompactordError {
  override name = "PermissionDeniedError";
}

/** A bug in the daemon, or a corrupt store. The text contains an id that is also in the daemon's log. */
export class InternalError extends CompactordError {
  override name = "InternalError";
}

/** The client is closed. */
export class ClientClosedError extends CompactordError {
  override name = "ClientClosedError";

  constructor() {
    super("the client was closed", { code: Code.Canceled, reason: "CLIENT_CLOSED" });
  }
}

/** The `compactord` program was not found. */
export class BinaryNotFoundError extends CompactordError {
  override name = "BinaryNotFoundError";

  constructor(message: string, cause?: unknown) {
    super(message, { code: Code.FailedPrecondition, reason: "BINARY_NOT_FOUND", cause });
  }
}

/** An embedded daemon did not start, or ended. The text ends with the end of its stderr. */
export class DaemonStartError extends CompactordError {
  override name = "DaemonStartError";

  constructor(message: string, cause?: unknown) {
    super(message, { code: Code.Unavailable, reason: "DAEMON_START", cause });
  }
}
