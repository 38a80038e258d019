import { Code, ConnectError } from "@connectrpc/connect";

import type { ErrorReason } from "../gen/compactord/v1/error_pb.js";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../gen/google/rpc/error_details_pb.js";
import { startCommand, toBuild } from "./binary.js";
import { defaults } from "./defaults.js";
import * as errors from "./errors.js";

type ErrorClass = new (message: string, facts: errors.ErrorFacts) => errors.CompactordError;

/** The class of each reason of the contract. */
export const classOfReason: Readonly<Record<keyof typeof ErrorReason, ErrorClass>> = {
  UNSPECIFIED: errors.CompactordError,
  INVALID_FIELD: errors.InvalidRequestError,
  SESSION_NOT_FOUND: errors.SessionNotFoundError,
  SESSION_EXISTS: errors.SessionExistsError,
  CHECKPOINT_NOT_FOUND: errors.NotFoundError,
  POINT_OUT_OF_RANGE: errors.InvalidRequestError,
  WRONG_NEXT_INDEX: errors.WrongNextIndexError,
  HISTORY_REVERTED: errors.ConflictError,
  STATE_CHANGED: errors.ConflictError,
  SYNC_CONFLICT: errors.SyncConflictError,
  COMPACTION_RUNNING: errors.CompactordError,
  TARGET_UNREACHABLE: errors.CompactordError,
  BREAKER_OPEN: errors.CompactordError,
  TOOL_CALLS_OPEN: errors.ToolCallsOpenError,
  VIEW_INVALID: errors.CompactordError,
  LIMIT_EXCEEDED: errors.CompactordError,
  SUMMARIZER_UNAVAILABLE: errors.CompactordError,
  SUMMARY_REJECTED: errors.CompactordError,
  CANCELLED: errors.CompactordError,
  DEADLINE_EXCEEDED: errors.DeadlineExceededError,
  REQUEST_ID_REUSED: errors.InvalidRequestError,
  INVALID_POLICY: errors.InvalidRequestError,
  NOT_IMPLEMENTED: errors.CompactordError,
  INTERNAL: errors.CompactordError,
  SHUTTING_DOWN: errors.UnavailableError,
  STORE_UNAVAILABLE: errors.UnavailableError,
  INTERRUPTED: errors.UnavailableError,
  UNAUTHENTICATED: errors.UnauthenticatedError,
  PERMISSION_DENIED: errors.CompactordError,
  STORE_CORRUPT: errors.CompactordError,
  INVALID_TOKEN: errors.InvalidRequestError,
  UNKNOWN_NAME: errors.InvalidRequestError,
  PLAN_INVALID: errors.ConflictError,
  OPERATION_NOT_FOUND: errors.NotFoundError,
  INPUT_MALFORMED: errors.InvalidRequestError,
  CHECKPOINT_PUT_ASIDE: errors.CompactordError,
  NOTHING_TO_REVERT: errors.CompactordError,
  CONTENT_NOT_FOUND: errors.NotFoundError,
  MESSAGE_PUT_ASIDE: errors.CompactordError,
  SLOW_READER: errors.CompactordError,
  WATCHER_TOO_SLOW: errors.CompactordError,
  MEMORY_EXHAUSTED: errors.CompactordError,
  SUMMARIZER_REFUSED: errors.CompactordError,
  TOO_MANY_WAITING: errors.CompactordError,
  CHILD_ENDED: errors.CompactordError,
  NO_PARENT: errors.CompactordError,
  HAS_CHILDREN: errors.CompactordError,
};

/** The class and the reason of each status of gRPC itself, for errors without a reason of the contract. */
const ofCode: Readonly<Record<Code, readonly [ErrorClass, errors.ReasonName]>> = {
  [Code.Canceled]: [errors.CompactordError, "CANCELLED"],
  [Code.Unknown]: [errors.CompactordError, "UNKNOWN"],
  [Code.InvalidArgument]: [errors.InvalidRequestError, "INVALID_ARGUMENT"],
  [Code.DeadlineExceeded]: [errors.DeadlineExceededError, "DEADLINE_EXCEEDED"],
  [Code.NotFound]: [errors.NotFoundError, "NOT_FOUND"],
  [Code.AlreadyExists]: [errors.CompactordError, "ALREADY_EXISTS"],
  [Code.PermissionDenied]: [errors.CompactordError, "PERMISSION_DENIED"],
  [Code.ResourceExhausted]: [errors.CompactordError, "RESOURCE_EXHAUSTED"],
  [Code.FailedPrecondition]: [errors.CompactordError, "FAILED_PRECONDITION"],
  [Code.Aborted]: [errors.ConflictError, "ABORTED"],
  [Code.OutOfRange]: [errors.InvalidRequestError, "OUT_OF_RANGE"],
  [Code.Unimplemented]: [errors.CompactordError, "UNIMPLEMENTED"],
  [Code.Internal]: [errors.CompactordError, "INTERNAL"],
  [Code.Unavailable]: [errors.UnavailableError, "UNAVAILABLE"],
  [Code.DataLoss]: [errors.CompactordError, "DATA_LOSS"],
  [Code.Unauthenticated]: [errors.UnauthenticatedError, "UNAUTHENTICATED"],
};

/**
 * Converts an error of a call to this address to an error of this package. `tokenOrigin` says where the token comes from.
 * Other errors are returned unchanged. Where
 * the request could not be written, the error names the argument.
 */
