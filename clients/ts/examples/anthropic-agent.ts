/**
 * An agent on Anthropic's Messages that prints the answer as it is written. Each argument is a question:
 *
 *     node anthropic-agent.js "What is in package.json?"
 *
 * ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL are the SDK's. The daemon is the one at COMPACTORD_ADDR, else one that is started
 * here.
 */
import { readFile } from "node:fs/promises";
import { argv, env, stdout } from "node:process";

import Anthropic from "@anthropic-ai/sdk";
import type { RawMessageStreamEvent, Tool } from "@anthropic-ai/sdk/resources/messages";

import { AgentTools, Client, embedded, system, type ToolCall, type View } from "compactord";

const anthropic = new Anthropic();
await using client = env["COMPACTORD_ADDR"] === undefined ? await embedded() : new Client();
const session = await client.createSession({
  dialect: "anthropic",
  // The model thinks adaptively, also where the request does not say so.
  policy: { preset: "default", contextWindow: Number(env["CONTEXT_WINDOW"] ?? 200_000), thinking: "adaptive" },
});
await session.append(system("You answer questions on the files of this folder."));

const agentTools = new AgentTools(session);
const readFileTool: Tool = {
  name: "read_file",
  description: "Reads a text file.",
  input_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

/** Hands the events of the answer through, so that the turn can append it, and prints its text on the way. */
async function* callModel(
  view: View<"anthropic">,
  { signal }: { readonly signal: AbortSignal },
): AsyncGenerator<RawMessageStreamEvent> {
  const stream = await anthropic.messages.create(
    {
      ...view.request(),
      model: env["ANTHROPIC_MODEL"] ?? "claude-sonnet-5-5",
      max_tokens: 4096,
      tools: [readFileTool, ...agentTools.definitions()],
      stream: true,
    },
    { signal },
  );
  for await (const event of stream) {
    if (event.type === "content_block_delta" && event.delta.type === "text_delta") {
      stdout.write(event.delta.text);
    }
    yield event;
  }
}

/** What it throws, the model is told. */
async function runTool(call: ToolCall): Promise<string> {
  const { path } = call.json() as { path: string };
  return readFile(path, "utf8");
}

for (const question of argv.slice(2)) {
  const turn = await session.runTurn(callModel, question, { runTool, tools: agentTools });
  stdout.write("\n");
  for (const compaction of turn.compactions) {
    console.error(compaction instanceof Error ? compaction.message : "The conversation was compacted.");
  }
}
