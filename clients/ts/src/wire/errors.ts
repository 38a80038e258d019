import { Code } from "@connectrpc/connect";

/** A field of a request that breaks its rule. */
export interface FieldViolation {
  /** The field's path, such as `policy.trigger.trigger_ratio`. */
  readonly field: string;
  /** What is wrong with it. */
  readonly description: string;
}

/** What an error carries beside its text. */
export interface ErrorFacts {
  /** The gRPC status. */
  readonly code: Code;
  /** The stable reason, such as `SESSION_NOT_FOUND`. */
  readonly reason: string;
  /** The daemon's figures and names by key, such as `next_index`. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The fields that break a rule. */
  readonly fieldViolations?: readonly FieldViolation[];
  /** After how many milliseconds to try again, where the daemon says so. */
  readonly retryAfterMs?: number | undefined;
  /** What it came from. */
  readonly cause?: unknown;
}

/**
 * The base of all errors of this package. Decide by the class or by {@link reason}: the text is for people. It never holds
 * anything of a conversation.
 */
export class CompactordError extends Error {
  override name = "CompactordError";
  /** The gRPC status. */
  readonly code: Code;
  /** The stable reason, as docs/api.md lists them; of errors that gRPC itself makes, the name of the status. */
  readonly reason: string;
  /** The daemon's figures and names by key. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The fields that break a rule, at most 20. */
  readonly fieldViolations: readonly FieldViolation[];
  /** After how many milliseconds to try again, where the daemon says so. */
  readonly retryAfterMs: number | undefined;
  /** Of a write: the id that it was sent with. The same call with this `requestId` does nothing twice. */
  requestId: string | undefined;

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = facts.code;
    this.reason = facts.reason;
    this.metadata = facts.metadata ?? {};
    this.fieldViolations = facts.fieldViolations ?? [];
    this.retryAfterMs = facts.retryAfterMs;
  }

  /** The figure that the metadata has by this key; undefined where there is none. */
  protected figure(key: string): number | undefined {
    const text = this.metadata[key];
    return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
  }
}

/** The request makes no sense, whatever the session's state: {@link CompactordError.fieldViolations} names the fields. */
export class InvalidRequestError extends CompactordError {
  override name = "InvalidRequestError";
}

/** What the request names is not there. */
export class NotFoundError extends CompactordError {
  override name = "NotFoundError";
}

/** Somebody else was first: look at the session again, and decide anew. */
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

  /** The highest checkpoint id that there is. */
  get lastCheckpoint(): number | undefined {
    return this.figure("last_checkpoint");
  }
}

/** A revert went back to before the checkpoint. */
export class CheckpointPutAsideError extends CompactordError {
  override name = "CheckpointPutAsideError";

  /** The checkpoint's point, which can still be gone to. */
  get point(): number | undefined {
    return this.figure("point");
  }
}

/** No compaction with this operation id runs. */
export class OperationNotFoundError extends NotFoundError {
  override name = "OperationNotFoundError";
}

/** The log has no such message, or the message no such part. */
export class ContentNotFoundError extends NotFoundError {
  override name = "ContentNotFoundError";
}

/** A revert put the message aside. */
export class MessagePutAsideError extends CompactordError {
  override name = "MessagePutAsideError";
}

/** There is no such turn to take back, or no change to undo. */
export class NothingToRevertError extends CompactordError {
  override name = "NothingToRevertError";
}

/** `expectedNextIndex` is not the log's: someone else has appended. */
export class WrongNextIndexError extends ConflictError {
  override name = "WrongNextIndexError";

  /** The log's next index. */
  get nextIndex(): number | undefined {
    return this.figure("next_index");
  }
}

/** The view that an answer was made from was reverted: fetch a new view and take the turn again. */
export class HistoryRevertedError extends ConflictError {
  override name = "HistoryRevertedError";
}

/** The session was reverted, compacted or appended to meanwhile. */
export class StateChangedError extends ConflictError {
  override name = "StateChangedError";
}

/** A compaction of this session runs. */
export class CompactionRunningError extends CompactordError {
  override name = "CompactionRunningError";

  /** The id of the compaction that runs. */
  get operationId(): string | undefined {
    return this.metadata["operation_id"];
  }
}

/** What no compaction can remove is at or above the trigger. */
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

  /** How many tokens have to be appended before the next may run. */
  get closesAfterTokens(): number | undefined {
    return this.figure("closes_after_tokens");
  }
}

