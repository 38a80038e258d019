// An agent of the AI SDK that reads files, whose conversation never outgrows the context window.
//
//   npm install compactord ai @ai-sdk/anthropic @ai-sdk/openai zod
//   export ANTHROPIC_API_KEY=...
//   node ai-sdk-agent.ts my-conversation
//
// It needs `compactord serve` in another terminal, and Node 22.18 or later, which runs TypeScript. Each line of stdin is a
// message. The messages are kept in the file of --file: started again with the same one, the agent goes on with it.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

import { anthropic } from "@ai-sdk/anthropic";
import { openai } from "@ai-sdk/openai";
import { generateText, isStepCount, streamText, tool, wrapLanguageModel, type ModelMessage } from "ai";
import { Client } from "compactord";
import { compactordMiddleware, compactordStep, neutral, recallTools } from "compactord/ai-sdk";
import { z } from "zod";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    provider: { type: "string", default: "anthropic" },
    model: { type: "string", default: "claude-sonnet-5-5" },
    "context-window": { type: "string", default: "200000" }, // the model's, in tokens
    file: { type: "string", default: "messages.jsonl" },
    step: { type: "boolean", default: false }, // take prepareStep, and not the middleware
    stream: { type: "boolean", default: false }, // print the answer while it comes
  },
});
const conversation = positionals[0] ?? "my-conversation";

const client = new Client();
const session = await client.openSession(conversation, { policy: { contextWindow: Number(values["context-window"]) } });
const named = values.provider === "openai" ? openai(values.model) : anthropic(values.model);
const model = values.step ? named : wrapLanguageModel({ model: named, middleware: compactordMiddleware(session) });
const prepareStep = values.step ? { prepareStep: compactordStep(session) } : {};

const readText = tool({
  description: "Reads a text file.",
  inputSchema: z.object({ path: z.string() }),
  execute: ({ path }) => readFileSync(path, "utf8"),
});

const lines = existsSync(values.file) ? readFileSync(values.file, "utf8").trim().split("\n") : [];
const messages = lines.map((line) => JSON.parse(line) as ModelMessage);

function keep(...added: ModelMessage[]): void {
  messages.push(...added);
  appendFileSync(values.file, added.map((message) => `${JSON.stringify(message)}\n`).join(""));
}

for await (const line of createInterface({ input: process.stdin })) {
  keep({ role: "user", content: line });
  const call = {
    model,
    instructions: "You read files.",
    messages: [...messages],
    tools: { read_file: readText, ...recallTools(session) },
    stopWhen: isStepCount(20),
    // OpenAI keeps no items: each request has all of them.
    providerOptions: { openai: { store: false } },
    onStepEnd: ({ response }: { response: { messages: ModelMessage[] } }) => {
      keep(...response.messages);
    },
    ...prepareStep,
  };
  if (values.stream) {
    for await (const text of streamText(call).textStream) {
      process.stdout.write(text);
    }
  } else {
    process.stdout.write((await generateText(call)).text);
  }
  // The last answer, which no model call follows.
  await session.sync(neutral(messages), { compact: false, view: false });
  process.stdout.write("\n");
}
await client.close();