export function errorOfCall(thrown: unknown, address: string, tokenOrigin: () => string): unknown {
  if (!(thrown instanceof ConnectError)) {
    return thrown;
  }
  const unsendable = argumentError(thrown);
  if (unsendable !== undefined) {
    return unsendable;
  }
  const info = thrown.findDetails(ErrorInfoSchema).find((i) => i.domain === "compactord");
  const code = info === undefined && isBrokenConnection(thrown) ? Code.Unavailable : thrown.code;
  const [byCode, nameOfCode] = ofCode[code];
  const byReason = info !== undefined && isReason(info.reason) ? classOfReason[info.reason] : undefined;
  const retry = thrown.findDetails(RetryInfoSchema)[0]?.retryDelay;
  return new (byReason ?? byCode)(textOf(thrown, code, address, tokenOrigin), {
    code,
    // A newer daemon may have reasons that this package does not know.
    reason: (info?.reason as errors.ReasonName | undefined) ?? nameOfCode,
    metadata: { ...info?.metadata },
    fieldViolations: thrown
      .findDetails(BadRequestSchema)
      .flatMap((r) => r.fieldViolations)
      .map(({ field, description }) => ({ field, description })),
    retryAfterMs: retry === undefined ? undefined : Number(retry.seconds) * 1000 + retry.nanos / 1e6,
    cause: thrown.cause,
  });
}

/** The error for a request that could not be written, with the name of the wrong field; undefined for other errors. */
function argumentError(e: ConnectError): TypeError | RangeError | undefined {
  const [, field, fault] =
    /^serialize binary: cannot encode field [\w.]*?(\w+) to binary: (.*)$/s.exec(e.rawMessage) ?? [];
  if (field === undefined || fault === undefined) {
    return undefined;
  }
  const name = field.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  const [, wanted = "value of its type", given = ""] = /^invalid (\w+): (.*)$/s.exec(fault) ?? [];
  // A number is not content of a conversation; other values might be.
  return Number.isNaN(Number(given))
    ? new TypeError(`${name}: must be of the type ${wanted}`)
    : new RangeError(`${name}: ${given} is no ${wanted}`);
}

/** The text of an error, with what only the client knows: the address, and where its token comes from. */
function textOf(e: ConnectError, code: Code, address: string, tokenOrigin: () => string): string {
  if (code === Code.Unauthenticated) {
    return `${e.rawMessage}: ${tokenOrigin()}`;
  }
  return code === Code.Unavailable && !e.metadata.has("grpc-status") ? outOfReachText(e, address) : e.rawMessage;
}

/** The error text where no daemon answers. */
function outOfReachText(e: ConnectError, address: string): string {
  const codes = nodeCodes(e.cause);
  const strange = codes.find((code) => code === "ERR_HTTP2_ERROR" || code === "ERR_SSL_WRONG_VERSION_NUMBER");
  if (strange !== undefined) {
    return `no gRPC server answers at ${address}: another kind of server listens there, or only one side has tls (${strange})`;
  }
  const absent = absence(e.cause);
  if (absent === undefined) {
    return `no daemon answers at ${address}: ${e.rawMessage.trim()}`;
  }
  const listen = address !== defaults.address && isLocalAddress(address) ? ` --listen ${address}` : "";
  const start = `\`${startCommand()}${listen}\`${toBuild()}`;
  return `no daemon answers at ${address}: start one with ${start}, or set ${defaults.addressVariable} (${absent})`;
}

/** Why no daemon can be at an address; undefined where one may be there. */
export function absence(e: unknown): string | undefined {
  return nodeCodes(e)
    .map((code) => absences[code])
    .find((why) => why !== undefined);
}

const absences: Readonly<Record<string, string | undefined>> = {
  ECONNREFUSED: "nothing listens there",
  ENOENT: "there is no such socket",
  ENOTFOUND: "there is no host of this name",
};

/** Whether only this machine can reach an address. Of names, only localhost: what others mean may change. */
function isLocalAddress(address: string): boolean {
  return /^(unix:|localhost:|\[::1\]:|127\.\d+\.\d+\.\d+:)/.test(address);
}

function isReason(name: string): name is keyof typeof ErrorReason {
  return Object.hasOwn(classOfReason, name);
}

/**
 * Whether the connection failed or ended before the daemon sent a status. connect-node gives such errors a status by
 * their cause, such as ABORTED for a reset connection, which the daemon uses with another meaning.
 */
function isBrokenConnection(e: ConnectError): boolean {
  if (e.metadata.has("grpc-status")) {
    return false;
  }
  switch (e.code) {
    case Code.Aborted:
    case Code.Canceled:
      return true;
    case Code.Internal:
    case Code.Unknown:
      return (
        nodeCodes(e.cause).length > 0 ||
        /^(protocol error: missing|http\/2|sentinel|expected open session)/.test(e.rawMessage)
      );
    default:
      return false;
  }
}

/** The codes of the error and of its causes. Only errors of Node's network modules have textual codes. */
function nodeCodes(reason: unknown): string[] {
  const codes: string[] = [];
  for (let e = reason; e instanceof Error; e = e.cause) {
    if ("code" in e && typeof e.code === "string") {
      codes.push(e.code);
    }
  }
  return codes;
}
