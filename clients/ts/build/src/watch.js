import { UnavailableError } from "./errors.js";
import { backoffMs, retryFigures } from "./retry.js";
/**
 * Yields what happens in a session until the loop is left. After a break it goes on behind what it yielded last, for as
 * long as it takes the daemon to come back; only the first call gives up, as other calls do.
 */
export async function* watchSession(parts) {
    const { stub, sessionId, options } = parts;
    const request = { sessionId, events: options.events ?? false, withoutContent: options.withoutContent ?? false };
    const call = options.signal === undefined ? {} : { signal: options.signal };
    let next = options.fromSequence;
    let uid = "";
    for (let attempt = 1;; attempt++) {
        try {
            for await (const { kind } of stub.watchSession({ ...request, uid, ...(next !== undefined && { fromSequence: next }) }, call)) {
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
        await parts.connection.pause(backoffMs(attempt + 1), options.signal);
    }
}
