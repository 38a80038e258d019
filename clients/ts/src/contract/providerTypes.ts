import type { DialectName } from "./messages.js";

/** A mark for Anthropic's prompt cache. */
export interface AnthropicCacheControl {
  type: "ephemeral";
  ttl?: "5m" | "1h";
}

/** A text of Anthropic's Messages API. */
export interface AnthropicText {
  type: "text";
  text: string;
  cache_control?: AnthropicCacheControl;
}

/** An image or a document of Anthropic's Messages API. */
export type AnthropicMedia =
  | {
      type: "image";
      source:
        | { type: "base64"; media_type: "image/gif" | "image/jpeg" | "image/png" | "image/webp"; data: string }
        | { type: "url"; url: string };
      cache_control?: AnthropicCacheControl;
    }
  | {
      type: "document";
      source: { type: "base64"; media_type: "application/pdf"; data: string } | { type: "url"; url: string };
      title?: string | null;
      cache_control?: AnthropicCacheControl;
    };

/**
 * A block of a message of Anthropic's Messages API. Blocks of other kinds, such as those of tools that the provider
 * runs, come back as they came in, with their own `type`.
 */
export type AnthropicBlock =
  | AnthropicText
  | AnthropicMedia
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "tool_use"; id: string; name: string; input: unknown; cache_control?: AnthropicCacheControl }
  | {
      type: "tool_result";
      tool_use_id: string;
      content?: string | (AnthropicText | AnthropicMedia)[];
      is_error?: boolean;
      cache_control?: AnthropicCacheControl;
    };

/** A message of Anthropic's Messages API. */
export interface AnthropicMessage {
  role: "user" | "assistant";
  content: string | AnthropicBlock[];
}

/** A text of Chat Completions. */
export interface ChatText {
  type: "text";
  text: string;
}

/** A part of a user's message of Chat Completions. */
export type ChatPart =
  | ChatText
  | { type: "image_url"; image_url: { url: string; detail?: "auto" | "low" | "high" } }
  | { type: "input_audio"; input_audio: { data: string; format: "wav" | "mp3" } }
  | { type: "file"; file: { file_data?: string; file_id?: string; filename?: string } };

/** A call of a tool in Chat Completions. */
export type ChatToolCall =
  | { type: "function"; id: string; function: { name: string; arguments: string } }
  | { type: "custom"; id: string; custom: { name: string; input: string } };

/** A message of Chat Completions. */
export type ChatMessage =
  | { role: "system" | "developer"; content: string | ChatText[]; name?: string }
  | { role: "user"; content: string | ChatPart[]; name?: string }
  | {
      role: "assistant";
      content?: string | ChatText[] | null;
      refusal?: string | null;
      tool_calls?: ChatToolCall[];
      name?: string;
    }
  | { role: "tool"; tool_call_id: string; content: string | ChatText[] };

/** A part of a message of the Responses API. */
export type ResponsesPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; detail: "auto" | "low" | "high"; image_url?: string | null; file_id?: string | null }
  | { type: "input_file"; file_data?: string; file_id?: string | null; filename?: string; file_url?: string };

/**
 * An item of the Responses API. Items of other kinds, such as the calls of tools that the provider runs, come back as
 * they came in, with their own `type`.
 */
export type ResponsesItem =
  | { type?: "message"; role: "system" | "developer" | "user" | "assistant"; content: string | ResponsesPart[] }
  | {
      type: "message";
      role: "assistant";
      id: string;
      status: "in_progress" | "completed" | "incomplete";
      content: ({ type: "output_text"; text: string; annotations: never[] } | { type: "refusal"; refusal: string })[];
    }
  | {
      type: "reasoning";
      id: string;
      summary: { type: "summary_text"; text: string }[];
      encrypted_content?: string | null;
    }
  | { type: "function_call"; call_id: string; name: string; arguments: string; id?: string }
  | { type: "function_call_output"; call_id: string; output: string };

/** A part of a content of Gemini. */
export interface GeminiPart {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  inlineData?: { mimeType: string; data: string };
  fileData?: { mimeType?: string; fileUri: string };
  functionCall?: { id?: string; name: string; args?: Record<string, unknown> };
  functionResponse?: { id?: string; name: string; response?: Record<string, unknown> };
}

/** A content of Gemini. */
export interface GeminiContent {
  role?: "user" | "model";
  parts: GeminiPart[];
}

/** A message of a view in each dialect. */
export interface ProviderMessages {
  anthropic: AnthropicMessage;
  openai_chat: ChatMessage;
  openai_responses: ResponsesItem;
  gemini: GeminiContent;
}

/** The fields of a provider's request that hold the conversation, in each dialect. */
export interface ProviderRequests {
  anthropic: { messages: AnthropicMessage[]; system?: AnthropicText[] };
  openai_chat: { messages: ChatMessage[] };
  openai_responses: { input: ResponsesItem[]; instructions?: string };
  gemini: { contents: GeminiContent[]; systemInstruction?: GeminiContent };
}

/** An element of the system prompt that is apart from the messages, in each dialect. Chat Completions has none. */
export interface ProviderSystems {
  anthropic: AnthropicText;
  openai_chat: never;
  openai_responses: string;
  gemini: GeminiContent;
}

/** What a type of each dialect is in a session with the dialect `D`; never in a neutral one. */
export type Of<Types extends Record<DialectName, unknown>, D> = D extends DialectName ? Types[D] : never;
