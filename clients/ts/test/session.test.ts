import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { before, test } from "node:test";

import type { Client } from "../src/index.js";
import { assistant, SessionExistsError, SessionNotFoundError, system, toolResult, user } from "../src/index.js";
import type { RecordSchema } from "../src/v1.js";
import { ContentKind, ErrorClass, Estimator, MessageState, RecordKind, Role, StopReason } from "../src/v1.js";
import type { MessageShape } from "@bufbuild/protobuf";
import { Proxy } from "./fixture/proxy.js";
import { temporaryFolder, TestDaemon } from "./fixture/daemon.js";

let daemon: TestDaemon;
let client: Client;

before(async () => {
  daemon = await TestDaemon.start();
  client = daemon.client();
});

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) {
    list.push(item);
  }
  return list;
}

const kinds = (records: readonly MessageShape<typeof RecordSchema>[]): (string | undefined)[] =>
  records.map(({ kind }) => kind.case);

test("a policy that differs from the session's is not dropped when it is opened", async () => {
  const policy = { contextWindow: 5000, strategy: { summarize: { recentTurns: 1 } } };
  const session = await client.openSession("with-policy", { policy });
  await session.append("One.");
  assert.equal((await (await client.openSession("with-policy", { policy })).info()).session?.nextIndex, 1);
  const other = { ...policy, contextWindow: 6000 };
  await assert.rejects(client.openSession("with-policy", { policy: other }), {
    name: "SessionExistsError",
    message: /^policy: .* differs in contextWindow: .*update/,
  });
  const kimi = { preset: "kimi", strategy: { summarize: {} } };
  await assert.rejects(client.openSession("with-policy", { policy: kimi }), /differs in preset, strategy:/);
  await client.openSession("with-policy", { policy: { contextWindow: 5000 } });
  const trigger = { reserveTokens: 1000 };
  await assert.rejects(client.openSession("with-policy", { policy: { trigger } }), /differs in trigger:/);
  await session.update({ policy: other });
  await client.openSession("with-policy", { policy: other, title: "ignored" });
  await session.delete();
});

test("a session with a policy of the operator is opened again", async () => {
  const config = join(temporaryFolder(), "config.yaml");
  await writeFile(
    config,
    "policies: {small: {preset: kimi, trigger: {trigger_tokens: 4000}}}\ndefault_policy: small\n",
  );
  const daemon = await TestDaemon.start(["--config", config]);
  const other = daemon.client();
  const added = { contextWindow: 8000, trigger: { reserveTokens: 500 } };
  for (const policy of [{ preset: "small" }, { preset: "small", contextWindow: 9000 }, added]) {
    const session = await other.openSession(randomUUID(), { policy });
    assert.equal((await session.info()).session?.policy?.preset, "kimi");
    await other.openSession(session.id, { policy });
    await assert.rejects(
      other.openSession(session.id, { policy: { contextWindow: 7000, trigger: { reserveTokens: 501 } } }),
      /differs in contextWindow, trigger:/,
    );
  }
});

test("a session is created, opened, listed, changed and deleted", async () => {
  const session = await client.createSession({
    sessionId: "life",
    labels: { team: "blue" },
    title: "One",
    policy: { preset: "default", contextWindow: 5000 },
    estimator: Estimator.O200K_BASE,
  });
  await assert.rejects(client.createSession({ sessionId: "life" }), SessionExistsError);
  assert.equal((await client.openSession("life", { dialect: "gemini" })).dialect, "gemini");
  assert.deepEqual(
    (await all(client.listSessions({ labels: { team: "blue" }, order: "changed" }))).map((s) => s.sessionId),
    ["life"],
  );
  const changed = await session.update({ title: "Two", policy: { contextWindow: 6000 } });
  assert.deepEqual([changed.title, changed.labels["team"], changed.policy?.contextWindow], ["Two", "blue", 6000]);
  const { session: state, report } = await session.info();
  assert.deepEqual([state?.estimator, report?.contextWindow], [Estimator.O200K_BASE, 6000]);
  assert.equal(session.report?.contextWindow, 6000);
  await session.delete();
  await assert.rejects(session.info(), SessionNotFoundError);
  await assert.rejects(client.deleteSession("life"), SessionNotFoundError);
});

