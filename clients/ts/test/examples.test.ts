import assert from "node:assert/strict";
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { it } from "node:test";

import { binary, temporaryFolder, TestDaemon } from "./fixture/daemon.js";
import { dialectFixtures } from "./fixture/dialects.js";
import { FakeProvider, type Reply } from "./fixture/provider.js";
import { HeldSummarizer, heldPolicy } from "./fixture/summarizer.js";
import { conversation } from "./fixture/transcript.js";

const folder = temporaryFolder();
writeFileSync(join(folder, "notes.txt"), "The ferry leaves at noon.\n".repeat(1_200));

const summarizer = await HeldSummarizer.start();
const daemon = await TestDaemon.start(["--log-level", "error", "--config", summarizer.config()]);
const client = daemon.client();
let asked = 0;

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(example: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcessWithoutNullStreams {
  const program = join(import.meta.dirname, "../examples", `${example}.js`);
  return spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: { ...process.env, COMPACTORD_ADDR: undefined, ...env },
  });
}

async function ended(program: ChildProcessWithoutNullStreams): Promise<Ended> {
  const [stdout, stderr, [code]] = await Promise.all([
    text(program.stdout),
    text(program.stderr),
    once(program, "close") as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

const reading = { text: "I look.", calls: [{ id: "c1", name: "read_file", args: { path: "notes.txt" } }] };

function fixtureOf(dialect: string): Required<Pick<(typeof dialectFixtures)[number], "whole" | "events">> {
  const found = dialectFixtures.find((fixture) => fixture.dialect === dialect);
  assert.ok(found?.events !== undefined);
  return { whole: found.whole, events: found.events };
}

const examples: readonly { name: string; path: string; env: (url: string) => NodeJS.ProcessEnv; replies: Reply[] }[] = [
  {
    name: "openai-agent",
    path: "/v1/chat/completions",
    env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: "none" }),
    replies: [
      { status: 200, body: fixtureOf("openai_chat").whole(reading) },
      { status: 200, body: fixtureOf("openai_chat").whole({ text: "It leaves at noon." }) },
      {
        status: 400,
        body: {
          error: { message: "This model's maximum context length is 8192 tokens.", code: "context_length_exceeded" },
        },
      },
      { status: 200, body: fixtureOf("openai_chat").whole({ text: "Yes, every day." }) },
    ],
  },
  {
    name: "anthropic-agent",
    path: "/v1/messages",
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "none" }),
    replies: [
      { events: fixtureOf("anthropic").events(reading) },
      { events: fixtureOf("anthropic").events({ text: "It leaves at noon." }) },
      {
        status: 400,
        body: {
          type: "error",
          error: { type: "invalid_request_error", message: "prompt is too long: 9001 tokens > 8192 maximum" },
        },
      },
      { events: fixtureOf("anthropic").events({ text: "Yes, every day." }) },
    ],
  },
];

for (const { name, path, env, replies } of examples) {
  it(`${name} reads a file, survives an overflow, and answers both questions`, async () => {
    const provider = await FakeProvider.start(...replies);
    const program = start(name, ["When does the ferry leave?", "Every day?"], {
      ...env(provider.url),
      COMPACTORD_BINARY: binary(),
      CONTEXT_WINDOW: "16000",
    });
    const { code, stdout, stderr } = await ended(program);
    assert.equal(code, 0, stderr);
    const answers = stdout.replace("I look.", "").trim().split("\n");
    assert.deepEqual(answers, ["It leaves at noon.", "Yes, every day."]);
    assert.match(
      stderr,
      /CompactordWarning: the model accepts 8,192 tokens, [^]*\nThe conversation was compacted\.\n$/,
    );
    assert.deepEqual(
      provider.received.map((request) => request.path),
      [path, path, path, path],
    );
    const sizes = provider.received.map(({ body }) => JSON.stringify(body.messages).length);
    // Of the file, a view shows a sixteenth of the window: 1,000 tokens.
    assert.ok((sizes[2] ?? 0) > 4_000 && (sizes[3] ?? 0) < 2_000, JSON.stringify(sizes));
    assert.deepEqual(
      provider.received.map(({ body }) => body.tools.length),
      [3, 3, 3, 3],
    );
  });
}

it("progress shows how a compaction goes on", async () => {
  const session = await conversation(client);
  const { code, stderr } = await ended(start("progress", [session.id], { COMPACTORD_ADDR: daemon.address }));
  assert.equal(code, 0, stderr);
  assert.match(stderr, /\d+ tokens before, \d+ after/);
  const again = await ended(start("progress", [session.id], { COMPACTORD_ADDR: daemon.address }));
  assert.equal(again.code, 0, again.stderr);
  assert.doesNotMatch(again.stderr, /tokens before/);
});

it("cancel ends the compaction at Ctrl-C", async () => {
  const session = await client.createSession({ policy: heldPolicy });
  await session.append(["word ".repeat(2_000), "word ".repeat(2_000)]);
  const program = start("cancel", [session.id], { COMPACTORD_ADDR: daemon.address });
  const end = ended(program);
  await summarizer.asked(++asked);
  program.kill("SIGINT");
  const { code, stderr } = await end;
  assert.equal(code, 1, stderr);
  assert.match(stderr, /^started\n[\s\S]*Cancelling\. .*\nCancelled: nothing has changed\.\n$/);
  const records = [];
  for await (const { kind } of session.records()) {
    records.push(kind.case);
  }
  assert.deepEqual(records, ["policyChange", "attempt"]);
});

it("cancel leaves at once at the second Ctrl-C", async () => {
  const session = await client.createSession({ policy: heldPolicy });
  await session.append(["word ".repeat(2_000), "word ".repeat(2_000)]);
  const program = start("cancel", [session.id], { COMPACTORD_ADDR: daemon.address });
  await summarizer.asked(++asked);
  // A daemon that does not answer: the first Ctrl-C waits for it.
  daemon.pause();
  try {
    program.stderr.on("data", (some: Buffer) => {
      if (some.includes("Cancelling")) {
        program.kill("SIGINT");
      }
    });
    const end = ended(program);
    program.kill("SIGINT");
    const { code, stderr } = await end;
    assert.equal(code, 130, stderr);
    assert.doesNotMatch(stderr, /Cancelled/);
  } finally {
    daemon.resume();
  }
});