/** The results of open tool calls have to be appended first. */
export class ToolCallsOpenError extends CompactordError {
  override name = "ToolCallsOpenError";

  /** The ids of the open calls, as views show them. */
  get callIds(): readonly string[] {
    const ids = this.metadata["call_ids"];
    return ids === undefined || ids === "" ? [] : ids.split(",");
  }
}

/** A view would break a provider's rule, and no repair is known. */
export class ViewInvalidError extends CompactordError {
  override name = "ViewInvalidError";

  /** The rule's id. */
  get rule(): string | undefined {
    return this.metadata["rule"];
  }

  /** The message's place in the rendered view. */
  get messageIndex(): number | undefined {
    return this.figure("message");
  }
}

/** A strategy's plan would break the view. */
export class PlanInvalidError extends ConflictError {
  override name = "PlanInvalidError";
}

/** A message, a request or the store is larger than allowed. */
export class LimitExceededError extends CompactordError {
  override name = "LimitExceededError";

  /** The limit's name, or its figure. */
  get limit(): string | undefined {
    return this.metadata["limit"];
  }

  /** The limit's figure, or what was there. */
  get value(): number | undefined {
    return this.figure("value");
  }
}

/** The watcher reads too slowly. */
export class WatcherTooSlowError extends CompactordError {
  override name = "WatcherTooSlowError";

  /** The sequence to go on from. */
  get nextSequence(): number | undefined {
    return this.figure("next_sequence");
  }
}

/** The model that writes summaries is out of reach; {@link CompactordError.retryAfterMs} says when to try again. */
export class SummarizerUnavailableError extends CompactordError {
  override name = "SummarizerUnavailableError";
}

/** The provider of the model that writes summaries refuses the request, and would again. */
export class SummarizerRefusedError extends CompactordError {
  override name = "SummarizerRefusedError";
}

/** No summary passed the checks, and the policy wants no fallback. */
export class SummaryRejectedError extends CompactordError {
  override name = "SummaryRejectedError";

  /** The check that the text did not pass. */
  get check(): string | undefined {
    return this.metadata["check"];
  }

  /** Of a client's own summary: which of the answers, from 0. */
  get prompt(): number | undefined {
    return this.figure("prompt");
  }
}

/** The daemon is older than this package, or was built without what the request asks for. */
export class UnsupportedError extends CompactordError {
  override name = "UnsupportedError";
}

/** The operation was cancelled by another client, by a shutdown, or by the end of the session. */
export class OperationCancelledError extends CompactordError {
  override name = "OperationCancelledError";
}

/** The time limit of the call, or the policy's for summaries, has passed. Of a write: as for {@link UnavailableError}. */
export class DeadlineExceededError extends CompactordError {
  override name = "DeadlineExceededError";
}

/** The daemon is out of reach, or shutting down. Whether a write was done is unknown: call again with the error's `requestId`. */
export class UnavailableError extends CompactordError {
  override name = "UnavailableError";
}

/** Whether an error leaves open if the daemon did what it was asked for. */
export function leavesOpen(error: unknown): boolean {
  return (
    error instanceof UnavailableError ||
    error instanceof DeadlineExceededError ||
    error instanceof OperationCancelledError
  );
}

/** No token, or a wrong one. */
export class UnauthenticatedError extends CompactordError {
  override name = "UnauthenticatedError";
}

/** The token may not do this. */
export class PermissionDeniedError extends CompactordError {
  override name = "PermissionDeniedError";
}

/** A bug of the daemon, or a store that is damaged. The text has an id that the daemon's log has too. */
export class InternalError extends CompactordError {
  override name = "InternalError";
}

/** The client was closed. */
export class ClientClosedError extends CompactordError {
  override name = "ClientClosedError";

  constructor() {
    super("the client was closed", { code: Code.Canceled, reason: "CLIENT_CLOSED" });
  }
}

/** There is no `compactord` program where it was looked for. */
export class BinaryNotFoundError extends CompactordError {
  override name = "BinaryNotFoundError";

  constructor(message: string, cause?: unknown) {
    super(message, { code: Code.FailedPrecondition, reason: "BINARY_NOT_FOUND", cause });
  }
}

/** An embedded daemon ended, or was not ready in time; the text has the end of what it wrote to stderr. */
export class DaemonStartError extends CompactordError {
  override name = "DaemonStartError";

  constructor(message: string, cause?: unknown) {
    super(message, { code: Code.Unavailable, reason: "DAEMON_START", cause });
  }
}
