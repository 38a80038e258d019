// LangChain's own ways beside ours.

import { MemorySaver } from "@langchain/langgraph";
import { Client } from "compactord";
import { compactordMiddleware } from "compactord/langchain";
import {
  ClearToolUsesEdit,
  contextEditingMiddleware,
  createAgent,
  initChatModel,
  summarizationMiddleware,
  tool,
  type AgentMiddleware,
} from "langchain";
import { z } from "zod";

import { program, readText, type Way } from "./ways.js";

const readFile = tool(readText, {
  name: "read_file",
  description: "Reads a text file.",
  schema: z.object({ path: z.string() }),
});
const config = { configurable: { thread_id: "one" } };

type Model = Awaited<ReturnType<typeof initChatModel>>;

function way(made: (contextWindow: number, model: Model) => AgentMiddleware[]): Way {
  return async (contextWindow) => {
    const model = await initChatModel("anthropic:make-believe");
    const agent = createAgent({
      model,
      tools: [readFile],
      systemPrompt: "You read files.",
      middleware: made(contextWindow, model),
      checkpointer: new MemorySaver(),
    });
    return (line) => agent.invoke({ messages: [{ role: "user", content: line }] }, config);
  };
}

await program({
  "no middleware": way(() => []),
  "`summarizationMiddleware`": way((window, model) => [
    // In this release the type of its settings is never, where zod 4 is installed.
    summarizationMiddleware({ model, trigger: { tokens: (window * 3) / 4 }, keep: { messages: 20 } } as never),
  ]),
  "`contextEditingMiddleware`": way((window) => [
    contextEditingMiddleware({
      edits: [new ClearToolUsesEdit({ trigger: { tokens: (window * 3) / 4 }, keep: { messages: 3 } })],
    }),
  ]),
  "`compactordMiddleware`": way((contextWindow) => [compactordMiddleware(new Client(), { policy: { contextWindow } })]),
});
