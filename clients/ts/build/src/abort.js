/**
 * Settles as `work` does, or rejects with the signal's reason as soon as it aborts. What `work` comes to afterwards is
 * dropped: a model or a tool that does not listen to its signal holds nobody up.
 */
export function orAborted(work, signal) {
    return new Promise((resolve, reject) => {
        const aborted = () => {
            reject(reasonOf(signal));
        };
        if (signal.aborted) {
            // Nobody awaits it any more: its failure is no unhandled one.
            work.then(undefined, () => undefined);
            aborted();
            return;
        }
        signal.addEventListener("abort", aborted, { once: true });
        work.then(resolve, reject).then(() => {
            signal.removeEventListener("abort", aborted);
        });
    });
}
/** Waits so many milliseconds, or rejects with the signal's reason as soon as it aborts. */
export async function pause(milliseconds, signal) {
    let timer;
    const elapsed = new Promise((resolve) => {
        timer = setTimeout(resolve, milliseconds);
    });
    try {
        await orAborted(elapsed, signal);
    }
    finally {
        clearTimeout(timer);
    }
}
/** The reason that a signal aborted for, as an error. */
export function reasonOf(signal) {
    const reason = signal.reason;
    return reason instanceof Error ? reason : new DOMException(String(reason), "AbortError");
}
