import { checkSession, warnOfMistakes } from "./mistakes.js";
import type { Session } from "../client/client.js";
import type { Synced } from "../compaction/synced.js";
import type { SyncOptions } from "../compaction/syncing.js";
import type { ViewMessage } from "../v1.js";
import { Role } from "../v1.js";
import { warn } from "../view/warnings.js";
import { CompactordError, InvalidRequestError, SyncConflictError, UnavailableError } from "../wire/errors.js";

/** What cancels a call, where there is something. */
export interface Cancellable {
  readonly signal?: AbortSignal | undefined;
}

function signalOf({ signal }: Cancellable): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

/**
 * Throws a TypeError where this is no session, or one with a dialect: the messages of frameworks are converted to neutral
 * ones.
 */
export function checkNeutral(session: Session): void {
  checkSession(session);
  if (session.dialect !== undefined) {
    throw new TypeError(`session: must be opened without a dialect, and has ${session.dialect}`);
  }
}

/**
 * Brings the session in line with a framework's list, and compacts where that is due. Where the compaction fails, the run
 * goes on with what is not compacted, and a warning says why. The daemon does not try again at once: after some failures
 * it waits longer and longer. Rejects where no daemon answers, it does not take the list, or another process has written.
 */
export async function synced(
  session: Session,
  messages: readonly object[],
  { system, ...options }: Cancellable & Pick<SyncOptions, "system">,
): Promise<Synced> {
  const given = { ...signalOf(options), ...(system !== undefined && { system }) };
  let made: Synced;
  try {
    made = await session.sync(messages, given);
  } catch (error) {
    const ends = [InvalidRequestError, SyncConflictError, UnavailableError].some((kind) => error instanceof kind);
    if (ends || !(error instanceof CompactordError)) {
      throw error;
    }
    made = await session.sync(messages, { ...given, compact: false });
    warn(`the session could not be compacted: ${error.message}`);
  }
  warnOfMistakes(session, messages, made);
  return made;
}

/**
 * Whether an error of a model's package is a context overflow, and the session is smaller now. Where the daemon fails, a
 * warning says why: the program is to get the model's error, and not the daemon's.
 */
export async function madeRoom(session: Session, error: unknown, options: Cancellable): Promise<boolean> {
  if (!(error instanceof Error) || error.name === "AbortError") {
    return false;
  }
  const status = [statusOf(error, "statusCode"), statusOf(error, "status")].find((one) => one > 0) ?? 0;
  const given = { errorText: error.message, httpStatus: status, sessionId: session.id };
  try {
    const { overflow } = await session.client.classifyError(given, signalOf(options));
    return overflow && (await session.compact({ reason: "overflow", ...signalOf(options) })).done;
  } catch (failure) {
    if (!(failure instanceof CompactordError)) {
      throw failure;
    }
    warn(`the session could not be made smaller: ${failure.message}`);
    return false;
  }
}

function statusOf(error: Error, key: string): number {
  const found: unknown = Reflect.get(error, key);
  return typeof found === "number" && Number.isInteger(found) ? found : 0;
}

/** A view without the instructions at its start: a request has its own. */
export function conversationOf(view: readonly ViewMessage[]): ViewMessage[] {
  const leads = ({ message, origin }: ViewMessage): boolean =>
    origin.case === "instructions" ||
    (origin.case === "index" && (message?.role === Role.SYSTEM || message?.role === Role.DEVELOPER));
  const start = view.findIndex((one) => !leads(one));
  return start < 0 ? [] : view.slice(start);
}
