import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";

import { onAbort } from "./abort.js";
import { UnavailableError } from "./errors.js";

/** How often and how fast a call is sent again that found no daemon. */
export const retryFigures = {
  /** Tries of one call, the first among them. */
  attempts: 5,
  /** The pause after the first try, in milliseconds. */
  firstBackoffMs: 200,
  /** By what each pause is longer than the one before. */
  backoffFactor: 2.5,
  /** The longest pause, in milliseconds. */
  maxBackoffMs: 5000,
} as const;

/**
 * Whether a call may be sent again when it is unknown what became of it: a read, or a write with a request id, by which the
 * daemon knows it again. The contract says which calls are reads.
 */
export function isSafeToRepeat(method: DescMethod, input: object): boolean {
  if (method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS) {
    return true;
  }
  return "requestId" in input && typeof input.requestId === "string" && input.requestId !== "";
}

/** The pause before the try with this number, from 2 on, in milliseconds: between a half of the figure and the whole. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const { firstBackoffMs, backoffFactor, maxBackoffMs } = retryFigures;
  const figure = Math.min(firstBackoffMs * backoffFactor ** (attempt - 2), maxBackoffMs);
  return figure * (0.5 + 0.5 * random());
}

/** Makes a call, and again where it found no daemon; `pause` waits so many milliseconds, or throws to give up. */
export async function repeated<T>(call: () => Promise<T>, pause: (ms: number) => Promise<void>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (e) {
      if (!(e instanceof UnavailableError) || attempt === retryFigures.attempts) {
        throw e;
      }
      await pause(backoffMs(attempt + 1));
    }
  }
}

/** Waits so many milliseconds, or until one of the signals fires: then it throws that one's reason. */
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
 * Aborts the target when one of the signals fires, with its reason, until the answered function is called. AbortSignal.any
 * would do, but keeps what it makes for as long as the longest-lived of the signals in some releases of Node.
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
