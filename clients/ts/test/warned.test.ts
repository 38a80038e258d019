import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { test } from "node:test";

import type { Interceptor } from "@connectrpc/connect";

import { assistant, CompactionResult, ContextOverflowError, user, type Session } from "../src/index.js";
import { TestDaemon, temporaryFolder } from "./fixture/daemon.js";
import { FakeModel, throwing } from "./fixture/fakeModel.js";

// What is probably not meant is in the result, and Node warns of it, too.

const absent = join(temporaryFolder(), "absent.yaml");
writeFileSync(
  absent,
  "summarizers:\n  absent:\n    kind: openai\n    base_url: http://127.0.0.1:1/v1\n    model: fake\n    context_window: 100000\n    tries: 1\n",
);
const daemon = await TestDaemon.start(["--log-level", "error", "--config", absent]);
const client = daemon.client();

const window = 20_000;
const policy = { contextWindow: window, strategy: { summarize: { recentTokens: 2_000, maxSummaryTokens: 1_000 } } };
const falling = { ...policy, trigger: { triggerTokens: 6_000 }, summary: { summarizer: "absent" } };
const unbounded = /^the session has more than 32,000 tokens and no context window, .*session\.update\(\{ contextWindow/;
const fallback =
  /^the policy's fallback wrote the summary, in place of its summarizer: summarizer absent is out of reach/;

/** The warnings of the package while something runs. */
async function warned(run: () => Promise<unknown>): Promise<string[]> {
  const told: string[] = [];
  const listen = ({ name, message }: Error): void => {
    if (name === "CompactordWarning") {
      told.push(message);
    }
  };
  process.on("warning", listen);
  try {
    await run();
    // Node hands warnings out after the current work.
    await setImmediate();
  } finally {
    process.off("warning", listen);
  }
  return told;
}

async function fill(session: Session): Promise<void> {
  for (let turn = 0; turn < 8; turn++) {
    await session.append([user(`Request ${String(turn)}`), assistant("word ".repeat(800))]);
  }
}

/** What a provider's SDK throws where the prompt is too long. */
function tooLong(limit: number): Error {
  const message = `prompt is too long: ${String(limit + 10_000)} tokens > ${String(limit)} maximum`;
  return Object.assign(new Error(message), { status: 400 });
}

test("a fallback is told by each way to compact", async () => {
  const session = await client.createSession({ policy: falling });
  await fill(session);
  let results: { warnings: readonly string[] }[] = [];
  const first = await warned(async () => {
    results = [await session.compact()];
  });
  assert.match(first.join("\n"), fallback);
  assert.deepEqual(results.at(0)?.warnings, first);

  await fill(session);
  const second = await warned(async () => {
    const turn = await session.runTurn(new FakeModel(assistant("Done.")).call, "Go on.");
    const [compacted] = turn.compactions;
    assert.ok(compacted instanceof CompactionResult);
    results = [turn, compacted];
  });
  assert.match(second.join("\n"), fallback);
  assert.deepEqual(
    results.map(({ warnings }) => warnings),
    [second, second],
  );

  const messages = Array.from({ length: 12 }, () => ({ role: "user", content: "word ".repeat(600) }));
  const listed = await client.createSession({ policy: falling, dialect: "openai_chat" });
  const third = await warned(async () => {
    results = [await listed.sync(messages)];
  });
  assert.match(third.join("\n"), fallback);
  assert.deepEqual(results.at(0)?.warnings, third);
  const fourth = await warned(async () => {
    results = [await client.compacted(messages, { policy: falling, dialect: "openai_chat" })];
  });
  assert.match(fourth.join("\n"), fallback);
  assert.deepEqual(results.at(0)?.warnings, fourth);

  const own = await client.createSession({ policy });
  await fill(own);
  const fifth = await warned(async () => {
    results = [await own.compactWith(() => "no summary")];
  });
  assert.match(
    fifth.join("\n"),
    /^the policy's fallback wrote the summary, .*: no summary by client passed the checks: /,
  );
  assert.deepEqual(results.at(0)?.warnings, fifth);
});

test("a window that the provider's error contradicts is told, and can be mended", async () => {
  const session = await client.createSession({ policy });
  await fill(session);
  let limit: number | undefined;
  const told = await warned(async () => {
    const turn = await session.runTurn(new FakeModel(throwing(tooLong(7_000)), assistant("Done.")).call, "Go on.");
    limit = turn.limitTokens;
    assert.equal(turn.warnings.length, 1);
    assert.match(turn.warnings[0] ?? "", /accepts 7,000 tokens, .*context window is 20,000, .*contextWindow: 7_000 \}/);
  });
  assert.equal(told.length, 1);
  assert.equal(limit, 7_000);

  const before = (await session.info()).session?.policy;
  const calls: string[] = [];
  const watched: Interceptor = (next) => (request) => {
    calls.push(request.method.name);
    return next(request);
  };
  await daemon
    .client({ interceptors: [watched] })
    .session(session.id)
    .update({ contextWindow: 7_000 });
  assert.deepEqual(calls, ["UpdateSession"], "what another one changes meanwhile stays");
  const after = (await session.info()).session?.policy;
  assert.deepEqual({ ...before, contextWindow: 7_000 }, { ...after });
  await assert.rejects(
    session.update({ policy, contextWindow: 7_000 }),
    /^TypeError: contextWindow: give it in the policy, or without one$/,
  );
});

test("a window that the provider's error confirms is not told", async () => {
  const session = await client.createSession({ policy });
  await fill(session);
  const told = await warned(async () => {
    const turn = await session.runTurn(new FakeModel(throwing(tooLong(window)), assistant("Done.")).call, "Go on.");
    assert.deepEqual([turn.limitTokens, turn.warnings], [window, []]);
    const lower = await client.createSession({ policy: { ...policy, maxInputTokens: 9_000 } });
    const asked = { errorText: tooLong(9_000).message, httpStatus: 400, sessionId: lower.id };
    assert.equal((await client.classifyError(asked)).limitTokens, 9_000);
  });
  assert.deepEqual(told, []);
});

test("an overflow that compacting does not mend tells the limit", async () => {
  const session = await client.createSession({ policy });
  const told = await warned(() =>
    assert.rejects(session.runTurn(new FakeModel(throwing(tooLong(7_000))).call, "Go on."), (error) => {
      assert.ok(error instanceof ContextOverflowError);
      assert.deepEqual([error.limitTokens, error.contextWindow], [7_000, window]);
      return true;
    }),
  );
  assert.match(told.join("\n"), /accepts 7,000 tokens/);
});

test("a loop of one's own is told of a contradicted window", async () => {
  const session = await client.createSession();
  const told = await warned(async () => {
    const asked = { errorText: tooLong(7_000).message, httpStatus: 400, sessionId: session.id };
    assert.equal((await client.classifyError(asked)).limitTokens, 7_000);
  });
  assert.match(told.join("\n"), /accepts 7,000 tokens, .* the policy has no context window, /);
});

test("a session without a window that grows is told once", async () => {
  const session = await client.createSession();
  const told = await warned(async () => {
    for (let append = 0; append < 3; append++) {
      await session.append("word ".repeat(20_000));
    }
    const turn = await session.runTurn(new FakeModel(assistant("Done.")).call, "Go on.");
    assert.equal(turn.warnings.length, 1);
    assert.match(turn.warnings[0] ?? "", unbounded);
  });
  assert.equal(told.length, 1);
  assert.match(told[0] ?? "", unbounded);

  const bounded = await client.createSession({ policy: { trigger: { triggerTokens: 100_000 } } });
  const manual = await client.createSession({ policy: { trigger: { enabled: false } } });
  const listed = await client.createSession({ dialect: "openai_chat" });
  const others = await warned(async () => {
    await bounded.append("word ".repeat(40_000));
    await manual.append("word ".repeat(40_000));
    const synced = await listed.sync([{ role: "user", content: "word ".repeat(40_000) }]);
    assert.equal(synced.warnings.length, 1);
  });
  assert.equal(others.length, 1);
  assert.match(others[0] ?? "", unbounded);
});

test("a policy that never compacts is told wherever it is chosen", async () => {
  const never = { preset: "klaude", contextWindow: 32_000, maxOutputTokens: 32_000 };
  const text = /^policy\.max_output_tokens: the preset klaude never compacts/;
  let sessions: Session[] = [];
  const told = await warned(async () => {
    const made = await client.createSession({ policy: never });
    sessions = [made, await made.fork(), await made.startChild(), await client.openSession("never", { policy: never })];
  });
  assert.equal(told.length, 4);
  for (const [i, session] of sessions.entries()) {
    assert.match(told[i] ?? "", text);
    assert.deepEqual(session.warnings, [told[i]]);
  }
  const [session] = sessions;
  assert.ok(session !== undefined);
  const later = await warned(async () => {
    await session.update({ title: "the policy stays" });
    assert.equal(session.warnings.length, 1);
    await session.update({ contextWindow: 200_000 });
    assert.equal(session.warnings.length, 0);
    await session.update({ contextWindow: 32_000 });
    assert.match(session.warnings[0] ?? "", text);
  });
  assert.equal(later.length, 1);
});
