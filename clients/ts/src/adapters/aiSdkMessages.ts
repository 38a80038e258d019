import { create, equals, toBinary } from "@bufbuild/protobuf";
import type {
  AssistantModelMessage,
  Instructions,
  ModelMessage,
  TextPart,
  ToolModelMessage,
  ToolResultPart,
  UserModelMessage,
} from "ai";

import { system } from "../contract/messages.js";
import type { MediaPart, Message, OpaquePart, Part, ResultPart, ToolResult, ViewMessage } from "../v1.js";
import {
  Dialect,
  MediaPartSchema,
  MessageSchema,
  OpaquePartSchema,
  PartSchema,
  ResultPartSchema,
  Role,
  ToolResultSchema,
} from "../v1.js";

// Messages of the AI SDK as neutral messages, and views as messages of the AI SDK. They have no ids, so what a view shows
// is found in the program's list by what it says, from the end. What a view shows unchanged is the program's own message
// itself, with its ids, signatures and provider options.

/** Opaque parts belong to a dialect. Neutral views show those of each. */
const owner = Dialect.OPENAI_CHAT;

type AssistantPart = Exclude<AssistantModelMessage["content"], string>[number];
type UserPart = Exclude<UserModelMessage["content"], string>[number];
type Output = ToolResultPart["output"];
type OutputPart = Extract<Output, { type: "content" }>["value"][number];
type OutputFile = Extract<OutputPart, { type: "file" }>;
type Source = MediaPart["source"];

/** Where a neutral message is in the program's list: the message, and of one with results the part. */
interface Place {
  readonly at: number;
  readonly part: number;
  readonly message: Message;
  /** The messages that follow and of which a model is shown nothing. */
  readonly silent: number[];
}

/** Converts a list: what a model is shown of it. */
export function neutral(messages: readonly ModelMessage[]): Message[] {
  return placed(messages).map(({ message }) => message);
}

/**
 * Makes messages of the AI SDK of a neutral view.
 *
 * @param view The messages of the view, without the instructions at its start.
 * @param own The program's messages.
 */
export function shown(view: readonly ViewMessage[], own: readonly ModelMessage[]): ModelMessage[] {
  const places = new Places(own);
  const made: ModelMessage[] = [];
  let results: ShownResult[] = [];
  for (const { message, place } of places.found(view)) {
    const result = resultIn(message);
    if (result !== undefined) {
      results.push({ result, place });
      continue;
    }
    made.push(...resultsOf(results, own, places));
    results = [];
    const original = place && own[place.at];
    made.push(original?.role === "assistant" ? assistantOf(message, original) : (original ?? anew(message)));
    made.push(...silentOf(place, own));
  }
  return [...made, ...resultsOf(results, own, places)];
}

/** Where in the program's list what a view shows was said. */
class Places {
  readonly #left = new Map<string, Place[]>();
  readonly #names = new Map<string, string>();

  constructor(own: readonly ModelMessage[]) {
    for (const place of placed(own)) {
      for (const key of keysOf(place.message)) {
        this.#left.set(key, [...(this.#left.get(key) ?? []), place]);
      }
      for (const { kind } of place.message.parts) {
        if (kind.case === "toolCall") {
          this.#names.set(kind.value.id, kind.value.name);
        }
      }
    }
  }

