/**
 * Client of compactord, the daemon that keeps the conversations of LLM agents within their context window.
 *
 * @packageDocumentation
 */
export { Code } from "@connectrpc/connect";
export { AgentTools } from "./agentTools/agentTools.js";
export type { AgentToolsOptions } from "./agentTools/agentTools.js";
export { Client, Session } from "./client/client.js";
export type { ClientOptions, SessionHandleOptions, SessionOptions, TurnOptions } from "./client/client.js";
export { Compacted } from "./client/compacted.js";
export type { CompactedOptions } from "./client/compacted.js";
export type { ChildOptions, EndOptions } from "./client/children.js";
export type { Answer, Prompt, WriteSummary } from "./compaction/clientModel.js";
export { Compaction, CompactionResult } from "./compaction/compaction.js";
export { Synced } from "./compaction/synced.js";
export type { SyncOptions } from "./compaction/syncing.js";
export type { Element, SystemPrompt } from "./contract/lists.js";
export type { ConnectionOptions, TLSOptions } from "./wire/connection.js";
export { embedded, EmbeddedClient } from "./client/embedded.js";
export type { EmbeddedOptions } from "./client/embedded.js";
export {
  CompactordError,
  ConflictError,
  DeadlineExceededError,
  InvalidRequestError,
  NotFoundError,
  SessionExistsError,
  SessionNotFoundError,
  SyncConflictError,
  ToolCallsOpenError,
  UnauthenticatedError,
  UnavailableError,
  WrongNextIndexError,
} from "./wire/errors.js";
export { block } from "./contract/blocks.js";
export type { BlockContent, BlockSettings } from "./contract/blocks.js";
export { assistant, developer, system, toolResult, user } from "./contract/messages.js";
export type {
  Appendable,
  Appendables,
  DialectName,
  Instructions,
  ProviderJson,
  ToolResultOptions,
} from "./contract/messages.js";
export type { CallOptions, WriteOptions } from "./wire/calls.js";
export type { CompactionOptions, FoldTarget, PruneOptions } from "./compaction/options.js";
export type { PolicyLike, PolicyObject } from "./contract/policy.js";
export type { BlockChanges } from "./session/context.js";
export type { AppendOptions, RecallOptions, RevertOptions, RevertTarget } from "./session/options.js";
export type { ViewOptions } from "./view/sessionView.js";
export type { ModelOutput } from "./turn/modelOutput.js";
export type { ListedCheckpoint, RecordFilter, SearchQuery } from "./session/reading.js";
export type { ToolDefinition } from "./agentTools/tools.js";
export { ToolOutput, ToolRejected } from "./turn/toolCalls.js";
export type { Mail, RunTool, ToolAnswer, ToolCall, TouchedFile } from "./turn/toolCalls.js";
export type { CallModel, ExtraBlocks } from "./turn/options.js";
export type { Turn } from "./turn/turn.js";
export { ContextOverflowError, TurnAbortedError } from "./turn/errors.js";
export type { Announce } from "./turn/state.js";
export { word } from "./contract/words.js";
export { View } from "./view/view.js";
export type { WatchItem, WatchOptions } from "./session/watch.js";
