import { create, equals } from "@bufbuild/protobuf";
import type { UsageMetadata } from "@langchain/core/messages";
import type { BaseMessage, ContentBlock } from "langchain";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "langchain";

import type { MediaPart, Message, Part, ResultPart, ToolCall, Usage, ViewMessage } from "../v1.js";
import {
  AttachmentSchema,
  Dialect,
  MediaPartSchema,
  MessageSchema,
  OpaquePartSchema,
  PartSchema,
  ResultPartSchema,
  Role,
  UsageSchema,
} from "../v1.js";

// Messages of LangChain as neutral messages, and views as messages of LangChain. A message of a view that is one of the
// program's own, unchanged, is that message itself: its id, artifact, usage and all that a provider's package keeps in it.
// One that the view shows shorter is a copy with another content.

/** Attachments and opaque parts belong to a dialect. Neutral views show those of each. */
const owner = Dialect.OPENAI_CHAT;
const idKey = "langchain_id";
const media: Readonly<Record<string, string>> = {
  image: "image/*",
  audio: "audio/*",
  video: "video/*",
  file: "application/octet-stream",
};

/** A block of LangChain's standard content, as far as it is read here. */
interface Block {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly text?: string;
  readonly reasoning?: string;
  readonly args?: unknown;
  readonly mimeType?: string;
  readonly data?: string | Uint8Array;
  readonly url?: string;
  readonly fileId?: string;
}

/** Converts a message: what a model is shown of it, the usage that a provider reported, and its id. */
export function neutral(message: BaseMessage): Message {
  const made = create(MessageSchema, { role: roleOf(message) });
  if (message.id !== undefined) {
    made.attachments.push(create(AttachmentSchema, { dialect: owner, key: idKey, json: JSON.stringify(message.id) }));
  }
  const parts = blocksOf(message).flatMap(partOf);
  if (AIMessage.isInstance(message)) {
    made.parts.push(...parts);
    const name: unknown = message.response_metadata["model_name"] ?? message.response_metadata["model"];
    made.model = typeof name === "string" ? name : "";
    const usage = message.usage_metadata as UsageMetadata | undefined;
    // Some streams report the output alone, which says nothing about the context.
    if (usage !== undefined && usage.input_tokens > 0) {
      made.usage = usageOf(usage);
    }
  } else if (ToolMessage.isInstance(message)) {
    const value = {
      callId: message.tool_call_id,
      name: message.name ?? "",
      isError: message.status === "error",
      parts: parts.flatMap(resultPart),
    };
    made.parts.push(create(PartSchema, { kind: { case: "toolResult", value } }));
  } else if (made.role === Role.SYSTEM) {
    made.parts.push(textPart(message.text));
  } else {
    made.parts.push(...parts);
    made.name = message.name ?? "";
  }
  return made;
}

/**
 * Makes messages of LangChain of a neutral view.
 *
 * @param view The messages of the view, without the instructions at its start.
 * @param own The program's messages.
 */
export function shown(view: readonly ViewMessage[], own: readonly BaseMessage[]): BaseMessage[] {
  const byId = new Map(own.flatMap((message) => (message.id === undefined ? [] : [[message.id, message] as const])));
  return view.flatMap(({ message, origin }) => {
    if (message === undefined) {
      return [];
    }
    const id = idOf(message);
    const original = origin.case === "index" && id !== undefined ? byId.get(id) : undefined;
    return [original === undefined ? anew(message) : asShown(message, original)];
  });
}

/** The message of the program that a view shows, or a copy of it, where it shows less. */
function asShown(message: Message, original: BaseMessage): BaseMessage {
  const says = ({ role, parts }: Message): Message => create(MessageSchema, { role, parts });
  return equals(MessageSchema, says(neutral(original)), says(message)) ? original : copied(original, message);
}

function copied(original: BaseMessage, message: Message): BaseMessage {
  const { id, name, additional_kwargs, response_metadata } = original;
  const kept = {
    content: contentOf(message),
    additional_kwargs,
    response_metadata,
    ...(id !== undefined && { id }),
    ...(name !== undefined && { name }),
  };
  if (ToolMessage.isInstance(original)) {
    const { tool_call_id, status } = original;
    const artifact: unknown = original.artifact;
    return new ToolMessage({ ...kept, tool_call_id, artifact, ...(status !== undefined && { status }) });
  }
  if (AIMessage.isInstance(original)) {
    const { tool_calls = [], invalid_tool_calls = [] } = original;
    const made = new AIMessage({ ...kept, tool_calls: [...tool_calls], invalid_tool_calls });
    made.usage_metadata = original.usage_metadata;
    return made;
  }
  return original.type === "system" ? new SystemMessage(kept) : new HumanMessage(kept);
}

function roleOf({ type }: BaseMessage): Role {
  const roles: Readonly<Record<string, Role>> = { ai: Role.ASSISTANT, system: Role.SYSTEM, tool: Role.TOOL };
  return roles[type] ?? Role.USER;
}

function idOf(message: Message): string | undefined {
  const json = message.attachments.find(({ key }) => key === idKey)?.json;
  const id: unknown = json === undefined ? undefined : JSON.parse(json);
  return typeof id === "string" ? id : undefined;
}

// To neutral messages

/** The content in LangChain's own standard form, whichever provider's it is. */
function blocksOf(message: BaseMessage): readonly Block[] {
  const blocks = message.contentBlocks as readonly Block[];
  if (!AIMessage.isInstance(message)) {
    return blocks;
  }
  // Not each provider's form has the calls in the content.
  const known = new Set(blocks.filter(({ type }) => type.endsWith("tool_call")).map(({ id }) => id));
  const calls = [
    ...(message.tool_calls ?? []).map((call) => ({ ...call, type: "tool_call" })),
    ...(message.invalid_tool_calls ?? []).map((call) => ({ ...call, type: "invalid_tool_call" })),
  ] as readonly Block[];
  return [...blocks, ...calls.filter(({ id }) => !known.has(id))];
}

