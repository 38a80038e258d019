import { Code } from "@connectrpc/connect";

import type { ErrorReason } from "../gen/compactord/v1/error_pb.js";

/** A field of a request that breaks its rule. */
export interface FieldViolation {
  /** The field's path, such as `policy.trigger.trigger_ratio`. */
  readonly field: string;
  /** What is wrong with it. */
  readonly description: string;
}

/**
 * The words of {@link CompactordError.reason}: those of the contract, whose `error.proto` says what each has in its metadata;
 * the name of the status for errors of gRPC itself; and those of this package. A newer daemon may have others.
 */
export type ReasonName = Exclude<keyof typeof ErrorReason, "UNSPECIFIED"> | StatusName | ClientReasonName;

/** The reasons of errors of gRPC itself, where it has no word of the contract. */
export type StatusName =
  | "ABORTED"
  | "ALREADY_EXISTS"
  | "DATA_LOSS"
  | "FAILED_PRECONDITION"
  | "INVALID_ARGUMENT"
  | "NOT_FOUND"
  | "OUT_OF_RANGE"
  | "RESOURCE_EXHAUSTED"
  | "UNAVAILABLE"
  | "UNIMPLEMENTED"
  | "UNKNOWN";

/** The reasons of errors that this package makes itself. */
export type ClientReasonName =
  "BINARY_NOT_FOUND" | "CLIENT_CLOSED" | "CONTEXT_OVERFLOW" | "DAEMON_START" | "TURN_ABORTED" | "TURN_RUNNING";

/** The fields of an error besides its text. */
export interface ErrorFacts {
  /** The gRPC status. */
  readonly code: Code;
  /** The stable reason, such as `COMPACTION_RUNNING`. */
  readonly reason: ReasonName;
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
 * The base of all errors of this package. What most programs catch has a class of its own; all other errors are told apart
 * by {@link reason}. The text is for people. No error contains content of a conversation.
 */
export class CompactordError extends Error {
  override name = "CompactordError";
  /** The gRPC status. */
  readonly code: Code;
  /** The stable reason, such as `COMPACTION_RUNNING`. For errors of gRPC itself: the name of the status. */
  readonly reason: ReasonName;
  /** The values that belong to the reason, by key, as text, such as `operation_id`. */
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

/**
 * The next message gets another index than expected: another client has appended. `append` throws it where
 * `expectedNextIndex` was given, and `runTurn` where another process has written to the session during the turn.
 */
export class WrongNextIndexError extends ConflictError {
  override name = "WrongNextIndexError";

  /** The index that the next message will get. */
  get nextIndex(): number | undefined {
    return this.figure("next_index");
  }
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

/** Tool calls are open. Append their results first. */
export class ToolCallsOpenError extends CompactordError {
  override name = "ToolCallsOpenError";

  /** The ids of the open calls, as views show them. */
  get callIds(): readonly string[] {
    const ids = this.metadata["call_ids"];
    return ids === undefined || ids === "" ? [] : ids.split(",");
  }
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
    error instanceof UnavailableError || error instanceof DeadlineExceededError || errorReason(error) === "CANCELLED"
  );
}

/** The token is missing or wrong. */
export class UnauthenticatedError extends CompactordError {
  override name = "UnauthenticatedError";
}

/** The reason of an error of this package; undefined for others. */
export function errorReason(error: unknown): ReasonName | undefined {
  return error instanceof CompactordError ? error.reason : undefined;
}

/** The error of a call that this program cancelled. */
export function cancelled(message: string): CompactordError {
  return new CompactordError(message, { code: Code.Canceled, reason: "CANCELLED" });
}

/** The error of a call with a closed client. */
export function clientClosed(): CompactordError {
  return new CompactordError("the client was closed", { code: Code.Canceled, reason: "CLIENT_CLOSED" });
}

/** The error where the `compactord` program was not found. */
export function binaryNotFound(message: string, cause?: unknown): CompactordError {
  return new CompactordError(message, { code: Code.FailedPrecondition, reason: "BINARY_NOT_FOUND", cause });
}

/** The error of an embedded daemon that did not start, or ended. */
export function daemonStart(message: string, cause?: unknown): CompactordError {
  return new CompactordError(message, { code: Code.Unavailable, reason: "DAEMON_START", cause });
}
