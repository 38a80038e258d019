import assert from "node:assert/strict";
import { before, test } from "node:test";

import {
  Client,
  embedded,
  type CallModel,
  type SearchQuery,
  type RevertTarget,
  type Session,
  type View,
} from "../src/index.js";
import type { ThinkingName } from "../src/types.js";
import { TestDaemon } from "./fixture/daemon.js";

// Programs without types give what they have: each wrong argument is refused by its own name, and nothing is sent.

let client: Client;
let session: Session;

before(async () => {
  client = (await TestDaemon.start()).client();
  session = await client.createSession();
});

test("numbers out of range are RangeErrors that name the argument", async () => {
  const calls: [string, () => Promise<unknown>][] = [
    ["index", () => session.recall(-1)],
    ["indexes", () => session.pin([1.5])],
    ["indexes", () => session.unpin([2 ** 32])],
    ["asOf", () => session.view({ asOf: -1 })],
    ["expectedNextIndex", () => session.append("Hi.", { expectedNextIndex: -1 })],
    ["toCheckpoint", () => session.revert({ toCheckpoint: Number.NaN })],
    ["fromSequence", async () => session.watch({ fromSequence: -1 }).next()],
    ["fromIndex", async () => session.messages({ fromIndex: -1 }).next()],
    ["atCheckpoint", () => session.fork({ atCheckpoint: -1 })],
    ["maxBytes", () => session.view({ maxBytes: -1 })],
  ];
  for (const [name, call] of calls) {
    await assert.rejects(call, (e) => {
      assert.ok(e instanceof RangeError, name);
      assert.ok(e.message.startsWith(`${name}: `), e.message);
      return true;
    });
  }
});

test("a value of a wrong type is a TypeError that names the field, and not a bug of the daemon", async () => {
  const snippetChars = "many" as unknown as number;
  const about = { name: "TypeError", message: /^snippet_?chars: /i };
  await assert.rejects(session.search({ words: "a", snippetChars }).next(), about);
});

test("wrong keys are refused, and not taken for nothing", async () => {
  const queries = [{}, { text: "x" }, { words: undefined }, { words: "a", pattern: "b" }];
  for (const query of queries as unknown as SearchQuery[]) {
    assert.throws(() => session.search(query), { name: "TypeError", message: /^search: / });
  }
  const targets = [{}, { checkpoint: 1 }, { toCheckpoint: undefined }, { turns: 1, point: 1 }];
  for (const target of targets as unknown as RevertTarget[]) {
    await assert.rejects(session.revert(target), { name: "TypeError", message: /^revert: / });
  }
  assert.throws(() => client.listSessions({ order: "newest" as "created" }), { message: /^order: "newest"/ });
  assert.throws(() => session.messages({ listing: "all" as "dialogue" }), { message: /^listing: "all"/ });
  const changes = { name: "new" } as { title?: string };
  await assert.rejects(session.update(changes), { name: "TypeError", message: /^update: there is no name/ });
});

test("an option that append does not have is refused by its name, and nothing is appended", async () => {
  const mine = await client.createSession();
  const message = { role: "user", content: "More." } as object;
  await assert.rejects(mine.append("Hi.", message), { name: "TypeError", message: /^append: there is no role: / });
  const misspelt = { expectedIndex: 0 } as object;
  await assert.rejects(mine.append("Hi.", misspelt), {
    message: /^append: there is no expectedIndex: it takes .*view/,
  });
  await assert.rejects(mine.append("Hi.", "More." as never), {
    name: "TypeError",
    message: "append: give several messages as a list",
  });
  await assert.rejects(mine.append("Hi.", { view: "a view" as unknown as View }), {
    message: "view: must be a View, as view() returns it, and is string",
  });
  await assert.rejects(mine.append(undefined as unknown as string), { message: "append: undefined is no message" });
  assert.equal((await mine.info()).session?.nextIndex, 0);
});

