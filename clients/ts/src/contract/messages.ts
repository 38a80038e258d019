import { createHash } from "node:crypto";

import { create, isMessage, toBinary } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";

import { isObject } from "./arguments.js";
import { fromObject } from "./contractJson.js";
import type { Message, Part, ToolCall } from "../gen/compactord/v1/message_pb.js";
import { Dialect, FileTouchSchema, MessageSchema, PartSchema, Role } from "../gen/compactord/v1/message_pb.js";
import type { AppendMessagesRequest } from "../gen/compactord/v1/append_pb.js";
import { AppendMessagesRequestSchema } from "../gen/compactord/v1/append_pb.js";

/** The name of a provider's shape of messages. */
export type DialectName = "openai_chat" | "openai_responses" | "anthropic" | "gemini";

/**
 * What can be appended:
 *
 * - a string: the text of a user message;
 * - bytes: a provider's JSON as received over HTTP, kept byte for byte: a message, a list, the body of a request or
 *   response, or the list of the events of a streamed response;
 * - an object: the same as an object of the provider's SDK. In a session without a dialect, a neutral message in the
 *   contract's JSON;
 * - a `v1.Message`: a neutral message, such as {@link system}, {@link user}, {@link assistant} and {@link toolResult}
 *   make.
 */
export type Appendable = string | Uint8Array | Message | ProviderJson;

/** An object or a list of a provider's JSON, as typed by its SDK. Not a promise or a function. */
export type ProviderJson =
  | (object & { readonly then?: never; readonly bind?: never })
  | { readonly [key: string]: unknown; readonly then?: never; readonly bind?: never };

/** One message or a list of messages to append. */
export type Appendables = Appendable | readonly Appendable[];

/** The options of a tool result. */
export interface ToolResultOptions {
  /** Whether the tool failed. Default false. */
  readonly isError?: boolean;
  /** The files that the tool has read or modified. */
  readonly files?: readonly MessageInitShape<typeof FileTouchSchema>[];
}

/** Makes a neutral message with the operator's instructions. */
export function system(text: string): Message {
  return textMessage(Role.SYSTEM, text);
}

/** Makes a neutral message with the application's instructions. */
export function developer(text: string): Message {
  return textMessage(Role.DEVELOPER, text);
}

/** Makes a neutral message of the user. */
export function user(text: string): Message {
  return textMessage(Role.USER, text);
}

/** Makes a neutral message of the model. */
export function assistant(text: string): Message {
  return textMessage(Role.ASSISTANT, text);
}

/** Makes a neutral message with the result of a tool call. `call` is the call or its id. */
export function toolResult(
  call: (Pick<ToolCall, "id"> & Partial<Pick<ToolCall, "name">>) | string,
  text: string,
  options: ToolResultOptions = {},
): Message {
  const { id: callId, name = "" } = typeof call === "string" ? { id: call } : call;
  return create(MessageSchema, {
    role: Role.TOOL,
    parts: [
      {
        kind: {
          case: "toolResult",
          value: {
            callId,
            name,
            parts: [{ kind: { case: "text", value: { text } } }],
            isError: options.isError ?? false,
            files: options.files?.map((file) => create(FileTouchSchema, file)) ?? [],
          },
        },
      },
    ],
  });
}

function textMessage(role: Role, text: string): Message {
  return create(MessageSchema, { role, parts: [textPart(text)] });
}

/** Makes a part with a text. */
export function textPart(text: string): Part {
  return create(PartSchema, { kind: { case: "text", value: { text } } });
}

/** One new instruction, or a list of them: a text is a SYSTEM message. */
export type Instructions = string | Message | readonly (string | Message)[];

/** Converts new instructions to neutral messages. */
export function instructionsOf(given: Instructions): Message[] {
  const items: readonly unknown[] = Array.isArray(given) ? given : [given];
  return items.map((item) => {
    if (typeof item === "string") {
      return system(item);
    }
    if (isMessage(item, MessageSchema)) {
      return item;
    }
    throw new TypeError(
      `instructions: must be texts and neutral messages, such as developer() makes, and one is ${typeof item}`,
    );
  });
}

