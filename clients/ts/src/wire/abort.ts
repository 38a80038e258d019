/** Who waits for each signal. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls once the signal aborts, unless the answered function is called before; at once where it has aborted. A signal gets
 * one listener of this package, however many calls it ends: Node warns of a leak from eleven on.
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  if (signal.aborted) {
    call();
    return () => undefined;
  }
  const calls = waiting.get(signal) ?? firstOf(signal);
  // A function of its own, since the same may be given twice.
  const mine = (): void => {
    call();
  };
  calls.add(mine);
  return () => {
    calls.delete(mine);
    // Most signals outlive the calls that they are given to.
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
 * Settles as `work` does, or rejects with the signal's reason as soon as it aborts. What `work` comes to afterwards is
 * dropped: a model or a tool that does not listen to its signal holds nobody up.
 */
export function orAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const release = onAbort(signal, () => {
      reject(reasonOf(signal));
    });
    // Also where it has aborted: the failure of what nobody awaits is no unhandled one.
    work.then(resolve, reject).then(release);
  });
}

/** Waits so many milliseconds, or rejects with the signal's reason as soon as it aborts. */
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

/** The reason that a signal aborted for, as an error. */
export function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new DOMException(String(reason), "AbortError");
}