function textPart(text: string): Part {
  return create(PartSchema, { kind: { case: "text", value: { text } } });
}

function partOf(block: Block): Part[] {
  switch (block.type) {
    case "text":
    case "text-plain":
      return block.text === undefined || block.text === "" ? [] : [textPart(block.text)];
    case "reasoning":
      return [create(PartSchema, { kind: { case: "thinking", value: { text: block.reasoning ?? "" } } })];
    case "tool_call":
    case "invalid_tool_call": {
      const text = typeof block.args === "string" ? block.args : JSON.stringify(block.args ?? {});
      const call = { id: block.id ?? "", name: block.name || "?", arguments: text };
      return [create(PartSchema, { kind: { case: "toolCall", value: call } })];
    }
    default: {
      const value = mediaOf(block);
      return [create(PartSchema, { kind: value === undefined ? opaque(block) : { case: "media", value } })];
    }
  }
}

function opaque(block: Block) {
  const value = create(OpaquePartSchema, { dialect: owner, type: block.type, json: JSON.stringify(block) });
  return { case: "opaque", value } as const;
}

function mediaOf(block: Block): MediaPart | undefined {
  const mimeType = block.mimeType ?? media[block.type];
  if (mimeType === undefined || !(block.type in media)) {
    return undefined;
  }
  if (block.data !== undefined) {
    const data = typeof block.data === "string" ? Buffer.from(block.data, "base64") : block.data;
    return create(MediaPartSchema, { mimeType, source: { case: "data", value: data } });
  }
  if (block.url !== undefined) {
    return create(MediaPartSchema, { mimeType, source: { case: "uri", value: block.url } });
  }
  return block.fileId === undefined
    ? undefined
    : create(MediaPartSchema, { mimeType, source: { case: "fileId", value: block.fileId } });
}

function resultPart({ kind }: Part): ResultPart[] {
  switch (kind.case) {
    case "text":
    case "media":
    case "opaque":
      return [create(ResultPartSchema, { kind })];
    default:
      return [];
  }
}

/** LangChain's input tokens are all of them, ours those that no cache had. */
function usageOf(usage: UsageMetadata): Usage {
  const { cache_read: read = 0, cache_creation: written = 0 } = usage.input_token_details ?? {};
  return create(UsageSchema, {
    inputTokens: Math.max(0, usage.input_tokens - read - written),
    outputTokens: usage.output_tokens,
    cacheReadTokens: read,
    cacheWriteTokens: written,
  });
}

// From views

/** A message for what a neutral message says that is none of the program's. */
function anew(message: Message): BaseMessage {
  const content = contentOf(message);
  const [first] = message.parts;
  if (first?.kind.case === "toolResult") {
    const { callId, name, isError } = first.kind.value;
    const status = isError ? "error" : "success";
    return new ToolMessage({ content, tool_call_id: callId, status, ...(name !== "" && { name }) });
  }
  switch (message.role) {
    case Role.ASSISTANT: {
      const calls = message.parts.flatMap(({ kind }) => (kind.case === "toolCall" ? [callOf(kind.value)] : []));
      return new AIMessage({
        content,
        tool_calls: calls.flatMap(({ tool }) => tool ?? []),
        invalid_tool_calls: calls.flatMap(({ invalid }) => invalid ?? []),
      });
    }
    case Role.SYSTEM:
    case Role.DEVELOPER:
      return new SystemMessage({ content });
    default:
      return new HumanMessage({ content, ...(message.name !== "" && { name: message.name }) });
  }
}

function callOf({ id, name, arguments: text }: ToolCall) {
  const args = objectIn(text);
  return args === undefined
    ? { invalid: { type: "invalid_tool_call" as const, id, name, args: text } }
    : { tool: { type: "tool_call" as const, id, name, args } };
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const read: unknown = JSON.parse(text);
    const isObject = typeof read === "object" && read !== null && !Array.isArray(read);
    return isObject ? (read as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** A text where that is all, else the blocks. */
function contentOf({ parts }: Message): string | ContentBlock[] {
  const [first] = parts;
  const said: readonly (Part | ResultPart)[] = first?.kind.case === "toolResult" ? first.kind.value.parts : parts;
  const blocks = said.flatMap(blockOf);
  const [only] = blocks;
  if (only === undefined) {
    return "";
  }
  return blocks.length === 1 && typeof only["text"] === "string" ? only["text"] : blocks;
}

function blockOf({ kind }: Part | ResultPart): ContentBlock[] {
  switch (kind.case) {
    case "text":
      return [{ type: "text", text: kind.value.text }];
    case "thinking":
      return [{ type: "reasoning", reasoning: kind.value.text }];
    case "media":
      return [mediaBlock(kind.value)];
    case "opaque":
      return [JSON.parse(kind.value.json) as ContentBlock];
    default:
      return [];
  }
}

function mediaBlock({ mimeType, source }: MediaPart): ContentBlock {
  const [kind = ""] = mimeType.split("/");
  const type = kind in media ? kind : "file";
  const block = { type, ...(mimeType !== media[type] && { mimeType }) };
  switch (source.case) {
    case "data":
      return { ...block, data: Buffer.from(source.value).toString("base64") };
    case "uri":
      return { ...block, url: source.value };
    default:
      return { ...block, fileId: source.value ?? "" };
  }
}
