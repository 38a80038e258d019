import { orAborted } from "../wire/abort.js";
import { isObject } from "../contract/arguments.js";
import { assistant, type Appendable } from "../contract/messages.js";
import type { Message } from "../v1.js";

/**
 * The forms in which `callModel` can return an answer: the provider's answer (a plain object, an SDK's object, or the
 * raw body as bytes), a neutral message, a text, or the events of a streamed answer: an SDK's stream, or a generator of
 * the events. A stream of strings is a text in pieces.
 */
export type ModelOutput = Appendable | Iterable<unknown> | AsyncIterable<unknown>;

/**
 * Returns the complete answer of a model for an append. The events of a stream are collected as JSON, since some SDKs
 * change their objects later. Ends the stream when the signal aborts.
 */
export async function wholeOf(
  output: ModelOutput | PromiseLike<ModelOutput>,
  signal: AbortSignal,
): Promise<Appendable> {
  const answer: unknown = await orAborted(Promise.resolve(output), signal);
  if (typeof answer === "string") {
    return assistant(answer);
  }
  if (Array.isArray(answer) && answer.length === 0) {
    throw noEvents();
  }
  const events = eventsOf(answer);
  // A stream may be an object without keys, too.
  const returned = events === undefined ? notAnAnswer(answer) : undefined;
  if (returned !== undefined) {
    throw new TypeError(
      `callModel: it returned ${returned}; it must return the model's answer: an object of the provider's SDK, its JSON as bytes, a string, a v1.Message, or a stream of events`,
    );
  }
  return events === undefined ? (answer as Appendable) : collect(events, signal);
}

/** Names what cannot be an answer; undefined where it can be one. */
function notAnAnswer(answer: unknown): string | undefined {
  if (answer === undefined || answer === null) {
    return "nothing";
  }
  if (answer instanceof Uint8Array) {
    return answer.length === 0 ? "empty bytes" : undefined;
  }
  if (typeof answer !== "object") {
    return `a ${typeof answer}`;
  }
  if (answer instanceof Set) {
    return "a Set";
  }
  return isPlain(answer) && Object.keys(answer).length === 0 ? "an empty object" : undefined;
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

/** Collects the events of an answer, or its text in pieces. */
class StreamedAnswer {
  readonly #events: string[] = [];
  readonly #texts: string[] = [];

  add(event: unknown): void {
    if (event === undefined || event === null || typeof event === "number" || typeof event === "boolean") {
      throw new TypeError(`callModel: an event of its stream is ${event === null ? "null" : typeof event}`);
    }
    if (event instanceof Uint8Array && event.length === 0) {
      return;
    }
    if (typeof event === "string") {
      this.#texts.push(event);
    } else {
      this.#events.push(event instanceof Uint8Array ? new TextDecoder().decode(event) : JSON.stringify(event));
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

/** Whether it is an object literal, and no object of an SDK, whose fields may be getters. */
function isPlain(answer: unknown): answer is object {
  return isObject(answer) && [Object.prototype, null].includes(Object.getPrototypeOf(answer) as object | null);
}

function noEvents(): Error {
  return new Error("the model's stream had no events");
}

/** Closes the source of the events, without waiting: it may hang where the model does. */
function end(events: Iterator<unknown> | AsyncIterator<unknown>): void {
  Promise.resolve()
    .then(() => events.return?.())
    .catch(() => undefined);
}

function eventsOf(answer: unknown): Iterator<unknown> | AsyncIterator<unknown> | undefined {
  const whole = answer instanceof Uint8Array || answer instanceof Set || Array.isArray(answer);
  if (typeof answer !== "object" || answer === null || whole) {
    return undefined;
  }
  if (Symbol.asyncIterator in answer) {
    return (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  }
  return Symbol.iterator in answer ? (answer as Iterable<unknown>)[Symbol.iterator]() : undefined;
}