  /** The messages of a view with their places. The end of a view is the end of the list: so what is said twice is found. */
  found(view: readonly ViewMessage[]): { message: Message; place: Place | undefined }[] {
    const taken = new Set<Place>();
    return [...view]
      .reverse()
      .flatMap(({ message }) => (message === undefined ? [] : [{ message, place: this.#lastOf(message, taken) }]))
      .reverse();
  }

  /** The name of the tool of a call. */
  nameOf(callId: string): string {
    return this.#names.get(callId) ?? "unknown";
  }

  /** The last place where this was said that is not taken; undefined where the view made the message. */
  #lastOf(message: Message, taken: Set<Place>): Place | undefined {
    for (const key of keysOf(message)) {
      const left = this.#left.get(key) ?? [];
      for (let place = left.pop(); place !== undefined; place = left.pop()) {
        if (!taken.has(place)) {
          taken.add(place);
          return place;
        }
      }
    }
    return undefined;
  }
}

/** What tells a message apart, also where a view shows it without its thinking, or its result shorter. */
function keysOf(message: Message): string[] {
  const role = String(message.role);
  const said = message.parts.map((part) => ({ kind: part.kind.case, key: keyOf(part) }));
  const keys = [[role, ...said.map(({ key }) => key)]];
  if (message.role === Role.ASSISTANT) {
    keys.push([role, "spoken", ...said.filter(({ kind }) => kind !== "thinking").map(({ key }) => key)]);
    const calls = message.parts.flatMap(({ kind }) => (kind.case === "toolCall" ? [kind.value.id] : []));
    if (calls.length > 0) {
      keys.push([role, "calls", ...calls]);
    }
  }
  const result = resultIn(message);
  if (result !== undefined) {
    keys.push([role, "result", result.callId]);
  }
  return keys.map((key) => JSON.stringify(key));
}

function keyOf(part: Part): string {
  return Buffer.from(toBinary(PartSchema, part)).toString("base64");
}

function resultIn(message: Message): ToolResult | undefined {
  const kind = message.parts[0]?.kind;
  return kind?.case === "toolResult" ? kind.value : undefined;
}

function placed(messages: readonly ModelMessage[]): Place[] {
  const places: Place[] = [];
  messages.forEach((message, at) => {
    const made = neutralOf(message);
    places.push(...made.map(([part, one]) => ({ at, part, message: one, silent: [] })));
    if (made.length === 0) {
      places.at(-1)?.silent.push(at);
    }
  });
  return places;
}

// To neutral messages

/** What a message says, for each of its results apart; nothing where a model is shown none of it. */
function neutralOf(message: ModelMessage): [part: number, message: Message][] {
  switch (message.role) {
    case "system":
      return [[0, messageOf(Role.SYSTEM, [textOf(message.content)])]];
    case "user": {
      const parts: readonly UserPart[] = listed(message.content);
      return [[0, messageOf(Role.USER, parts.flatMap(userPart))]];
    }
    case "assistant": {
      const parts: readonly AssistantPart[] = listed(message.content);
      return [[0, messageOf(Role.ASSISTANT, parts.flatMap(assistantPart))]];
    }
    case "tool":
      return message.content.flatMap((part, number) =>
        part.type === "tool-result" ? [[number, messageOf(Role.TOOL, [resultPart(part)])]] : [],
      );
  }
}

function listed<P>(content: string | readonly P[]): readonly (P | { type: "text"; text: string })[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function messageOf(role: Role, parts: Part[]): Message {
  return create(MessageSchema, { role, parts });
}

function textOf(text: string): Part {
  return create(PartSchema, { kind: { case: "text", value: { text } } });
}

function opaque(part: object): OpaquePart {
  const type = "type" in part ? String(part.type) : "";
  return create(OpaquePartSchema, { dialect: owner, type, json: JSON.stringify(part) });
}

function opaquePart(part: object): Part {
  return create(PartSchema, { kind: { case: "opaque", value: opaque(part) } });
}

function userPart(part: UserPart): Part[] {
  if ("text" in part) {
    return part.text === "" ? [] : [textOf(part.text)];
  }
  const made = fileOf(part);
  return [typeof made === "string" ? textOf(made) : create(PartSchema, { kind: { case: "media", value: made } })];
}

function assistantPart(part: AssistantPart): Part[] {
  switch (part.type) {
    case "text":
    case "file":
      return userPart(part);
    case "reasoning":
      return [create(PartSchema, { kind: { case: "thinking", value: { text: part.text } } })];
    case "tool-call": {
      // The provider ran it: its result is in an answer of the model, too.
      if (part.providerExecuted === true) {
        return [opaquePart(part)];
      }
      const call = { id: part.toolCallId, name: part.toolName, arguments: argumentsOf(part.input) };
      return [create(PartSchema, { kind: { case: "toolCall", value: call } })];
    }
    case "tool-approval-request":
      return [];
    default:
      return [opaquePart(part)];
  }
}

function argumentsOf(input: unknown): string {
  return typeof input === "string" ? input : JSON.stringify(input ?? {});
}

function resultPart({ toolCallId: callId, toolName: name, output }: ToolResultPart): Part {
  const isError = output.type.startsWith("error") || output.type === "execution-denied";
  const value = { callId, name, isError, parts: outputParts(output) };
  return create(PartSchema, { kind: { case: "toolResult", value } });
}

function outputParts(output: Output): ResultPart[] {
  switch (output.type) {
    case "text":
    case "error-text":
      return resultText(output.value);
    case "json":
    case "error-json":
      return resultText(JSON.stringify(output.value));
    case "execution-denied":
      return resultText(output.reason ?? "Tool execution denied.");
    case "content":
      return output.value.flatMap(contentPart);
  }
}

function resultText(text: string): ResultPart[] {
  return text === "" ? [] : [create(ResultPartSchema, { kind: { case: "text", value: { text } } })];
}

function contentPart(part: OutputPart): ResultPart[] {
  if ("text" in part) {
    return resultText(part.text);
  }
  if (isFile(part)) {
    const made = fileOf(part);
    return typeof made === "string"
      ? resultText(made)
      : [create(ResultPartSchema, { kind: { case: "media", value: made } })];
  }
  return [create(ResultPartSchema, { kind: { case: "opaque", value: opaque(part) } })];
}

/** Forms of an output that are no longer made have other types, and stay as they are. */
function isFile(part: object): part is OutputFile {
  return "type" in part && part.type === "file";
}

/** A file in each form in which messages have it: parts of the type "image" have an `image`. */
interface FileLike {
  readonly data?: unknown;
  readonly image?: unknown;
  readonly mediaType?: string | undefined;
  readonly filename?: string | undefined;
}

/** A file as media, or its text. */
function fileOf({ data, image, mediaType, filename: name = "" }: FileLike): MediaPart | string {
  const source = sourceOf(data ?? image);
  const given = mediaType ?? (image === undefined ? "application/octet-stream" : "image");
  const mimeType = given.includes("/") ? given : `${given}/*`;
  return typeof source === "string" ? source : create(MediaPartSchema, { mimeType, name, source });
}

function sourceOf(data: unknown): Source | string {
  if (typeof data === "string") {
    const inline = /^data:[^,]*;base64,/.exec(data);
    if (inline !== null) {
      return { case: "data", value: Buffer.from(data.slice(inline[0].length), "base64") };
    }
    const isAddress = /^[a-z][a-z0-9+.-]*:/i.test(data);
    return isAddress ? { case: "uri", value: data } : { case: "data", value: Buffer.from(data, "base64") };
  }
  if (data instanceof Uint8Array) {
    return { case: "data", value: data };
  }
  if (data instanceof ArrayBuffer) {
    return { case: "data", value: new Uint8Array(data) };
  }
  if (data instanceof URL) {
    return sourceOf(data.href);
  }
  const tagged = data as { type?: unknown; data?: unknown; url?: unknown; text?: unknown; reference?: unknown };
  switch (tagged.type) {
    case "data":
      return sourceOf(tagged.data);
    case "url":
      return sourceOf(tagged.url);
    case "text":
      return String(tagged.text);
    default: {
      const reference = tagged.type === "reference" ? tagged.reference : data;
      return { case: "fileId", value: String(Object.values(reference as object)[0] ?? "") };
    }
  }
}

// From views

/** A result that a view shows, and where in the program's list it is; undefined where the view made it. */
interface ShownResult {
  readonly result: ToolResult;
  readonly place: Place | undefined;
}

/** Messages of results that follow each other: the program's own ones, where nothing in them is changed. */
function resultsOf(results: readonly ShownResult[], own: readonly ModelMessage[], places: Places): ModelMessage[] {
  const groups: ShownResult[][] = [];
  for (const one of results) {
    const last = groups.at(-1);
    if (one.place !== undefined && last?.[0]?.place?.at === one.place.at) {
      last.push(one);
    } else {
      groups.push([one]);
    }
  }
  return groups.flatMap((group) => {
    const original = own[group[0]?.place?.at ?? -1];
    const made =
      original?.role === "tool"
        ? changedResults(original, group)
        : { role: "tool" as const, content: group.map(({ result }) => resultAnew(result, places)) };
    return [made, ...group.flatMap(({ place }) => silentOf(place, own))];
  });
}

function silentOf(place: Place | undefined, own: readonly ModelMessage[]): ModelMessage[] {
  return (place?.silent ?? []).flatMap((at) => own[at] ?? []);
}

/** A message of the program with those of its results that a view shows; where it shows one shorter, a copy of that. */
function changedResults(original: ToolModelMessage, group: readonly ShownResult[]): ToolModelMessage {
  const byPart = new Map(group.map((one) => [one.place?.part, one.result]));
  const content = original.content.flatMap((part, number): ToolModelMessage["content"] => {
    if (part.type !== "tool-result") {
      return [part];
    }
    const result = byPart.get(number);
    if (result === undefined) {
      return [];
    }
    const says = resultIn(messageOf(Role.TOOL, [resultPart(part)]));
    const same = says !== undefined && equals(ToolResultSchema, says, result);
    return [same ? part : { ...part, output: outputOf(result) }];
  });
  const same = content.length === original.content.length && content.every((one, at) => one === original.content[at]);
  return same ? original : { ...original, content };
}

function resultAnew(result: ToolResult, places: Places): ToolResultPart {
  const toolName = result.name || places.nameOf(result.callId);
  return { type: "tool-result", toolCallId: result.callId, toolName, output: outputOf(result) };
}

function outputOf({ parts, isError }: ToolResult): Output {
  if (isError || parts.every(({ kind }) => kind.case === "text")) {
    const value = parts.map(({ kind }) => (kind.case === "text" ? kind.value.text : "")).join("");
    return { type: isError ? "error-text" : "text", value };
  }
  const value = parts.flatMap(({ kind }): OutputPart[] => {
    switch (kind.case) {
      case "text":
        return [textAnew(kind.value.text)];
      case "media":
        return [fileAnew(kind.value)];
      case "opaque":
        return [JSON.parse(kind.value.json) as OutputFile];
      default:
        return [];
    }
  });
  return { type: "content", value };
}

/** The program's own answer; where a view shows less of it, a copy with those of its parts that are left. */
function assistantOf(message: Message, original: AssistantModelMessage): AssistantModelMessage {
  const [[, says] = []] = neutralOf(original);
  if (says !== undefined && equals(MessageSchema, says, messageOf(Role.ASSISTANT, message.parts))) {
    return original;
  }
  const parts: readonly AssistantPart[] = listed(original.content);
  const own = new Map(parts.flatMap((part) => assistantPart(part).map((made) => [keyOf(made), part] as const)));
  return { ...original, content: message.parts.flatMap((part) => own.get(keyOf(part)) ?? assistantAnew(part)) };
}

function assistantAnew({ kind }: Part): AssistantPart[] {
  switch (kind.case) {
    case "text":
      return [textAnew(kind.value.text)];
    case "thinking":
      return [{ type: "reasoning", text: kind.value.text }];
    case "toolCall": {
      const { id: toolCallId, name: toolName, arguments: text } = kind.value;
      return [{ type: "tool-call", toolCallId, toolName, input: inputOf(text) }];
    }
    case "media":
      return [fileAnew(kind.value)];
    case "opaque":
      return [JSON.parse(kind.value.json) as AssistantPart];
    default:
      return [];
  }
}

function inputOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A message for what a neutral message says that is none of the program's. */
function anew({ role, parts }: Message): ModelMessage {
  if (role === Role.ASSISTANT) {
    return { role: "assistant", content: parts.flatMap(assistantAnew) };
  }
  if (role === Role.SYSTEM || role === Role.DEVELOPER) {
    return { role: "system", content: parts.map(({ kind }) => (kind.case === "text" ? kind.value.text : "")).join("") };
  }
  const content = parts.flatMap(({ kind }): UserPart[] => {
    switch (kind.case) {
      case "text":
        return [textAnew(kind.value.text)];
      case "media":
        return [fileAnew(kind.value)];
      default:
        return [];
    }
  });
  return { role: "user", content };
}

function textAnew(text: string): TextPart {
  return { type: "text", text };
}

function fileAnew({ mimeType, name, source }: MediaPart): OutputFile {
  const file = { type: "file" as const, mediaType: mimeType, ...(name !== "" && { filename: name }) };
  switch (source.case) {
    case "data":
      return { ...file, data: { type: "data", data: source.value } };
    case "uri":
      return { ...file, data: { type: "url", url: new URL(source.value) } };
    default:
      return { ...file, data: { type: "reference", reference: { provider: source.value ?? "" } } };
  }
}

/** The instructions of a call, each as a message of the system. */
export function instructionsOf(given: Instructions | undefined): Message[] {
  const all = given === undefined ? [] : Array.isArray(given) ? given : [given];
  return all.map((one) => system(typeof one === "string" ? one : one.content));
}
