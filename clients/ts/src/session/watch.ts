import type { Client as Stub } from "@connectrpc/connect";

import type { Connection } from "../wire/connection.js";
import { UnavailableError } from "../wire/errors.js";
import { backoffMs, retryFigures } from "../wire/retry.js";
import type { SessionService, WatchSessionResponse } from "../v1.js";

/** Something that happened in a session: a message, a record, or an event of a running compaction. */
export type WatchItem = Extract<WatchSessionResponse["kind"], { case: "message" | "record" | "event" }>;

/** What to watch. */
export interface WatchOptions {
  /** The first sequence to deliver; 0 is the beginning of the log. Default: only what is written from now on. */
  readonly fromSequence?: number;
  /** Whether the events of running compactions come too, as far as they are seen. Default false. */
  readonly events?: boolean;
  /** Whether messages come without their parts. Default false. */
  readonly withoutContent?: boolean;
  /** Ends the watch: the loop throws its reason. */
  readonly signal?: AbortSignal;
}

/** What a watch needs to go on after a break. */
export interface WatchParts {
  /** Where it is asked for. */
  readonly stub: Stub<typeof SessionService>;
  /** The connection, for the pauses before it is asked for again. */
  readonly connection: Connection;
  /** The session's id. */
  readonly sessionId: string;
  /** What to watch. */
  readonly options: WatchOptions;
  /** Whether to go on after a break. */
  readonly retry: boolean;
}

/**
 * Yields what happens in a session until the loop is left. After a break it goes on behind what it yielded last, for as
 * long as it takes the daemon to come back; only the first call gives up, as other calls do.
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
      const mayGoOn = e instanceof UnavailableError && parts.retry && (uid !== "" || attempt < retryFigures.attempts);
      if (!mayGoOn) {
        throw e;
      }
    }
    await parts.connection.pause(backoffMs(attempt + 1), options.signal);
  }
}
