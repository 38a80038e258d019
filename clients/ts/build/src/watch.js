import { UnavailableError } from "./errors.js";
import { backoffMs, forward, retryFigures } from "./retry.js";
/**
 * Yields what happens in a session until the loop is left. After a break it goes on behind what it yielded last, for as
 * long as it takes the daemon to come back; only the first call gives up, as other calls do.
 */
export async function* watchSession(parts) {
    let next = parts.options.fromSequence;
    let uid = "";
    for (let attempt = 1;; attempt++) {
        try {
            for await (const { kind } of streamed(parts, next, uid)) {
                attempt = 1;
                if (kind.case === "started") {
                    uid = kind.value.uid;
                    next = kind.value.fromSequence;
                }
                else if (kind.case === "message" || kind.case === "record") {
                    next = kind.value.sequence + 1;
                    yield kind;
                }
                else if (kind.case === "event") {
                    yield kind;
                }
            }
        }
        catch (e) {
            const mayGoOn = e instanceof UnavailableError && parts.retry && (uid !== "" || attempt < retryFigures.attempts);
            if (!mayGoOn) {
                throw e;
            }
        }
        await parts.connection.pause(backoffMs(attempt + 1), parts.options.signal);
    }
}
async function* streamed({ stub, sessionId, options }, fromSequence, uid) {
    const call = new AbortController();
    const release = forward([options.signal], call);
    try {
        yield* stub.watchSession({
            sessionId,
            uid,
            ...(fromSequence !== undefined && { fromSequence }),
            events: options.events ?? false,
            withoutContent: options.withoutContent ?? false,
        }, { signal: call.signal });
    }
    finally {
        release();
        call.abort();
    }
}
