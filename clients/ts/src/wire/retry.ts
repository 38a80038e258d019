import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";

import { onAbort } from "./abort.js";
import { type ReasonName, CompactordError, UnavailableError } from "./errors.js";

/** How often, and after which pauses, a call is sent again where no daemon answers. */
export const retryFigures = {
  /** The number of attempts, including the first. */
  attempts: 5,
  /** The pause after the first attempt, in milliseconds. */
  firstBackoffMs: 200,
  /** The factor from one pause to the next. */
  backoffFactor: 2.5,
  /** The longest pause, in milliseconds. */
  maxBackoffMs: 5000,
} as const;

/**
 * Whether a call is safe to send again where it is unknown if it was executed: a read, or a write with a request id.
 * The contract says which calls are reads.
 */
export function isSafeToRepeat(method: DescMethod, input: object): boolean {
  if (method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS) {
    return true;
  }
  return "requestId" in input && typeof input.requestId === "string" && input.requestId !== "";
}

/**
 * The pause before the attempt with this number, from 2, in milliseconds: a random time from half of the pause to all
 * of it.
 */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const { firstBackoffMs, backoffFactor, maxBackoffMs } = retryFigures;
  const figure = Math.min(firstBackoffMs * backoffFactor ** (attempt - 2), maxBackoffMs);
  return figure * (0.5 + 0.5 * random());
}

/**
 * Makes a call, and again where the daemon was too busy for it, or, if it is `safe` to repeat, where no daemon answers.
 * `pause` waits for the milliseconds, or throws to give up.
 */
export async function repeated<T>(
  call: () => Promise<T>,
  pause: (ms: number) => Promise<void>,
  safe: () => boolean,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (e) {
      const ms = busyForMs(e) ?? (e instanceof UnavailableError && safe() ? backoffMs(attempt + 1) : undefined);
      if (ms === undefined || attempt === retryFigures.attempts) {
        throw e;
      }
      await pause(ms);
    }
  }
}

/** The reasons of a daemon that had too much to do, and did nothing of the call. */
const busyReasons: readonly ReasonName[] = ["MEMORY_EXHAUSTED", "TOO_MANY_WAITING", "SLOW_READER"];

/**
 * The milliseconds after which to send a call again that the daemon was too busy for: its own figure, and up to half of
 * that more, so that not all clients come at the same moment. Undefined where that was not why.
 */
export function busyForMs(e: unknown, random: () => number = Math.random): number | undefined {
  if (!(e instanceof CompactordError) || e.retryAfterMs === undefined || !busyReasons.includes(e.reason)) {
    return undefined;
  }
  return e.retryAfterMs * (1 + 0.5 * random());
}

/** Waits for the milliseconds. Throws the reason of a signal that aborts before. */
export async function pause(ms: number, ...signals: (AbortSignal | undefined)[]): Promise<void> {
  const stop = new AbortController();
  const release = forward(signals, stop);
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, Math.max(ms, 0));
      stop.signal.addEventListener("abort", () => {
        resolve();
      });
      if (stop.signal.aborted) {
        resolve();
      }
    });
    stop.signal.throwIfAborted();
  } finally {
    clearTimeout(timer);
    release();
  }
}

/**
 * Aborts the target with the reason of the first of the signals that aborts. The returned function ends this. It is not
 * AbortSignal.any, whose signals some releases of Node keep in memory as long as the longest-lived source.
 */
export function forward(signals: readonly (AbortSignal | undefined)[], target: AbortController): () => void {
  const releases = signals
    .filter((signal) => signal !== undefined)
    .map((signal) =>
      onAbort(signal, () => {
        target.abort(signal.reason);
      }),
    );
  return () => {
    for (const release of releases) {
      release();
    }
  };
}
