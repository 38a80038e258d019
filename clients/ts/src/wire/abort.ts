/** The functions to call for each signal. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls a function when the signal aborts, at once where it already has. The returned function removes it. This package
 * adds only one listener to a signal, since Node warns of a leak from eleven on.
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  if (signal.aborted) {
    call();
    return () => undefined;
  }
  const calls = waiting.get(signal) ?? firstOf(signal);
  // A new function, since the same one may be given twice.
  const mine = (): void => {
    call();
  };
  calls.add(mine);
  return () => {
    calls.delete(mine);
    // Most signals live longer than the calls that they are given to.
    if (calls.size === 0 && waiting.get(signal) === calls) {
      waiting.delete(signal);
      signal.removeEventListener("abort", aborted);
    }
  };
}

function firstOf(signal: AbortSignal): Set<() => void> {
  const calls = new Set<() => void>();
  waiting.set(signal, calls);
  signal.addEventListener("abort", aborted);
  return calls;
}

function aborted(this: AbortSignal): void {
  const calls = waiting.get(this);
  waiting.delete(this);
  calls?.forEach((call) => {
    call();
  });
}

/**
 * Settles as `work` does, or rejects with the signal's reason as soon as it aborts. A later result of `work` is
 * dropped, so that a model or a tool that ignores its signal does not block the caller.
 */
export function orAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const release = onAbort(signal, () => {
      reject(reasonOf(signal));
    });
    // Also after an abort, so that a later failure of `work` is not an unhandled rejection.
    work.then(resolve, reject).then(release);
  });
}

/** Waits for the milliseconds, or rejects with the signal's reason as soon as it aborts. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    await orAborted(elapsed, signal);
  } finally {
    clearTimeout(timer);
  }
}

/** The reason of an aborted signal, as an error. */
export function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new DOMException(String(reason), "AbortError");
}
