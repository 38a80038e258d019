/**
 * Client of compactord, the daemon that keeps the conversations of LLM agents within their context window.
 *
 * @packageDocumentation
 */
export { Code } from "@connectrpc/connect";
export { AgentTools } from "./agentTools.js";
export type { AgentToolsOptions } from "./agentTools.js";
export { Client, Session } from "./client.js";
export type { ClientOptions, SessionOptions, TurnOptions } from "./client.js";
export type { Answer, Prompt } from "./clientModel.js";
export { Compaction, CompactionResult } from "./compaction.js";
export type { ConnectionOptions, TLSOptions } from "./connection.js";
export { embedded, EmbeddedClient } from "./embedded.js";
export type { EmbeddedOptions } from "./embedded.js";
export * from "./errors.js";
export { assistant, developer, system, toolResult, user } from "./messages.js";
export type { Appendable, Appendables, DialectName, ProviderJson, ToolResultOptions } from "./messages.js";
export type { CallOptions, WriteOptions } from "./calls.js";
export type { CompactionOptions, CompactOptions, PruneOptions } from "./compactionOptions.js";
export type { PolicyLike, PolicyObject } from "./policy.js";
export type { AppendOptions, RecallOptions, RevertOptions, RevertTarget } from "./sessionOptions.js";
export type { ViewOptions } from "./sessionView.js";
export type { ModelOutput } from "./modelOutput.js";
export type { SearchQuery } from "./reading.js";
export { ToolOutput, ToolRejected } from "./toolCalls.js";
export type { Mail, RunTool, ToolAnswer, ToolCall, TouchedFile } from "./toolCalls.js";
export type { AgentToolName, ToolDefinition, ToolParameter, ToolParameters, ToolShapes } from "./tools.js";
export type { CallModel } from "./loop.js";
export type { Turn } from "./turn.js";
export { ContextOverflowError, TurnAbortedError, TurnRunningError } from "./turnErrors.js";
export type { Announce } from "./turnState.js";
export { View } from "./view.js";
export type { ProviderObject } from "./view.js";
export type { WatchItem, WatchOptions } from "./watch.js";
export type {
  CompactionReasonName,
  EstimatorName,
  RoleName,
  StateName,
  StopReasonName,
  ThinkingName,
} from "./words.js";
