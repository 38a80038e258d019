import assert from "node:assert/strict";
import { before, test } from "node:test";

import type { Client, DialectName, Session } from "../src/index.js";
import { assistant, SyncConflictError, ToolCallsOpenError, user } from "../src/index.js";
import { AttemptOutcome, MessageState } from "../src/v1.js";
import { TestDaemon } from "./fixture/daemon.js";
import { heldPolicy, HeldSummarizer } from "./fixture/summarizer.js";

const dialects = ["openai_chat", "openai_responses", "anthropic", "gemini", undefined] as const;
const due = { contextWindow: 4000, strategy: { summarize: { recentTokens: 200 } } };

let client: Client;
let daemon: TestDaemon;
let summarizer: HeldSummarizer;

before(async () => {
  summarizer = await HeldSummarizer.start();
  daemon = await TestDaemon.start(["--config", summarizer.config()]);
  client = daemon.client();
});

/** Numbers that look random, the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

function asked(dialect: DialectName | undefined, text: string): object {
  switch (dialect) {
    case "gemini":
      return { role: "user", parts: [{ text }] };
    case undefined:
      return user(text);
    default:
      return { role: "user", content: text };
  }
}

function answered(dialect: DialectName | undefined, text: string): object {
  switch (dialect) {
    case "gemini":
      return { role: "model", parts: [{ text }] };
    case undefined:
      return assistant(text);
    default:
      return { role: "assistant", content: text };
  }
}

/** Makes turns. Each text has a mark that no other one has. */
class Writer {
  private count = 0;

  constructor(
    private readonly dialect: DialectName | undefined,
    private readonly words = 3,
  ) {}

  question(): object {
    return asked(this.dialect, this.text());
  }

  answer(): object {
    return answered(this.dialect, this.text());
  }

  turns(count: number): object[] {
    return Array.from({ length: count }, () => [this.question(), this.answer()]).flat();
  }

  private text(): string {
    this.count++;
    return `mark${String(this.count)}. ${"word ".repeat(this.words)}`;
  }
}

/** The marks of the texts in a list or a view, in order. */
function marks(elements: Iterable<unknown>): string[] {
  return [...elements].flatMap((element) => [...plain(element).matchAll(/mark\d+/g)].map(([mark]) => mark));
}

