// An agent of the OpenAI Agents SDK that reads files, whose conversation never outgrows the context window.
//
//   npm install compactord @openai/agents zod
//   export OPENAI_API_KEY=...
//   node openai-agents-agent.ts my-conversation
//
// It needs `compactord serve` in another terminal, and Node 22.18 or later, which runs TypeScript. Each line of stdin is a
// message. Started again with the same name, the agent goes on with the conversation. The items of the conversation are in
// the daemon, or with --file=FILE in a file of yours, beside which the daemon makes what the model is to see.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

import { Agent, run, tool, type AgentInputItem, type Session } from "@openai/agents";
import { Client } from "compactord";
import { compactordFilter, CompactordSession, recallTools } from "compactord/openai-agents";
import { z } from "zod";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: "string", default: "gpt-6.2-sol" },
    "context-window": { type: "string", default: "128000" }, // the model's, in tokens
    file: { type: "string" }, // keep the items in this file
    stream: { type: "boolean", default: false }, // print the answer while it comes
  },
});
const conversation = positionals[0] ?? "my-conversation";

/** A session of the SDK that keeps its items in a file. */
class FileSession implements Session {
  private items: AgentInputItem[];

  constructor(private readonly path: string) {
    this.items = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as AgentInputItem[]) : [];
  }

  getSessionId(): Promise<string> {
    return Promise.resolve(this.path);
  }

  getItems(limit = Infinity): Promise<AgentInputItem[]> {
    return Promise.resolve(this.items.slice(Math.max(0, this.items.length - limit)));
  }

  addItems(items: AgentInputItem[]): Promise<void> {
    return this.write([...this.items, ...items]);
  }

  async popItem(): Promise<AgentInputItem | undefined> {
    const last = this.items.at(-1);
    await this.write(this.items.slice(0, -1));
    return last;
  }

  clearSession(): Promise<void> {
    return this.write([]);
  }

  private write(items: AgentInputItem[]): Promise<void> {
    this.items = items;
    writeFileSync(`${this.path}.new`, JSON.stringify(items));
    renameSync(`${this.path}.new`, this.path);
    return Promise.resolve();
  }
}

const readText = tool({
  name: "read_file",
  description: "Reads a text file.",
  parameters: z.object({ path: z.string() }),
  execute: ({ path }) => readFileSync(path, "utf8"),
});

const client = new Client();
const held = await client.openSession(conversation, {
  dialect: "openai_responses",
  policy: { contextWindow: Number(values["context-window"]) },
});
const kept = new CompactordSession(held);
const options = values.file
  ? { session: new FileSession(values.file), callModelInputFilter: compactordFilter(held) }
  : { session: kept, callModelInputFilter: kept.modelInput };

const tools = [readText, ...recallTools(held)];
const agent = new Agent({ name: "Reader", instructions: "You read files.", model: values.model, tools });
for await (const line of createInterface({ input: process.stdin })) {
  if (values.stream) {
    const result = await run(agent, line, { ...options, stream: true });
    for await (const text of result.toTextStream()) {
      process.stdout.write(text);
    }
    await result.completed;
  } else {
    process.stdout.write((await run(agent, line, options)).finalOutput ?? "");
  }
  process.stdout.write("\n");
}
await client.close();