/** The contract's value of a dialect; UNSPECIFIED for undefined. */
export function dialectOf(name: DialectName | undefined): Dialect {
  switch (name) {
    case undefined:
      return Dialect.UNSPECIFIED;
    case "openai_chat":
      return Dialect.OPENAI_CHAT;
    case "openai_responses":
      return Dialect.OPENAI_RESPONSES;
    case "anthropic":
      return Dialect.ANTHROPIC;
    case "gemini":
      return Dialect.GEMINI;
    default:
      throw new TypeError(
        `dialect: ${JSON.stringify(name)} is unknown: use one of openai_chat, openai_responses, anthropic or gemini`,
      );
  }
}

/** The fields of an append that contain messages. */
export type AppendedContent = Pick<MessageInitShape<typeof AppendMessagesRequestSchema>, "messages" | "providerJson">;

/** Makes the fields of an append. All messages must have the same shape: neutral, or the provider's. */
export function contentOf(
  given: Appendable | readonly Appendable[],
  dialect: DialectName | undefined,
): AppendedContent {
  const items: readonly Appendable[] = Array.isArray(given) ? (given as readonly Appendable[]) : [given];
  const neutral: Message[] = [];
  const provider: string[] = [];
  for (const item of items) {
    if (typeof item === "string") {
      neutral.push(user(item));
    } else if (isMessage(item, MessageSchema)) {
      neutral.push(item);
    } else if (item instanceof Uint8Array) {
      provider.push(decoded(item));
    } else if (dialect === undefined) {
      neutral.push(neutralMessage(item));
    } else {
      provider.push(jsonOf(item));
    }
  }
  return contentFields(neutral, provider, dialect);
}

function contentFields(neutral: Message[], provider: string[], dialect: DialectName | undefined): AppendedContent {
  if (provider.length === 0) {
    if (neutral.length === 0) {
      throw new TypeError("append: there is nothing to append");
    }
    return { messages: neutral };
  }
  if (dialect === undefined) {
    throw new TypeError("append: bytes are a provider's JSON, and the session was opened without a dialect");
  }
  if (neutral.length > 0) {
    throw new TypeError(
      "append: strings and neutral messages cannot go with a provider's messages in one call: append them one after the other",
    );
  }
  const [first, ...others] = provider;
  const json = first !== undefined && others.length === 0 ? first : joined(provider);
  return { providerJson: { dialect: dialectOf(dialect), json } };
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new TypeError("append: the bytes are not UTF-8");
  }
}

/** Converts an object to a neutral message. The error mentions the dialect, since most mistakes are a missing one. */
export function neutralMessage(item: unknown): Message {
  if (!isObject(item)) {
    throw notAppendable(item);
  }
  try {
    return fromObject("append", MessageSchema, item);
  } catch (error) {
    const why = error instanceof Error ? error.message : "";
    throw new TypeError(
      `${why}: the session was opened without a dialect, so objects are neutral messages; a provider's messages need the option dialect`,
    );
  }
}

function jsonOf(item: unknown): string {
  if (typeof item !== "object" || item === null || "then" in item) {
    throw notAppendable(item);
  }
  let json: unknown;
  try {
    json = JSON.stringify(item);
  } catch {
    throw new TypeError("append: the object cannot be written as JSON: it contains a BigInt, or itself");
  }
  if (typeof json !== "string") {
    throw notAppendable(item);
  }
  return json;
}

function notAppendable(item: unknown): TypeError {
  const isPromise = typeof item === "object" && item !== null && "then" in item;
  return new TypeError(
    `append: ${isPromise ? "a promise is no message: await it first" : `${named(item)} is no message`}`,
  );
}

/** What a value is, for the text of an error. */
function named(item: unknown): string {
  if (item === undefined || item === null) {
    return String(item);
  }
  return typeof item === "object" ? "an object" : `a ${typeof item}`;
}

/**
 * Joins JSON texts to one list, with the elements of lists among them. Nothing is parsed, so that no number changes.
 */
function joined(texts: readonly string[]): string {
  const elements = texts
    .map((text) => text.trim())
    .map((text) => (text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1).trim() : text));
  return `[${elements.filter((text) => text !== "").join(",")}]`;
}

/** A hash of an append without its request id. Two appends with the same hash are the same. */
export function appendKey(request: AppendMessagesRequest): string {
  const bytes = toBinary(AppendMessagesRequestSchema, { ...request, requestId: "" });
  return createHash("sha256").update(bytes).digest("base64");
}