function plain(element: unknown): string {
  return JSON.stringify(element, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}

function shown(synced: Awaited<ReturnType<Session["sync"]>>): unknown[] {
  return synced.view?.dialect === undefined ? (synced.view?.neutral ?? []) : (synced.messages ?? []);
}

/** How many elements two lists begin with in common. */
function common(one: readonly object[], other: readonly object[]): number {
  const at = one.findIndex((element, i) => element !== other[i]);
  return at < 0 ? one.length : at;
}

async function recordsOf(session: Session): Promise<number> {
  let count = 0;
  for await (const record of session.records()) {
    count += record.sequence === 0 ? 0 : 1;
  }
  return count;
}

for (const dialect of dialects) {
  for (const seed of [1, 2, 3]) {
    test(`the session follows the list: ${dialect ?? "neutral"}, ${String(seed)}`, async () => {
      const chance = numbers(seed);
      const writer = new Writer(dialect);
      let session = await client.createSession({ ...(dialect && { dialect }) });
      let list: object[] = [];
      let held: object[] = [];
      for (let step = 0; step < 20; step++) {
        switch (chance(6)) {
          case 0: // It drops the end.
            list = list.slice(0, chance(list.length + 1));
            break;
          case 1: // It edits what was said, and goes on from there.
            list = [...list.slice(0, 2 * chance(list.length / 2 + 1)), writer.question()];
            break;
          case 2: // It starts again, and knows only its list.
            session = client.session(session.id, { ...(dialect && { dialect }) });
            held = [];
            break;
          default:
            list = [...list, ...writer.turns(1 + chance(3))];
        }
        const synced = await session.sync(list);
        assert.deepEqual(marks(shown(synced)), marks(list));
        const fresh = list.length - common(held, list);
        assert.ok([fresh, fresh + list.length].includes(synced.sent), `sent ${String(synced.sent)}`);
        const records = await recordsOf(session);
        const again = await session.sync(list);
        assert.deepEqual([again.appended, again.putAside, again.sent], [0, 0, 0]);
        assert.equal(again.nextIndex, synced.nextIndex);
        assert.equal(await recordsOf(session), records);
        held = list;
      }
      const active: unknown[] = [];
      for await (const { message, state } of session.messages()) {
        if (state === MessageState.ACTIVE) {
          active.push(message);
        }
      }
      assert.deepEqual(marks(active), marks(list));
    });
  }

  test(`it compacts where that is due, and takes its view back: ${dialect ?? "neutral"}`, async () => {
    const session = await client.createSession({
      policy: { ...due, summary: { summarizer: "extractive" } },
      ...(dialect && { dialect }),
    });
    const list = new Writer(dialect, 60).turns(30);
    const left = await session.sync(list, { compact: false });
    assert.deepEqual([left.report?.shouldCompact, left.compactionResult], [true, undefined]);
    const events: (string | undefined)[] = [];
    const synced = await session.sync(list, { onEvent: ({ event }) => events.push(event.case) });
    assert.deepEqual([events[0], events.at(-1), synced.sent], ["started", "completed", 0]);
    assert.ok(synced.compacted !== undefined);
    assert.ok(shown(synced).length < list.length);
    const stored = await session.sync([...(shown(synced) as object[]), asked(dialect, "mark0")]);
    assert.deepEqual([stored.appended, stored.putAside, stored.beginsWithView], [1, 0, true]);
    assert.equal(marks(shown(stored)).at(-1), "mark0");
  });

  test(`a list is compacted again and again without a session: ${dialect ?? "neutral"}`, async () => {
    const writer = new Writer(dialect, 60);
    const policy = { ...due, summary: { summarizer: "extractive" } };
    const own = { policy, ...(dialect && { dialect }) };
    let list: object[] = [];
    let state = "";
    let entries = 0;
    while (entries < 2) {
      list = [...list, ...writer.turns(2)];
      const made = await client.compacted(list, { ...own, state });
      state = made.state;
      assert.equal(made.beganAnew, false);
      if (made.compacted) {
        entries++;
        assert.ok(made.view.length < list.length);
        const again = await client.compacted(list, { ...own, state });
        assert.deepEqual([again.view.messagesJson, again.state], [made.view.messagesJson, state]);
      }
      assert.ok(list.length < 400);
    }
    const { covered } = JSON.parse(state) as { covered: number };
    const shorter = await client.compacted([...list.slice(0, covered), asked(dialect, "mark0")], { ...own, state });
    assert.equal(shorter.beganAnew, false);
    const changed = [asked(dialect, "mark0"), ...list.slice(1)];
    const anew = await client.compacted(changed, { ...own, state, compact: false });
    assert.deepEqual([anew.beganAnew, anew.state, anew.view.length], [true, "", list.length]);
  });
}

test("a changed system prompt costs nothing but itself", async () => {
  const apart = await client.createSession({ dialect: "anthropic" });
  const list = new Writer("anthropic").turns(2);
  await apart.sync(list, { system: "Be kind." });
  const synced = await apart.sync(list, { system: [{ type: "text", text: "Be rude." }] });
  assert.deepEqual([synced.sent, synced.instructionsReplaced, synced.appended], [0, true, 0]);
  assert.deepEqual(synced.system, [{ type: "text", text: "Be rude." }]);
  const among = await client.createSession({ dialect: "openai_chat" });
  await among.sync([{ role: "system", content: "Be kind." }, ...list]);
  const other = await among.sync([{ role: "system", content: "Be rude." }, ...list]);
  assert.deepEqual([other.sent, other.instructionsReplaced, other.putAside], [1, true, 0]);
});

test("a long list is known by its digests after a restart", async () => {
  const session = await client.createSession({ dialect: "gemini" });
  const list = new Writer("gemini", 4000).turns(4);
  assert.equal((await session.sync(list)).sent, list.length);
  const again = client.session(session.id, { dialect: "gemini" });
  assert.deepEqual(Object.values(await again.sync(list).then(({ sent, known }) => ({ sent, known }))), [
    0,
    list.length,
  ]);
});

test("while calls wait there is no view, and what the object itself wrote is no conflict", async () => {
  const session = await client.createSession({ dialect: "openai_chat" });
  const calls = [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }];
  const list = [asked("openai_chat", "mark1"), { role: "assistant", content: null, tool_calls: calls }];
  const synced = await session.sync(list);
  assert.deepEqual([synced.messages, synced.openCalls.map(({ id }) => id)], [undefined, ["c1"]]);
  const other = await session.sync([asked("openai_chat", "mark1"), answered("openai_chat", "mark2")]);
  assert.deepEqual([other.appended, other.putAside], [1, 1]);
  await assert.rejects(client.compacted(list, { dialect: "openai_chat" }), ToolCallsOpenError);
});

test("two processes get a conflict and no interleaved log", async () => {
  const first = await client.createSession({ dialect: "openai_chat" });
  const begin = new Writer("openai_chat").turns(1);
  await first.sync(begin);
  await client.session(first.id, { dialect: "openai_chat" }).sync([...begin, asked("openai_chat", "mark3")]);
  const mine = [...begin, asked("openai_chat", "mark4")];
  for (let i = 0; i < 2; i++) {
    await assert.rejects(first.sync(mine), (error) => {
      assert.ok(error instanceof SyncConflictError);
      assert.match(error.message, /session\.refresh\(\)/);
      assert.deepEqual([error.index, error.nextIndex], [2, 3]);
      return true;
    });
  }
  await first.refresh();
  const { messages } = await first.view();
  const synced = await first.sync([...messages, answered("openai_chat", "mark5")]);
  assert.deepEqual([synced.appended, synced.putAside], [1, 0]);
});

