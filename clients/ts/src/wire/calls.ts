import type { Client as Stub } from "@connectrpc/connect";

import type { Connection } from "./connection.js";
import { newRequestId } from "./ids.js";
import type { CompactionService, SessionService } from "../v1.js";

/** The part of a client that sessions use. */
export interface Calls {
  /** The stubs of SessionService. */
  readonly sessions: Stub<typeof SessionService>;
  /** The stubs of CompactionService. */
  readonly compactions: Stub<typeof CompactionService>;
  /** @internal */
  readonly connection: Connection;
  /** @internal */
  readonly retry: boolean;
}

/** The options of every call. */
export interface CallOptions {
  /** Cancels the call: it rejects with the signal's reason, as `fetch` does. */
  readonly signal?: AbortSignal;
  /** The time limit in milliseconds, in place of the client's; `Infinity` for none. */
  readonly timeoutMs?: number;
}

/** The options of every call that writes. */
export interface WriteOptions extends CallOptions {
  /** Makes the call safe to repeat. Default: a new UUID. At most 128 bytes. */
  readonly requestId?: string;
}

/** The names of the options of every call, and of every call that writes. */
export const callKeys = ["signal", "timeoutMs"] as const satisfies readonly (keyof CallOptions)[];
export const writeKeys = [...callKeys, "requestId"] as const satisfies readonly (keyof WriteOptions)[];

/** The options for a stub, from those of a method. */
export function callOptions({ signal, timeoutMs }: CallOptions): CallOptions {
  return { ...(signal !== undefined && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
}

/** The given request id, or a new one. */
export function requestIdOf(options: WriteOptions): string {
  return options.requestId ?? newRequestId();
}

/** Returns a message field that every response must have. */
export function present<T>(message: T | undefined, field: string): T {
  if (message === undefined) {
    throw new TypeError(`the daemon's response has no ${field}`);
  }
  return message;
}