test("an empty list of a policy is not the preset's", async () => {
  for (const onAppend of [[], {}, { strategies: [] }]) {
    const mine = await client.createSession({ policy: { preset: "opencode", onAppend, fileTools: [] } });
    const resolved = (await mine.info()).session?.resolvedPolicy;
    assert.equal(resolved?.onAppend?.strategies.length, 0);
    assert.equal(resolved.fileTools?.tools.length, 0);
  }
  const mine = await client.createSession({
    policy: {
      onUserMessage: [{ dropThinking: {} }],
      summary: {
        extraContext: ["The release is on Friday."],
        sections: [{ title: "目标", role: "SECTION_ROLE_GOAL" }],
      },
    },
  });
  const resolved = (await mine.info()).session?.resolvedPolicy;
  assert.equal(resolved?.onUserMessage?.strategies.length, 1);
  assert.deepEqual(resolved.summary?.extraContext?.texts, ["The release is on Friday."]);
  assert.deepEqual(
    resolved.summary.sections?.sections.map((section) => section.title),
    ["目标"],
  );
  await assert.rejects(client.createSession({ policy: { trigger: [] as object } }), TypeError);
});

test("a policy that is none is a TypeError that names the field", async () => {
  const policy = { contextwindow: 5 } as { contextWindow?: number };
  const about = {
    name: "TypeError",
    message: 'policy: there is no field "contextwindow": did you mean "contextWindow"?',
  };
  await assert.rejects(client.createSession({ policy }), about);
  await assert.rejects(session.compact({ policy: { contextWindow: "many" as unknown as number } }), {
    name: "TypeError",
    message: "policy.contextWindow: must be a whole number, and is string",
  });
});

test("what is no object and no list is a TypeError that names the field", async () => {
  for (const [is, given] of [
    ["string", "default"],
    ["null", null],
    ["number", 5],
    ["list", ["default"]],
  ] as const) {
    const wrong = given as never;
    const calls: [string, () => unknown][] = [
      ["policy", () => client.createSession({ policy: wrong })],
      ["policy", () => session.update({ policy: wrong })],
      ["policy", () => session.fork({ policy: wrong })],
      ["policy", () => session.compact({ policy: wrong })],
      ["policy", () => session.compactWith(() => Promise.resolve("text"), { policy: wrong })],
      ["policy", () => session.prune({ policy: wrong })],
      ["search", () => session.search(wrong)],
      ["revert", () => session.revert(wrong)],
      ["update", () => session.update(wrong)],
    ];
    for (const [name, call] of calls) {
      const about = { name: "TypeError", message: `${name}: must be an object, and is ${is}` };
      await assert.rejects(Promise.resolve().then(call), about, `${name} ${is}`);
    }
  }
  const wrong = "user" as never;
  const lists: [string, () => unknown][] = [
    ["roles", () => session.search({ words: "a", roles: wrong })],
    ["states", () => session.search({ words: "a", states: wrong })],
    ["indexes", () => session.pin(wrong)],
    ["indexes", () => session.unpin(wrong)],
  ];
  for (const [name, call] of lists) {
    const about = { name: "TypeError", message: `${name}: must be a list, and is string` };
    await assert.rejects(Promise.resolve().then(call), about, name);
  }
});

test("options of the connection that make no sense are told by their name", () => {
  const wrong: [string, object][] = [
    ["address", { address: "127.0.0.1:65536" }],
    ["address", { address: 5 }],
    ["maxMessageBytes", { maxMessageBytes: 5e9 }],
    ["timeoutMs", { timeoutMs: "5" }],
    ["tls", { tls: "yes" }],
  ];
  for (const [name, options] of wrong) {
    assert.throws(
      () => new Client(options),
      (e) => {
        assert.ok(e instanceof TypeError || e instanceof RangeError);
        assert.ok(e.message.startsWith(`${name}: `), e.message);
        return true;
      },
    );
  }
});

test("how long a daemon may take to start is told by its name", async () => {
  for (const startTimeoutMs of ["5", -1, Number.NaN, Number.POSITIVE_INFINITY] as number[]) {
    await assert.rejects(embedded({ startTimeoutMs }), { message: /^startTimeoutMs: / });
  }
});

test("a turn without a function to call the model, or of unknown thinking, is refused before its input is appended", async () => {
  const mine = await client.createSession();
  await assert.rejects(mine.runTurn("gpt" as unknown as CallModel, "Hi."), {
    name: "TypeError",
    message: "callModel: must be a function, and is string",
  });
  const thinking = "none" as ThinkingName;
  await assert.rejects(
    mine.runTurn(() => "Hello.", "Hi.", { thinking }),
    { name: "TypeError", message: /^thinking: "none"/ },
  );
  assert.equal((await mine.info()).session?.nextIndex, 0);
});

