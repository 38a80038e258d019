import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import * as compactord from "../src/index.js";

// What the package exports at its top grows only on purpose: what few programs name is in compactord/types, and what is an
// error of its own only where most programs catch it.

const values = `
    AgentTools assistant block Client Code Compacted Compaction CompactionResult CompactordError
    ConflictError ContextOverflowError DeadlineExceededError developer embedded EmbeddedClient
    InvalidRequestError NotFoundError Session SessionExistsError SessionNotFoundError SyncConflictError
    Synced system ToolCallsOpenError ToolOutput ToolRejected toolResult TurnAbortedError
    UnauthenticatedError UnavailableError user View word WrongNextIndexError
`;

const types = `
    AgentToolsOptions Announce Answer Appendable Appendables AppendOptions BlockChanges BlockContent
    BlockSettings CallModel CallOptions ChildOptions ClientOptions CompactedOptions CompactionOptions
    ConnectionOptions DialectName Element EmbeddedOptions EndOptions ExtraBlocks FoldTarget
    Instructions ListedCheckpoint Mail ModelOutput PolicyLike PolicyObject Prompt ProviderJson
    PruneOptions RecallOptions RecordFilter RevertOptions RevertTarget RunTool SearchQuery
    SessionHandleOptions SessionOptions SyncOptions SystemPrompt TLSOptions ToolAnswer ToolCall
    ToolDefinition ToolResultOptions TouchedFile Turn TurnOptions ViewOptions WatchItem WatchOptions
    WriteOptions WriteSummary
`;

function named(list: string): string[] {
  return list.trim().split(/\s+/).sort();
}

test("the package exports these classes and functions", () => {
  assert.deepEqual(Object.keys(compactord).sort(), named(values));
  const errors = Object.values(compactord).filter((one) => one instanceof Function && one.prototype instanceof Error);
  assert.equal(errors.length, 15, "14 errors and ToolRejected");
});

test("the package exports these types", () => {
  const source = readFileSync(fileURLToPath(new URL("../../src/index.ts", import.meta.url)), "utf8");
  assert.doesNotMatch(source, /export \*/);
  const lists = [...source.matchAll(/^export type \{([^}]*)\}/gm)].map(([, list]) => list ?? "");
  assert.deepEqual(
    lists
      .flatMap((list) => list.split(",").map((name) => name.trim()))
      .filter((name) => name !== "")
      .sort(),
    named(types),
  );
});