test("what others took away is sent again", async () => {
  const session = await client.createSession({ dialect: "openai_chat" });
  const list = new Writer("openai_chat").turns(2);
  await session.sync(list);
  await client.session(session.id, { dialect: "openai_chat" }).clear();
  await assert.rejects(session.sync(list), SyncConflictError);
  await session.refresh();
  assert.deepEqual(marks(shown(await session.sync(list))), marks(list));
});

test("what the session object took away is sent again", async () => {
  const session = await client.createSession({ dialect: "openai_chat" });
  const list = new Writer("openai_chat").turns(2);
  await session.sync(list);
  await session.clear();
  assert.deepEqual(marks(shown(await session.sync(list))), marks(list));
});

test("a session that was made anew", async () => {
  const session = await client.createSession({ dialect: "openai_chat" });
  const list = new Writer("openai_chat").turns(2);
  await session.sync(list);
  await session.delete();
  await client.createSession({ sessionId: session.id });
  assert.equal((await session.sync(list)).appended, 4);
});

test("without a view, and a view in pages", async () => {
  const session = await client.createSession({ dialect: "openai_chat" });
  const list = new Writer("openai_chat", 50).turns(5);
  const synced = await session.sync(list, { view: false });
  assert.deepEqual([synced.view, synced.messages, synced.system], [undefined, undefined, undefined]);
  const paged = await session.sync(list, { maxBytes: 500 });
  assert.deepEqual(paged.messages, list);
});

test("a signal ends the compaction, and the log has the list", async () => {
  const session = await client.createSession({ dialect: "openai_chat", policy: { ...heldPolicy, ...due } });
  const list = new Writer("openai_chat", 60).turns(30);
  const stop = new AbortController();
  const syncing = session.sync(list, {
    signal: stop.signal,
    onEvent: () => {
      stop.abort();
    },
  });
  await assert.rejects(syncing, { name: "AbortError" });
  const outcomes: AttemptOutcome[] = [];
  for await (const { kind } of session.records()) {
    if (kind.case === "attempt") {
      outcomes.push(kind.value.outcome);
    }
  }
  assert.deepEqual(outcomes, [AttemptOutcome.CANCELLED]);
  const again = await session.sync(list, { compact: false });
  assert.deepEqual([again.appended, again.sent, again.messages], [0, 0, list]);
});

test("wrong lists, prompts and states", async () => {
  const session = client.session("of-no-one", { dialect: "openai_chat" });
  const wrong: [unknown, RegExp][] = [
    ["Hi.", /^messages: must be the list of all messages, and is string$/],
    [{}, /^messages: must be the list of all messages, and is object$/],
    [["Hi."], /^messages\[0\]: must be an object, and is string$/],
    [[{}, null], /^messages\[1\]: must be an object, and is null$/],
    [[Promise.resolve()], /^messages\[0\]: must be an object, and is a promise: await it first$/],
    [[user("Hi.")], /^messages\[0\]: is a neutral message, and the list is in the dialect openai_chat/],
  ];
  for (const [given, message] of wrong) {
    await assert.rejects(session.sync(given as object[]), { name: "TypeError", message });
  }
  await assert.rejects(
    session.sync([], { system: "Be kind." }),
    /^TypeError: system: openai_chat has the system prompt/,
  );
  const gemini = client.session("of-no-one", { dialect: "gemini" });
  await assert.rejects(gemini.sync([], { system: ["a", "b"] }), /^TypeError: system: gemini has one system prompt/);
  await assert.rejects(
    client.session("of-no-one").sync([7 as unknown as object]),
    /^TypeError: messages\[0\]: must be a n/,
  );
  const states: [unknown, RegExp][] = [
    [7, /^state: must be the text that an earlier call returned, and is number$/],
    ["7", /^state: it is not what an earlier call returned/],
    ["{}", /^state: it is not what an earlier call returned/],
    ['{"version":2}', /^state: it was made by a newer client than this$/],
    ['{"version":1,"dialect":"gemini"}', /^state: it is of a list in the dialect gemini, and this list is in neutral/],
    ['{"version":1,"dialect":null}', /^state: it is not what an earlier call returned/],
  ];
  for (const [state, message] of states) {
    await assert.rejects(client.compacted(["Hi."], { state: state as string }), { name: "TypeError", message });
  }
});

test("a sync without a view makes no request, and says why", async () => {
  const session = await client.createSession({ dialect: "anthropic" });
  const messages: object[] = [
    { role: "user", content: "Look." },
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_7", name: "look", input: {} }] },
  ];
  const waiting = await session.sync(messages);
  assert.throws(() => waiting.request({ model: "claude" }), {
    name: "TypeError",
    message: "request: there is no view to make a request of: tool calls wait for their results (toolu_7)",
  });
  messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_7", content: "seen" }] });
  const unwanted = await session.sync(messages, { view: false });
  assert.throws(() => unwanted.request(), { message: /the sync was made with view: false$/ });
  const synced = await session.sync(messages);
  assert.deepEqual(synced.request({ model: "claude" }), { model: "claude", messages: synced.messages });
});
