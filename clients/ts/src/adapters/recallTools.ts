import { AgentTools } from "../agentTools/agentTools.js";
import { definitionOf, type ToolDefinition } from "../agentTools/tools.js";
import type { Session } from "../client/client.js";
import type { ToolOutput } from "../turn/toolCalls.js";

/** The names of the tools by which a model reads what its view does not show. */
export type RecallToolName = (typeof names)[number];

const names = ["recall_content", "search_messages"] as const;

/** What an adapter makes each of the tools of: it puts it into the form of its framework. */
export type RecallTool = ToolDefinition & { readonly name: RecallToolName };

/** The tools by which a model reads what its view does not show. New objects each time. */
export function recallDefinitions(): RecallTool[] {
  return names.map((name) => ({ ...definitionOf(name), name }));
}

/**
 * Answers a call of one of these tools from the log of a session. The answer is bounded, and says how to read on. Wrong
 * arguments give an error for the model. Rejects where no daemon answers.
 */
export async function recalled(
  session: Session,
  name: RecallToolName,
  input: unknown,
  signal: AbortSignal | undefined,
): Promise<ToolOutput> {
  const call = { name, arguments: JSON.stringify(input ?? {}) };
  const output = await new AgentTools(session).handle(call, signal === undefined ? {} : { signal });
  if (output === undefined) {
    throw new TypeError(`there is no tool ${name}`);
  }
  return output;
}