test("appends answer indexes, findings, and what a model's answer was", async () => {
  const session = await client.createSession({ dialect: "openai_chat", policy: { contextWindow: 5000 } });
  const first = await session.append([system("Be brief."), user("Add 1 and 2.")]);
  assert.deepEqual([first.firstIndex, first.nextIndex], [0, 2]);
  const view = await session.view();
  const body = {
    id: "chatcmpl-1",
    choices: [
      {
        index: 0,
        finish_reason: "tool_calls",
        message: {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "call_1", type: "function", function: { name: "add", arguments: '{"a":1.0}' } }],
        },
      },
    ],
    usage: { prompt_tokens: 30, completion_tokens: 5, total_tokens: 35 },
  };
  const { answer } = await session.append(body, { view, modelAnswer: true });
  assert.equal(answer?.index, 2);
  assert.equal(answer.stopReason, StopReason.TOOL_USE);
  const call = answer.parts.find((part) => part.kind.case === "toolCall")?.kind;
  assert.ok(call?.case === "toolCall");
  assert.deepEqual([call.value.id, call.value.name, call.value.arguments], ["call_1", "add", '{"a":1.0}']);
  await session.append(toolResult(call.value, "3"));
  const last = (await session.view()).messages.at(-1);
  assert.ok(last?.role === "tool" && last.tool_call_id === "call_1");
  assert.equal(session.report?.openCallCount, 0);
});

test("an append that is sent again with its id is written once", async () => {
  const session = await client.createSession();
  const first = await session.append("Once.", { requestId: "r-1" });
  const again = await session.append("Once.", { requestId: "r-1" });
  assert.deepEqual([again.firstIndex, again.nextIndex], [first.firstIndex, first.nextIndex]);
  await session.append("Once.");
  assert.equal((await all(session.messages())).length, 2);
});

test("the same append after one that may have been written is not doubled", async () => {
  const proxy = await Proxy.start(daemon.socket);
  const far = daemon.client({ address: proxy.address, retry: false });
  const near = await client.createSession();
  const session = far.session(near.id);
  await session.append("Before.");
  proxy.dropAnswers = true;
  const failing = session.append("Perhaps.");
  const rejected = assert.rejects(failing, { name: "UnavailableError" });
  for await (const item of near.watch({ fromSequence: 0 })) {
    if (item.case === "message" && item.value.index === 1) {
      break;
    }
  }
  proxy.breakConnections();
  await rejected;
  proxy.dropAnswers = false;
  assert.equal((await session.append("Perhaps.")).firstIndex, 1);
  assert.equal((await session.append("Perhaps.")).firstIndex, 2, "what is said once more is no repetition");
});

test("another append between does not double one that may have been written", async () => {
  const session = await client.createSession();
  // Whether the daemon has it or not when this fails, it is there once in the end.
  const gone = new AbortController();
  const failing = session.append("Yes.", { signal: gone.signal });
  gone.abort();
  await assert.rejects(failing);
  await session.append("No.");
  await session.append("Yes.");
  assert.equal((await all(session.messages())).length, 2);
});

