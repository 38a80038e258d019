/**
 * Client of compactord, the daemon that keeps the conversations of LLM agents within their context window.
 *
 * @packageDocumentation
 */
export { Code } from "@connectrpc/connect";
export { AgentTools } from "./agentTools.js";
export { Client } from "./client.js";
export { Compaction, CompactionResult } from "./compaction.js";
export { embedded, EmbeddedClient } from "./embedded.js";
export * from "./errors.js";
export { assistant, developer, system, toolResult, user } from "./messages.js";
export { Session } from "./session.js";
export { ToolOutput, ToolRejected } from "./toolCalls.js";
export { ContextOverflowError, TurnAbortedError, TurnRunningError } from "./turnErrors.js";
export { View } from "./view.js";
