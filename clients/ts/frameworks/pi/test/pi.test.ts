import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { embedded } from "compactord";

// The extension in the real program, which is given one prompt and ends: `pi -p`.

const project = join(import.meta.dirname, "..");
const program = join(project, "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js");
const client = await embedded();
after(() => client.close());

interface Message {
  readonly role: string;
  readonly content: unknown;
}

interface Request {
  readonly messages: readonly Message[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** What the model says next: a text, or the arguments of a call of recall_content. */
const answers: (string | object)[] = [];
const requests: Request[] = [];

const server = createServer((request, response) => {
  void bodyOf(request).then((body) => {
    requests.push(JSON.parse(body) as Request);
    const answer = answers.shift() ?? "Nothing is left to say.";
    const called = {
      tool_calls: [
        {
          index: 0,
          id: "call_1",
          type: "function",
          function: { name: "recall_content", arguments: JSON.stringify(answer) },
        },
      ],
    };
    const isText = typeof answer === "string";
    response.setHeader("content-type", "text/event-stream");
    for (const [delta, finish_reason] of [
      [{ role: "assistant", ...(isText ? { content: answer } : called) }, null],
      [{}, isText ? "stop" : "tool_calls"],
    ] as const) {
      const chunk = {
        id: "1",
        object: "chat.completion.chunk",
        model: "m",
        choices: [{ index: 0, delta, finish_reason }],
      };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    }
    response.end("data: [DONE]\n\n");
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const home = mkdtempSync(join(tmpdir(), "compactord-pi-"));
after(() => {
  server.closeAllConnections();
  server.close();
  rmSync(home, { recursive: true });
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) {
    body += String(chunk);
  }
  return body;
}

/** Runs Pi for one prompt; returns what it printed as an answer and as a complaint. */
async function ask(text: string, session: string, contextWindow: number, address: string) {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const models = [{ id: "make-believe", contextWindow, maxTokens: 1_000 }];
  const made = { baseUrl, api: "openai-completions", apiKey: "none", models };
  writeFileSync(join(home, "models.json"), JSON.stringify({ providers: { "make-believe": made } }));
  const given = ["-p", text, "--session-id", session, "--model", "make-believe/make-believe", "--no-skills"];
  const env = { ...process.env, PI_CODING_AGENT_DIR: home, PI_OFFLINE: "1", COMPACTORD_ADDR: address };
  const running = spawn(process.execPath, [program, ...given, "--extension", join(project, "compactord.ts")], {
    cwd: home,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { answer: "", complaint: "" };
  running.stdout.on("data", (chunk) => (said.answer += String(chunk)));
  running.stderr.on("data", (chunk) => (said.complaint += String(chunk)));
  const [code] = (await once(running, "close")) as [number];
  assert.equal(code, 0, said.complaint);
  return said;
}

test("the model reads the log by recall_content, and the session gets the window of another model", async () => {
  answers.push("Noted.", { reference: "#0", max_bytes: 100 }, { reference: "#0", line: 3 }, "Done.");
  const first = await ask(`The crate is in hall 7. ${"word ".repeat(200)}`, "recall", 50_000, client.address);
  assert.equal(first.answer, "Noted.\n");
  assert.doesNotMatch(first.complaint, /compactord/);
  const session = client.session("pi-recall");
  assert.equal((await session.info()).session?.policy?.contextWindow, 50_000);

  const second = await ask("Where is the crate?", "recall", 60_000, client.address);
  assert.deepEqual(second, { answer: "Done.\n", complaint: "" });
  assert.equal((await session.info()).session?.policy?.contextWindow, 60_000);
  const last = requests.at(-1);
  const names = last?.tools?.map((tool) => tool.function.name) ?? [];
  assert.ok(names.includes("recall_content") && names.includes("search_messages"), names.join());
  const [read = "", refused = ""] = (last?.messages ?? [])
    .filter(({ role }) => role === "tool")
    .map(({ content }) => JSON.stringify(content));
  assert.match(read, /The crate is in hall 7\./);
  assert.match(read, /first_byte/);
  assert.ok(read.length < 400, read);
  assert.match(refused, /line_count/);
  // The question, the two calls, their results and the answer follow what the first run said.
  assert.equal((await session.info()).session?.nextIndex, 8);
});

test("without a daemon Pi goes on, and stderr says why", async () => {
  answers.push("I heard you.");
  const { answer, complaint } = await ask("Hello.", "alone", 50_000, "127.0.0.1:9");
  assert.equal(answer, "I heard you.\n");
  assert.match(complaint, /^compactord: no daemon answers at 127\.0\.0\.1:9/m);
});