test("going back: checkpoints, points, turns, undo, a message from the future, clearing", async () => {
  const session = await client.createSession();
  await session.append([system("Be brief."), user("One.")]);
  const mark = await session.checkpoint({ title: "start", announce: true });
  assert.equal((await session.view()).neutral.length, 3);
  await session.append([assistant("Two."), "Three."]);
  const { messagesPutAside } = await session.revert({ toCheckpoint: mark.id }, { messageFromFuture: "It was four." });
  assert.equal(messagesPutAside, 2);
  assert.match(JSON.stringify((await session.view()).neutral.at(-1)?.message?.parts), /It was four\./);
  await session.revert({ undo: true });
  assert.equal((await session.view()).neutral.length, 5);
  await session.revert({ turns: 1 });
  assert.equal((await session.view()).neutral.length, 4);
  await session.revert({ point: mark.point });
  assert.deepEqual(
    (await all(session.checkpoints())).map((c) => [c.checkpoint.title, c.putAside]),
    [["start", false]],
  );
  const cleared = await session.clear();
  assert.ok(cleared.messagesPutAside > 0);
  assert.equal((await session.view()).neutral.length, 1);
  assert.equal(kinds(await all(session.records())).filter((kind) => kind === "revert").length, 5);
});

test("a revert can summarize what it puts aside", async () => {
  const session = await client.createSession();
  await session.append([
    "One.",
    assistant("I decided to use int64 cents, since floats round."),
    "Two.",
    assistant("Done."),
  ]);
  const { record } = await session.revert({ point: 1 }, { summarize: true, focus: "decisions" });
  assert.equal(record?.kind.case, "revert");
  assert.equal(record.kind.value.provenance?.focus, "decisions");
});

test("a fork has the log up to a point, and its own policy", async () => {
  const session = await client.createSession({ dialect: "anthropic" });
  const { point } = await session.append("One.");
  const { id: atCheckpoint } = await session.checkpoint();
  await session.append("Two.");
  const fork = await session.fork({ point, newSessionId: "fork", policy: { contextWindow: 7000 }, title: "Forked" });
  assert.deepEqual([fork.id, fork.dialect, (await fork.view()).length], ["fork", "anthropic", 1]);
  const { session: state } = await fork.info();
  assert.deepEqual(
    [state?.title, state?.policy?.contextWindow, state?.forkedFrom?.sessionId],
    ["Forked", 7000, session.id],
  );
  assert.equal((await all((await session.fork({ atCheckpoint })).messages())).length, 1);
  assert.equal((await all((await session.fork()).messages())).length, 2);
});

