import { orAborted } from "./abort.js";
import { assistant } from "./messages.js";
/**
 * The whole of what a model answers, as it can be appended. Of a stream the events are collected, each written down as it
 * comes: some SDKs go on to change the objects that they have handed out. Ends the stream where the signal aborts.
 */
export async function wholeOf(output, signal) {
    const answer = await orAborted(Promise.resolve(output), signal);
    if (typeof answer === "string") {
        return assistant(answer);
    }
    const events = eventsOf(answer);
    return events === undefined ? answer : collect(events, signal);
}
async function collect(events, signal) {
    const answer = new StreamedAnswer();
    try {
        for (;;) {
            const next = await orAborted(Promise.resolve(events.next()), signal);
            if (next.done === true) {
                return answer.whole();
            }
            answer.add(next.value);
        }
    }
    catch (error) {
        end(events);
        throw error;
    }
}
/** The events of an answer as they come; or its text, in pieces. */
class StreamedAnswer {
    #events = [];
    #texts = [];
    add(event) {
        if (typeof event === "string") {
            this.#texts.push(event);
        }
        else {
            this.#events.push(event instanceof Uint8Array ? new TextDecoder().decode(event) : JSON.stringify(event ?? null));
        }
        if (this.#texts.length > 0 && this.#events.length > 0) {
            throw new TypeError("a streamed answer is either events or pieces of text, not both");
        }
    }
    whole() {
        return this.#texts.length > 0
            ? assistant(this.#texts.join(""))
            : new TextEncoder().encode(`[${this.#events.join(",")}]`);
    }
}
/** Tells the source of the events that nobody reads on. It is not waited for: it may hang where the model does. */
function end(events) {
    Promise.resolve()
        .then(() => events.return?.())
        .catch(() => undefined);
}
function eventsOf(answer) {
    if (typeof answer !== "object" || answer === null || answer instanceof Uint8Array || Array.isArray(answer)) {
        return undefined;
    }
    if (Symbol.asyncIterator in answer) {
        return answer[Symbol.asyncIterator]();
    }
    return Symbol.iterator in answer ? answer[Symbol.iterator]() : undefined;
}
