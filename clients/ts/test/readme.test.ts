import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import ts from "typescript";

import { atEnd } from "./fixture/cleanup.js";
import { binary, repository } from "./fixture/daemon.js";

const root = join(repository, "clients/ts");

/** The TypeScript of the README, as one module: its blocks go on from one another. */
function module(): string {
  const blocks = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/^```ts\n([^]*?)^```$/gm)].map(
    ([, code]) => code ?? "",
  );
  assert.ok(blocks.length >= 7);
  return blocks.join("\n");
}

/**
 * What tsc says of a file that uses the package as it is built, and not its sources, under the options of the package's
 * own tests; and the files that it makes.
 */
function compiled(source: string): { complaints: string[]; made: string[] } {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  delete options.paths;
  const folder = dirname(source);
  const program = ts.createProgram([source], { ...options, rootDir: folder, outDir: folder, noEmitOnError: false });
  const made: string[] = [];
  program.emit(undefined, (path, text) => {
    made.push(path);
    ts.sys.writeFile(path, text);
  });
  const complaints = ts
    .getPreEmitDiagnostics(program)
    .map((complaint) => ts.flattenDiagnosticMessageText(complaint.messageText, "\n"));
  return { complaints, made };
}

/** A provider that answers each request of the Messages API with the same text. */
async function provider(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-sonnet-5-5",
        content: [{ type: "text", text: "A test was wrong." }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage: { input_tokens: 10, output_tokens: 5 },
      }),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const at = server.address();
  return `http://127.0.0.1:${String(at === null || typeof at === "string" ? 0 : at.port)}`;
}

test("the example of the repository's README passes tsc, with nothing but its tools declared", () => {
  const [code, ...others] = [
    ...readFileSync(join(repository, "README.md"), "utf8").matchAll(/^```ts\n([^]*?)^```$/gm),
  ].map(([, block]) => block ?? "");
  assert.ok(code !== undefined && others.length === 0);
  const folder = join(root, "build/readme");
  mkdirSync(folder, { recursive: true });
  const source = join(folder, "repository.ts");
  writeFileSync(
    source,
    `${code}
declare const tools: OpenAI.Chat.Completions.ChatCompletionTool[];
declare function runTool(call: import("compactord").ToolCall): Promise<string>;
`,
  );
  assert.deepEqual(compiled(source).complaints, []);
  assert.doesNotMatch(code, / as /);
});

test("the code of the README passes tsc, and runs", async () => {
  // Below the package, so that its own name finds it as it is built.
  const folder = join(root, "build/readme");
  mkdirSync(folder, { recursive: true });
  const source = join(folder, "readme.ts");
  writeFileSync(source, module());
  const program = join(folder, "readme.js");
  const { complaints, made } = compiled(source);
  assert.deepEqual(complaints, []);
  assert.deepEqual(made.map(normalize), [program]);
  const env = {
    ...process.env,
    COMPACTORD_BINARY: binary(),
    ANTHROPIC_API_KEY: "none",
    ANTHROPIC_BASE_URL: await provider(),
  };
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env, timeout: 300_000 });
  const lines = stdout.split("\n");
  assert.equal(lines[0], "A test was wrong.");
  assert.match(stdout, /^skipped \w+$/m);
  assert.match(stdout, /^plan \d+ false\nmemory \d+ false$/m);
  assert.match(stdout, /^another client was faster: \d+$/m);
  assert.match(stdout, /^Why do the tests fail\? 5$/m);
});