test("an option that a method does not have is refused by its name, before anything is done", async () => {
  const mine = await client.createSession();
  const calls: [string, () => Promise<unknown>][] = [
    ["runTurn: there is no runTools", () => mine.runTurn(() => "Hello.", "Hi.", { runTools: 1 } as object)],
    ["view: there is no max", () => mine.view({ max: 1 } as object)],
    ["sync: there is no compacts", () => mine.sync([], { compacts: true } as object)],
    ["compactWith: there is no focuss", () => mine.compactWith(() => "Text.", { focuss: "a" } as object)],
    ["checkpoint: there is no titel", () => mine.checkpoint({ titel: "a" } as object)],
    ["the options of revert: there is no focuss", () => mine.revert({ undo: true }, { focuss: "a" } as object)],
    ["clear: there is no undo", () => mine.clear({ undo: true } as object)],
    ["pin: there is no indexes", () => mine.pin([0], { indexes: [0] } as object)],
    ["unpin: there is no indexes", () => mine.unpin([0], { indexes: [0] } as object)],
    ["fork: there is no atPoint", () => mine.fork({ atPoint: 0 } as object)],
    ["labels: must be an object, and is string", () => mine.fork({ labels: "a" as never })],
    ["child: there is no tittle", () => mine.child(() => "Done.", { tittle: "a" } as object)],
    ["child: there is no tittle", () => mine.startChild({ tittle: "a" } as object)],
    ["call: must be a tool call or its id", () => mine.startChild({ call: 5 as never })],
    ["end: there is no error", () => mine.end("Done.", { error: true } as object)],
    ["result: must be a string, and is number", () => mine.end(5 as never)],
    ["recall: there is no line", () => mine.recall(0, { line: 1 } as object)],
    ["lines: must be an object, and is number", () => mine.recall(0, { lines: 1 as never })],
    ["recall: set one of bytes and lines", () => mine.recall(0, { bytes: { offset: 1 }, lines: { first: 1 } })],
    ["prune: there is no dry", () => mine.prune({ dry: true } as object)],
    ["dryRun: must be true or false, and is string", () => mine.prune({ dryRun: "yes" as never })],
    ["cancelCompaction: there is no id", () => mine.cancelCompaction({ id: "a" } as object)],
    ["delete: there is no child", () => mine.delete({ child: "keep" } as object)],
    ["the options of update: there is no title", () => mine.update({}, { title: "a" } as object)],
    ["updateBlocks: there is no sets", () => mine.updateBlocks({ sets: [] } as object)],
    ["watch: there is no from", () => mine.watch({ from: 0 } as object).next()],
    ["signal: must be an AbortSignal", () => mine.watch({ signal: 1 as never }).next()],
    ["messages: there is no from", () => mine.messages({ from: 0 } as object).next()],
    ["records: there is no kind", () => mine.records({ kind: "revert" } as object).next()],
    ["checkpoints: there is no from", () => mine.checkpoints({ from: 0 } as object).next()],
    ["compactions: there is no from", () => mine.compactions({ from: 0 } as object).next()],
    ["children: there is no from", () => mine.children({ from: 0 } as object).next()],
    ["blocks: there is no name", () => mine.blocks({ name: "a" } as object).next()],
    ["the options of search: there is no roles", () => mine.search({ words: "a" }, { roles: [] } as object).next()],
    ["compacted: there is no compacts", () => client.compacted([], { compacts: false } as object)],
    ["onEvent: must be a function, and is number", () => client.compacted([], { onEvent: 5 as never })],
    [
      "state: must be the text that an earlier call returned, and is object",
      () => client.compacted([], { state: {} as never }),
    ],
    ["embedded: there is no path", () => embedded({ path: "a" } as object)],
    ["binary: must be a string, and is number", () => embedded({ binary: 5 as never })],
    ["args: must be a list, and is string", () => embedded({ args: "--x" as never })],
    ["args: must be a string, and is number", () => embedded({ args: [5 as never] })],
    ["config: must be an object, and is number", () => embedded({ config: 5 as never })],
    [
      "extraBlocks: must be a list, and is string",
      () => mine.runTurn(() => "A.", "Hi.", { extraBlocks: "a" as never }),
    ],
  ];
  for (const [told, call] of calls) {
    await assert.rejects(
      async () => call(),
      (e) => {
        assert.ok(e instanceof TypeError, String(e));
        assert.ok(e.message.startsWith(told), e.message);
        return true;
      },
      told,
    );
  }
  const { session: after } = await mine.info();
  assert.deepEqual([after?.nextIndex, after?.point], [0, 0]);
});