test("pins keep messages, and unpinning lets them go", async () => {
  const session = await client.createSession({
    policy: { contextWindow: 4000, strategy: { summarize: { recentTokens: 50 } } },
  });
  await session.append([`Keep me. ${"a ".repeat(500)}`, ..."bcdefgh".split("").map((c) => `${c} `.repeat(500))]);
  await session.pin([0]);
  await session.compact();
  const texts = async (): Promise<string> => JSON.stringify((await session.view()).neutral.map((m) => m.origin.value));
  assert.match(await texts(), /^\[".*",0,/);
  await session.unpin([0]);
  assert.doesNotMatch(await texts(), /,0,/);
  assert.deepEqual(
    (await all(session.compactions())).map((entry) => entry.firstKeptIndex > 0),
    [true],
  );
});

test("prune hides old results without a summarizer", async () => {
  const session = await client.createSession({
    dialect: "openai_chat",
    policy: { contextWindow: 50_000, pruneStrategy: { hideToolResults: { keepGroups: 1 } } },
  });
  for (const id of ["c1", "c2"]) {
    await session.append([
      { role: "assistant", tool_calls: [{ id, type: "function", function: { name: "ls", arguments: "{}" } }] },
      { role: "tool", tool_call_id: id, content: "a long list of files ".repeat(200) },
    ]);
  }
  const planned = await session.prune({ dryRun: true });
  const done = await session.prune();
  assert.deepEqual([planned.outcome, done.outcome], ["planned", "completed"]);
  assert.deepEqual(
    done.prune?.edits.map((edit) => edit.index),
    [1],
  );
  assert.equal((await session.prune()).outcome, "skipped");
});

test("recall follows its pages, and search finds the places", async () => {
  const session = await client.createSession();
  const log = Array.from({ length: 120_000 }, (_, i) => `line ${i + 1}: the quick brown fox jumps`).join("\n");
  await session.append(log);
  assert.ok(log.length > 3_145_728);
  assert.equal((await session.recall(0)).text, log);
  assert.equal((await session.recall("#0", { bytes: { offset: 5, length: 3_500_000 } })).text, log.slice(5, 3_500_005));
  assert.equal((await session.recall(0, { lines: { first: 3, count: 100_000 } })).text.split("\n").length, 100_001);
  const page = await session.recall(0, { maxBytes: 100 });
  assert.deepEqual([page.hasMore, page.nextOffset, page.kind, page.role], [true, 100, ContentKind.TEXT, Role.USER]);
  const { blocks } = await session.recall(0, { match: { pattern: "^line 77777:", contextLines: 1 } });
  assert.deepEqual(
    blocks.map((b) => [b.firstLine, b.matchingLines]),
    [[77776, [77777]]],
  );
  await session.append(Array.from({ length: 250 }, (_, i) => `needle ${i}`));
  const hits = await all(session.search({ words: "needle", states: [MessageState.ACTIVE], roles: [Role.USER] }));
  assert.equal(new Set(hits.map((hit) => hit.index)).size, 250);
  const [newest] = await all(session.search({ pattern: "needle 24[0-9]", newestFirst: true }));
  assert.equal(newest?.index, 250);
});

test("messages come as the transcript or the dialogue, over all pages", async () => {
  const session = await client.createSession();
  await session.append(Array.from({ length: 300 }, (_, i) => (i % 2 === 0 ? user(`q${i}`) : assistant(`a${i}`))));
  assert.equal((await all(session.messages())).length, 300);
  assert.equal((await all(session.messages({ listing: "dialogue", fromIndex: 290 }))).length, 10);
  assert.deepEqual(kinds(await all(session.records({ fromSequence: 0 }))), ["policyChange"]);
});

test("records are filtered by kind, by compaction and by sequence, from either end", async () => {
  const session = await client.createSession({ policy: { strategy: { summarize: { recentTokens: 60 } } } });
  const question = (i: number) => [user(`question ${i} `.repeat(50)), assistant(`answer ${i}`)];
  await session.append(Array.from({ length: 6 }, (_, i) => question(i)).flat());
  const { compaction: first } = await session.compact();
  await session.append(question(6));
  const { compaction: second } = await session.compact();
  assert.ok(first && second);
  assert.deepEqual(
    (await all(session.compactions())).map(({ id }) => id),
    [second.id, first.id],
  );
  const one = await all(session.records({ compactionId: first.id }));
  assert.deepEqual([kinds(one), one[0]?.sequence], [["compaction"], first.sequence]);
  const from = { fromSequence: first.sequence };
  const later = await all(session.records({ kinds: ["compaction", RecordKind.POLICY_CHANGE], ...from }));
  assert.deepEqual(
    later.map(({ sequence }) => sequence),
    [first.sequence, second.sequence],
  );
  assert.deepEqual(kinds(await all(session.records({ newestFirst: true, ...from }))), ["compaction", "policyChange"]);
  assert.deepEqual(await all(session.records({ compactionId: "unknown" })), []);
  assert.throws(() => session.records({ kinds: ["compactions" as "compaction"] }), /kinds: "compactions"/);
});

test("the daemon classifies errors, counts tokens, and tells what there is", async () => {
  const error = await client.classifyError({
    errorText: "prompt is too long: 210000 tokens > 200000 maximum",
    httpStatus: 400,
  });
  assert.deepEqual([error.overflow, error.errorClass], [true, ErrorClass.CONTEXT_OVERFLOW]);
  const { tokens } = await client.countTokens({
    what: { case: "text", value: "x".repeat(400) },
    estimator: Estimator.CHARS4,
  });
  assert.equal(tokens, 100);
  const { strategies, presets } = await client.strategies({ contextWindow: 200_000 });
  assert.ok(strategies.some((s) => s.name === "summarize") && presets.some((p) => p.name === "default"));
  assert.equal(await client.health(), true);
});
