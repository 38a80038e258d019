import { createHash } from "node:crypto";

import { create, isMessage, toBinary } from "@bufbuild/protobuf";

import { isObject } from "./arguments.js";
import type { DialectName } from "./messages.js";
import { contentOf } from "./messages.js";
import type { LackingElements, ListElement, Message } from "../v1.js";
import { ListElementSchema, MessageSchema, Role, ViewMessageSchema } from "../v1.js";

/** An element of an agent's list: a provider's object, or without a dialect a neutral message, also one of a view. */
export type Element = object | string;

/** A system prompt that stands apart: a text, the provider's object, or a list of these. */
export type SystemPrompt = string | object | readonly (string | object)[];

/** Up to this many bytes, a list of which nothing is known to be had is sent with its content at once. */
const sentAtOnce = 64 << 10;
const digestBytes = 16;

/** The complete list of an agent's messages: its elements as they are sent, and what stands for them. */
export class ElementList {
  /** The elements with their content. */
  readonly elements: readonly ListElement[];
  /** What can be sent in place of each content, in hexadecimal. */
  readonly digests: readonly string[];
  /** How many elements at the start are SYSTEM and DEVELOPER messages. */
  readonly leading: number;
  private readonly bytes: number;

  private constructor(contents: readonly Content[]) {
    this.elements = contents.map(({ element }) => element);
    this.digests = contents.map(({ bytes }) =>
      createHash("sha256")
        .update(bytes)
        .digest("hex")
        .slice(0, 2 * digestBytes),
    );
    const first = contents.findIndex(({ leads }) => !leads);
    this.leading = first < 0 ? contents.length : first;
    this.bytes = contents.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /** Converts a list. Throws a TypeError where it is none, or an element is no message. */
  static of(given: readonly Element[], dialect: DialectName | undefined): ElementList {
    const list: unknown = given;
    if (!Array.isArray(list)) {
      throw new TypeError(`messages: must be the list of all messages, and is ${typeName(list)}`);
    }
    return new ElementList(
      list.map((item, at) => (dialect === undefined ? neutralContent(item, at) : jsonContent(item, at, dialect))),
    );
  }

  /** The elements as they are sent first. `held` is the last list that the daemon took from this client. */
  firstSent(held: ElementList | undefined): ListElement[] {
    if (held === undefined) {
      return this.sent(0, this.bytes <= sentAtOnce ? 0 : this.elements.length);
    }
    return this.sent(this.leadsAs(held) ? 0 : this.leading, this.leading + this.same(held));
  }

  /** The elements as they are sent to a daemon that lacks some. */
  sentAfter(lacking: LackingElements): ListElement[] {
    return this.sent(lacking.leading, lacking.first);
  }

  /** The JSON of the first elements as the body of a request, with the system prompt that stands apart. */
  document(system: readonly string[], elements: number, dialect: DialectName): string {
    const list = this.elements.slice(0, elements).map(({ content }) => (content.case === "json" ? content.value : ""));
    const messages = `[${list.join(",")}]`;
    const prompt = (key: string, value: string): string => (system.length > 0 ? `"${key}":${value},` : "");
    switch (dialect) {
      case "anthropic":
        return `{${prompt("system", `[${system.join(",")}]`)}"messages":${messages}}`;
      case "gemini":
        return `{${prompt("systemInstruction", system[0] ?? "")}"contents":${messages}}`;
      case "openai_responses":
        return `{${prompt("instructions", system[0] ?? "")}"input":${messages}}`;
      case "openai_chat":
        return messages;
    }
  }

  /** The elements: those from `start` to `end` by their digests, the others with their content. */
  private sent(start: number, end: number): ListElement[] {
    return this.elements.map((element, at) =>
      at >= start && at < end
        ? create(ListElementSchema, { content: { case: "digest", value: Buffer.from(this.digests[at] ?? "", "hex") } })
        : element,
    );
  }

  /** How many elements behind the leading ones are the same as those of a list before. */
  private same(held: ElementList): number {
    const [own, other] = [this.digests.slice(this.leading), held.digests.slice(held.leading)];
    const differs = own.findIndex((digest, at) => digest !== other[at]);
    return differs < 0 ? own.length : differs;
  }

  private leadsAs(held: ElementList): boolean {
    const own = this.digests.slice(0, this.leading);
    return this.leading === held.leading && own.every((digest, at) => digest === held.digests[at]);
  }
}

/** How many elements are sent with their content. */
export function contentSent(elements: readonly ListElement[]): number {
  return elements.filter(({ content }) => content.case !== "digest").length;
}

/** Converts a system prompt that stands apart. Throws a TypeError where the dialect has none, or it is none. */
export function systemJsonOf(given: SystemPrompt | undefined, dialect: DialectName | undefined): string[] {
  if (given === undefined) {
    return [];
  }
  if (dialect === undefined || dialect === "openai_chat") {
    throw new TypeError(
      `system: ${dialect ?? "a neutral list"} has the system prompt among the messages: put it there`,
    );
  }
  const items: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (items.length > 1 && dialect !== "anthropic") {
    throw new TypeError(`system: ${dialect} has one system prompt, and there are ${String(items.length)}`);
  }
  return items.filter((item) => item !== "").map((item) => JSON.stringify(promptOf(item, dialect)));
}

function promptOf(item: unknown, dialect: DialectName): unknown {
  if (typeof item === "string") {
    switch (dialect) {
      case "anthropic":
        return { type: "text", text: item };
      case "gemini":
        return { parts: [{ text: item }] };
      default:
        return item;
    }
  }
  if (dialect === "openai_responses" || !isObject(item)) {
    const more = dialect === "openai_responses" ? "" : ", the provider's object or a list of them";
    throw new TypeError(`system: must be a text${more}, and is ${typeName(item)}`);
  }
  return item;
}

/** An element with the bytes that its digest is of. */
interface Content {
  readonly element: ListElement;
  readonly bytes: Uint8Array;
  readonly leads: boolean;
}

function jsonContent(item: unknown, at: number, dialect: DialectName): Content {
  const name = `messages[${String(at)}]`;
  if (isMessage(item, MessageSchema) || isMessage(item, ViewMessageSchema)) {
    throw new TypeError(
      `${name}: is a neutral message, and the list is in the dialect ${dialect}: put in the provider's objects`,
    );
  }
  if (!isObject(item) || "then" in item) {
    throw new TypeError(`${name}: must be an object, and is ${typeName(item)}`);
  }
  let json: unknown;
  try {
    json = JSON.stringify(item);
  } catch {
    throw new TypeError(`${name}: cannot be written as JSON: it contains a BigInt, or itself`);
  }
  if (typeof json !== "string") {
    throw new TypeError(`${name}: cannot be written as JSON`);
  }
  return {
    element: create(ListElementSchema, { content: { case: "json", value: json } }),
    bytes: Buffer.from(json),
    leads: item["role"] === "system" || item["role"] === "developer",
  };
}

function neutralContent(item: unknown, at: number): Content {
  const message = neutralOf(item, at);
  return {
    element: create(ListElementSchema, { content: { case: "message", value: message } }),
    bytes: toBinary(MessageSchema, message),
    leads: message.role === Role.SYSTEM || message.role === Role.DEVELOPER,
  };
}

function neutralOf(item: unknown, at: number): Message {
  const name = `messages[${String(at)}]`;
  const shown = isMessage(item, ViewMessageSchema) ? item.message : item;
  if (typeof shown !== "string" && !isObject(shown)) {
    throw new TypeError(`${name}: must be a neutral message, a text or an object, and is ${typeName(shown)}`);
  }
  try {
    const [message] = contentOf(shown, undefined).messages ?? [];
    return create(MessageSchema, message);
  } catch (error) {
    throw new TypeError(`${name}: ${error instanceof Error ? error.message.replace(/^append: /, "") : ""}`);
  }
}

function typeName(value: unknown): string {
  if (value === null || Array.isArray(value)) {
    return value === null ? "null" : "a list";
  }
  return isObject(value) && "then" in value ? "a promise: await it first" : typeof value;
}
