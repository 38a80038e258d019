import type { Client as Stub } from "@connectrpc/connect";

import type { Connection } from "../wire/connection.js";
import { CompactordError, UnavailableError } from "../wire/errors.js";
import { backoffMs, retryFigures } from "../wire/retry.js";
import type { SessionService, WatchSessionResponse } from "../v1.js";

/** An item of a watch: a message, a record, or an event of a running compaction. */
export type WatchItem = Extract<WatchSessionResponse["kind"], { case: "message" | "record" | "event" }>;

/** The options of a watch. */
export interface WatchOptions {
  /** The sequence where to begin; 0 for the whole log. Default: the current end of the log. */
  readonly fromSequence?: number;
  /** Whether to include the events of running compactions. Default false. */
  readonly events?: boolean;
  /** Whether to leave out the parts of messages. Default false. */
  readonly withoutContent?: boolean;
  /** Ends the watch. The loop then throws the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** All options of a watch. Other keys are refused: they may be misspelt. */
export const takenByWatch: Readonly<Record<keyof WatchOptions, true>> = {
  fromSequence: true,
  events: true,
  withoutContent: true,
  signal: true,
};

/** The parameters of a watch. */
export interface WatchParts {
  /** The stub. */
  readonly stub: Stub<typeof SessionService>;
  /** The connection, for the pauses before a retry. */
  readonly connection: Connection;
  /** The session's id. */
  readonly sessionId: string;
  /** What to watch. */
  readonly options: WatchOptions;
  /** Whether to continue after the connection broke. */
  readonly retry: boolean;
}

/**
 * Yields the items of a session until the loop is left. After a broken connection it continues after the last item,
 * however long the daemon takes to come back, and so it does where the daemon ended it because its loop was too slow. Only
 * the first call gives up, as other calls do.
 */
export async function* watchSession(parts: WatchParts): AsyncGenerator<WatchItem, void, undefined> {
  const { stub, sessionId, options } = parts;
  const request = { sessionId, events: options.events ?? false, withoutContent: options.withoutContent ?? false };
  const call = options.signal === undefined ? {} : { signal: options.signal };
  let next = options.fromSequence;
  let uid = "";
  for (let attempt = 1; ; attempt++) {
    try {
      for await (const { kind } of stub.watchSession(
        { ...request, uid, ...(next !== undefined && { fromSequence: next }) },
        call,
      )) {
        attempt = 1;
        if (kind.case === "started") {
          uid = kind.value.uid;
          next = kind.value.fromSequence;
        } else if (kind.case === "message" || kind.case === "record") {
          next = kind.value.sequence + 1;
          yield kind;
        } else if (kind.case === "event") {
          yield kind;
        }
      }
    } catch (e) {
      const passes = (e instanceof UnavailableError && parts.connection.mayFindDaemon(e)) || tooSlow(e);
      const mayGoOn = passes && parts.retry && (uid !== "" || attempt < retryFigures.attempts);
      if (!mayGoOn) {
        throw e;
      }
    }
    await parts.connection.pause(backoffMs(attempt + 1), options.signal);
  }
}

/** Whether the daemon has ended a watch whose loop did not read what was there. */
function tooSlow(e: unknown): boolean {
  return e instanceof CompactordError && e.reason === "WATCHER_TOO_SLOW";
}
