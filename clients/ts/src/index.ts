/**
 * Client of compactord, the daemon that keeps the conversations of LLM agents within their context window.
 *
 * @packageDocumentation
 */
export { Code } from "@connectrpc/connect";
export { Client } from "./client.js";
export type { ClientOptions, SessionOptions } from "./client.js";
export type { Answer, Prompt } from "./clientModel.js";
export { Compaction, CompactionResult } from "./compaction.js";
export type { ConnectionOptions, TLSOptions } from "./connection.js";
export { embedded, EmbeddedClient } from "./embedded.js";
export type { EmbeddedOptions } from "./embedded.js";
export * from "./errors.js";
export { assistant, developer, system, toolResult, user } from "./messages.js";
export type { Appendable, DialectName, ToolResultOptions } from "./messages.js";
export type {
  Appendables,
  AppendOptions,
  CallOptions,
  CompactionOptions,
  CompactionReasonName,
  CompactOptions,
  PolicyLike,
  PruneOptions,
  RecallOptions,
  RevertOptions,
  RevertTarget,
  ThinkingName,
  ViewOptions,
  WriteOptions,
} from "./options.js";
export { Session } from "./session.js";
export type { SearchQuery } from "./session.js";
export { View } from "./view.js";
export type { ProviderObject } from "./view.js";
export type { WatchItem, WatchOptions } from "./watch.js";
