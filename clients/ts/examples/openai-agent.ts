/**
 * An agent on OpenAI's Chat Completions with one tool of its own. Each argument is a question:
 *
 *     node openai-agent.js "What is in package.json?" "Which of it is needed at run time?"
 *
 * OPENAI_API_KEY and OPENAI_BASE_URL are the SDK's. The daemon is the one at COMPACTORD_ADDR, else one that is started here.
 */
import { readFile } from "node:fs/promises";
import { argv, env } from "node:process";

import OpenAI from "openai";
import type { ChatCompletionTool } from "openai/resources/chat/completions";

import { AgentTools, Client, embedded, system, type CallModel, type ToolCall } from "compactord";

const openai = new OpenAI();
await using client = env["COMPACTORD_ADDR"] === undefined ? await embedded() : new Client();
const session = await client.createSession({
  dialect: "openai_chat",
  policy: { preset: "default", contextWindow: Number(env["CONTEXT_WINDOW"] ?? 128_000) },
});
await session.append(system("You answer questions on the files of this folder."));

const agentTools = new AgentTools(session);
const readFileTool: ChatCompletionTool = {
  type: "function",
  function: {
    name: "read_file",
    description: "Reads a text file.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
};

const callModel: CallModel<"openai_chat"> = (view, { signal }) => {
  const tools = [readFileTool, ...agentTools.definitions()];
  return openai.chat.completions.create(
    { model: env["OPENAI_MODEL"] ?? "gpt-6.2-sol", tools, ...view.request() },
    { signal },
  );
};

/** What it throws, the model is told. */
async function runTool(call: ToolCall): Promise<string> {
  const { path } = call.json() as { path: string };
  return readFile(path, "utf8");
}

for (const question of argv.slice(2)) {
  const turn = await session.runTurn(callModel, question, { runTool, tools: agentTools });
  console.log(turn.text);
  for (const compaction of turn.compactions) {
    console.error(compaction instanceof Error ? compaction.message : "The conversation was compacted.");
  }
}
