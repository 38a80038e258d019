/**
 * Client of compactord, the daemon that keeps the conversations of LLM agents within their context window.
 *
 * @packageDocumentation
 */
export { Code } from "@connectrpc/connect";
export { AgentTools } from "./agentTools.js";
export type { AgentToolsOptions } from "./agentTools.js";
export { Client } from "./client.js";
export type { ClientOptions, SessionOptions } from "./client.js";
export type { Answer, Prompt } from "./clientModel.js";
export { Compaction, CompactionResult } from "./compaction.js";
export type { ConnectionOptions, TLSOptions } from "./connection.js";
export { embedded, EmbeddedClient } from "./embedded.js";
export type { EmbeddedOptions } from "./embedded.js";
export * from "./errors.js";
export { assistant, developer, system, toolResult, user } from "./messages.js";
export type { Appendable, DialectName, ProviderJson, ToolResultOptions } from "./messages.js";
export type {
  Appendables,
  AppendOptions,
  CallOptions,
  CompactionOptions,
  CompactionReasonName,
  CompactOptions,
  PolicyLike,
  PolicyObject,
  PruneOptions,
  RecallOptions,
  RevertOptions,
  RevertTarget,
  ThinkingName,
  ViewOptions,
  WriteOptions,
} from "./options.js";
export type { Mail } from "./dmail.js";
export type { ModelOutput } from "./modelOutput.js";
export { Session } from "./session.js";
export type { SearchQuery } from "./session.js";
export { ToolOutput, ToolRejected } from "./toolCalls.js";
export type { RunTool, ToolAnswer, ToolCall, TouchedFile } from "./toolCalls.js";
export type { AgentToolName, ToolDefinition, ToolParameter, ToolParameters, ToolShapes } from "./tools.js";
export type { CallModel, Turn, TurnOptions } from "./turn.js";
export { ContextOverflowError, TurnAbortedError, TurnRunningError } from "./turnErrors.js";
export type { Announce } from "./turns.js";
export { View } from "./view.js";
export type { ProviderObject } from "./view.js";
export type { WatchItem, WatchOptions } from "./watch.js";
export type { EstimatorName, RoleName, StateName, StopReasonName } from "./words.js";
