import type { Client as Stub } from "@connectrpc/connect";

import type { Connection } from "./connection.js";
import { newRequestId } from "./ids.js";
import type { CompactionService, SessionService } from "../v1.js";

/** What a session makes its calls with: the part of a client that it knows. */
export interface Calls {
  /** The stubs of sessions. */
  readonly sessions: Stub<typeof SessionService>;
  /** The stubs of compactions and views. */
  readonly compactions: Stub<typeof CompactionService>;
  /** @internal */
  readonly connection: Connection;
  /** @internal */
  readonly retry: boolean;
}

/** What every call takes. */
export interface CallOptions {
  /** Cancels the call: it rejects with the signal's reason, as `fetch` does. */
  readonly signal?: AbortSignal;
  /** The time limit in milliseconds, in place of the client's; `Infinity` is none. */
  readonly timeoutMs?: number;
}

/** What every call takes that writes. */
export interface WriteOptions extends CallOptions {
  /** By which the daemon knows the call if it is sent again. Default: a new UUID. At most 128 bytes. */
  readonly requestId?: string;
}

/** The options that a stub takes, of those that a method was given. */
export function callOptions({ signal, timeoutMs }: CallOptions): CallOptions {
  return { ...(signal !== undefined && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
}

/** The given request id, or a new one. */
export function requestIdOf(options: WriteOptions): string {
  return options.requestId ?? newRequestId();
}

/** A message of an answer that every daemon sends. */
export function present<T>(message: T | undefined, field: string): T {
  if (message === undefined) {
    throw new TypeError(`the daemon's answer has no ${field}`);
  }
  return message;
}
