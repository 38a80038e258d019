import { orAborted } from "../wire/abort.js";
import { assistant, type Appendable } from "../contract/messages.js";
import type { Message } from "../v1.js";

/**
 * What a call of the model may answer: the provider's answer as it is (a plain object, an SDK's object, or the raw body as
 * bytes), a neutral message, a text, or the events of a streamed answer as they come: an SDK's stream, or a generator that
 * hands the events through. A stream of strings is a text in pieces.
 */
export type ModelOutput = Appendable | Iterable<unknown> | AsyncIterable<unknown>;

/**
 * The whole of what a model answers, as it can be appended. Of a stream the events are collected, each written down as it
 * comes: some SDKs go on to change the objects that they have handed out. Ends the stream where the signal aborts.
 */
export async function wholeOf(
  output: ModelOutput | PromiseLike<ModelOutput>,
  signal: AbortSignal,
): Promise<Appendable> {
  const answer: unknown = await orAborted(Promise.resolve(output), signal);
  if (typeof answer === "string") {
    return assistant(answer);
  }
  if (answer === undefined || answer === null) {
    throw new TypeError("callModel: it answered nothing");
  }
  if (Array.isArray(answer) && answer.length === 0) {
    throw noEvents();
  }
  const events = eventsOf(answer);
  return events === undefined ? answer : collect(events, signal);
}

async function collect(
  events: Iterator<unknown> | AsyncIterator<unknown>,
  signal: AbortSignal,
): Promise<Uint8Array | Message> {
  const answer = new StreamedAnswer();
  try {
    for (;;) {
      const next = await orAborted(Promise.resolve(events.next()), signal);
      if (next.done === true) {
        return answer.whole();
      }
      answer.add(next.value);
    }
  } catch (error) {
    end(events);
    throw error;
  }
}

/** The events of an answer as they come; or its text, in pieces. */
class StreamedAnswer {
  readonly #events: string[] = [];
  readonly #texts: string[] = [];

  add(event: unknown): void {
    if (event instanceof Uint8Array && event.length === 0) {
      return;
    }
    if (typeof event === "string") {
      this.#texts.push(event);
    } else {
      this.#events.push(event instanceof Uint8Array ? new TextDecoder().decode(event) : JSON.stringify(event ?? null));
    }
    if (this.#texts.length > 0 && this.#events.length > 0) {
      throw new TypeError("a streamed answer is either events or pieces of text, not both");
    }
  }

  whole(): Uint8Array | Message {
    if (this.#texts.length === 0 && this.#events.length === 0) {
      throw noEvents();
    }
    return this.#texts.length > 0
      ? assistant(this.#texts.join(""))
      : new TextEncoder().encode(`[${this.#events.join(",")}]`);
  }
}

function noEvents(): Error {
  return new Error("the model's stream had no events");
}

/** Tells the source of the events that nobody reads on. It is not waited for: it may hang where the model does. */
function end(events: Iterator<unknown> | AsyncIterator<unknown>): void {
  Promise.resolve()
    .then(() => events.return?.())
    .catch(() => undefined);
}

function eventsOf(answer: unknown): Iterator<unknown> | AsyncIterator<unknown> | undefined {
  if (typeof answer !== "object" || answer === null || answer instanceof Uint8Array || Array.isArray(answer)) {
    return undefined;
  }
  if (Symbol.asyncIterator in answer) {
    return (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  }
  return Symbol.iterator in answer ? (answer as Iterable<unknown>)[Symbol.iterator]() : undefined;
}