test("what is no text is refused by the name of its option", async () => {
  const wrong = 5 as unknown as string;
  const calls: [string, () => Promise<unknown>][] = [
    ["title", () => session.checkpoint({ title: wrong })],
    ["title", () => session.fork({ title: wrong })],
    ["newSessionId", () => session.fork({ newSessionId: wrong })],
    ["title", () => session.startChild({ title: wrong })],
    ["focus", () => session.compact({ focus: wrong })],
    ["messageFromFuture", () => session.revert({ turns: 1 }, { messageFromFuture: wrong })],
    ["requestId", () => session.append("Hi.", { requestId: wrong })],
    ["operationId", () => session.cancelCompaction({ operationId: wrong })],
    ["sessionId", () => client.deleteSession(wrong)],
  ];
  for (const [name, call] of calls) {
    await assert.rejects(call, { name: "TypeError", message: `${name}: must be a string, and is number` }, name);
  }
});

test("what is no signal is refused", async () => {
  const signal = {} as AbortSignal;
  await assert.rejects(client.health({ signal }), { name: "TypeError", message: "signal: must be an AbortSignal" });
});

test("an update with undefined leaves what it does not name", async () => {
  const labels = { team: "a" };
  const mine = await client.createSession({ labels, policy: { contextWindow: 5_000 } });
  const undefinedToo = { title: "new", policy: undefined, labels: undefined } as unknown as { title: string };
  const state = await mine.update(undefinedToo);
  assert.equal(state.title, "new");
  assert.deepEqual(state.labels, labels);
  assert.equal(state.policy?.contextWindow, 5_000);
});

test("a mistake in a policy is named with its path, and a misspelt field with the one that is meant", async () => {
  const mistakes: [object, string][] = [
    [{ contextWindw: 1 }, 'policy: there is no field "contextWindw": did you mean "contextWindow"?'],
    [{ context_windw: 1 }, 'policy: there is no field "context_windw": did you mean "context_window"?'],
    [{ ContextWindow: 1 }, 'policy: there is no field "ContextWindow": did you mean "contextWindow"?'],
    [{ strategy: { sumarize: {} } }, 'policy.strategy: there is no field "sumarize": did you mean "summarize"?'],
    [
      { onAppend: [{ offload: { overToken: 5 } }] },
      'policy.onAppend[0].offload: there is no field "overToken": did you mean "overTokens"?',
    ],
    [
      { strategy: { ladder: [{ x: {} }] } },
      'policy.strategy.ladder[0]: there is no field "x": there are strategy, atRatio',
    ],
    [{ strategy: "summarize" }, "policy.strategy: must be an object, and is string"],
    [{ contextWindow: "big" }, "policy.contextWindow: must be a whole number, and is string"],
    [{ contextWindow: 1.5 }, "policy.contextWindow: must be a whole number from 0 to 4294967295, and is 1.5"],
    [{ trigger: { enabled: 1 } }, "policy.trigger.enabled: must be true or false, and is number"],
    [{ trigger: { triggerRatio: [] } }, "policy.trigger.triggerRatio: must be a number, and is list"],
    [{ preset: 5 }, "policy.preset: must be a string, and is number"],
    [{ thinking: "keep" }, 'policy.thinking: "keep" is unknown: use one of keep_valid, keep_all, strip, adaptive'],
  ];
  for (const [policy, message] of mistakes) {
    await assert.rejects(client.createSession({ policy }), { name: "TypeError", message });
  }
});

test("what createSession does not take, and what is no text, is named", async () => {
  const mistakes: [object, RegExp][] = [
    [{ polcy: {} }, /^createSession: there is no polcy: it takes sessionId, dialect, policy/],
    [{ title: 5 }, /^title: must be a string, and is number$/],
    [{ labels: 5 }, /^labels: must be an object, and is number$/],
    [{ labels: { team: 1 } }, /^labels\.team: must be a string, and is number$/],
    [{ sessionId: "" }, /^sessionId: must be a string that is not empty, and is empty$/],
  ];
  for (const [options, message] of mistakes) {
    await assert.rejects(client.createSession(options), { name: "TypeError", message });
  }
  assert.throws(
    () => client.session(5 as never),
    /^TypeError: sessionId: must be a string that is not empty, and is number$/,
  );
  assert.throws(() => client.session(""), /and is empty$/);
});
