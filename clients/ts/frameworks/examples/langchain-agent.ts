// An agent of LangChain that reads files, whose conversation never outgrows the context window.
//
//   npm install compactord langchain @langchain/core @langchain/langgraph @langchain/anthropic zod
//   export ANTHROPIC_API_KEY=...
//   node langchain-agent.ts my-conversation
//
// It needs `compactord serve` in another terminal, and Node 22.18 or later, which runs TypeScript. Each line of stdin is a
// message. The thread is kept in the file of --file: started again with the same name, the agent goes on with it.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { deserialize, serialize } from "node:v8";
import { parseArgs } from "node:util";

import { MemorySaver } from "@langchain/langgraph";
import { Client } from "compactord";
import { compactordMiddleware } from "compactord/langchain";
import { createAgent, tool } from "langchain";
import { z } from "zod";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: "string", default: "anthropic:claude-sonnet-5-5" },
    "context-window": { type: "string", default: "200000" }, // the model's, in tokens
    file: { type: "string", default: "threads.bin" },
    stream: { type: "boolean", default: false }, // print the answer while it comes
  },
});

/** LangGraph's checkpoints, in a file. A program of many users takes those of a database. */
class FileSaver extends MemorySaver {
  constructor(private readonly path: string) {
    super();
    if (existsSync(path)) {
      Object.assign(this, deserialize(readFileSync(path)));
    }
  }

  override async put(...args: Parameters<MemorySaver["put"]>): ReturnType<MemorySaver["put"]> {
    const config = await super.put(...args);
    const { thread_id: thread, checkpoint_ns: place, checkpoint_id: newest } = config.configurable ?? {};
    // The newest is enough to go on.
    const kept = this.storage[String(thread)]?.[String(place)] ?? {};
    for (const id of Object.keys(kept).filter((one) => one !== newest)) {
      Reflect.deleteProperty(kept, id);
      Reflect.deleteProperty(this.writes, JSON.stringify([thread, place, id]));
    }
    this.write();
    return config;
  }

  override async putWrites(...args: Parameters<MemorySaver["putWrites"]>): Promise<void> {
    await super.putWrites(...args);
    this.write();
  }

  private write(): void {
    writeFileSync(`${this.path}.new`, serialize({ storage: this.storage, writes: this.writes }));
    renameSync(`${this.path}.new`, this.path);
  }
}

const readText = tool(({ path }: { path: string }) => readFileSync(path, "utf8"), {
  name: "read_file",
  description: "Reads a text file.",
  schema: z.object({ path: z.string() }),
});

const client = new Client();
const agent = createAgent({
  model: values.model,
  tools: [readText],
  systemPrompt: "You read files.",
  middleware: [compactordMiddleware(client, { policy: { contextWindow: Number(values["context-window"]) } })],
  checkpointer: new FileSaver(values.file),
});
const config = { configurable: { thread_id: positionals[0] ?? "my-conversation" }, durability: "sync" as const };

for await (const line of createInterface({ input: process.stdin })) {
  const asked = { messages: [{ role: "user", content: line }] };
  if (values.stream) {
    for await (const [chunk] of await agent.stream(asked, { ...config, streamMode: "messages" })) {
      if (chunk.type === "ai") {
        process.stdout.write(chunk.text);
      }
    }
    process.stdout.write("\n");
  } else {
    const { messages } = await agent.invoke(asked, config);
    process.stdout.write(`${messages.at(-1)?.text ?? ""}\n`);
  }
}
await client.close();
