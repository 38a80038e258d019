import assert from "node:assert/strict";
import { before, test } from "node:test";

import type { Client, DialectName, View } from "../src/index.js";
import { Session, toolResult } from "../src/index.js";
import type { Message } from "../src/v1.js";
import { MessageSchema, Role, ViewMessageSchema } from "../src/v1.js";
import { create, toJsonString } from "@bufbuild/protobuf";
import { TestDaemon } from "./fixture/daemon.js";
import { Proxy } from "./fixture/proxy.js";

let daemon: TestDaemon;
let client: Client;

before(async () => {
  daemon = await TestDaemon.start();
  client = daemon.client();
});

/** Numbers from 0 to 1 that are the same each time (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function contentOf(view: View): readonly string[] {
  if (view.dialect !== undefined) {
    return [...view.systemJson, "--", ...view.messagesJson];
  }
  return view.neutral.map((message) => toJsonString(ViewMessageSchema, message));
}

function calling(id: string, text: string): Message {
  return create(MessageSchema, {
    role: Role.ASSISTANT,
    parts: [
      { kind: { case: "text", value: { text } } },
      { kind: { case: "toolCall", value: { id, name: "read", arguments: '{"n": 12345678901234567890, "x": 1.0}' } } },
    ],
  });
}

const policy = { contextWindow: 3000, strategy: { summarize: { recentTokens: 300 } } };

/** One thing that may happen to a session. */
async function step(session: Session, random: () => number, number: number): Promise<void> {
  const text = `Step ${number}: ${"größer, 大きい, \u{1f600}. ".repeat(1 + Math.floor(random() * 12))}`;
  const choice = random();
  if (choice < 0.35) {
    await session.append(text);
  } else if (choice < 0.65) {
    const call = `call_${number}`;
    await session.append([text, calling(call, "I look."), toolResult(call, text), "Go on."]);
  } else if (choice < 0.8) {
    await session.compact();
  } else if (choice < 0.9) {
    const { session: state } = await session.info();
    await session.revert({ point: Math.floor(random() * (state?.point ?? 0)) });
    // The point may lie amid calls, which no rendered view shows open.
    await session.append("Back again.");
  } else {
    await session.prune();
  }
}

for (const dialect of [undefined, "openai_chat", "openai_responses", "anthropic", "gemini"] as const) {
  test(`the joined view is what a fresh session object gets: ${dialect ?? "neutral"}`, async () => {
    const random = seeded(7);
    const neutral = await client.createSession({ policy });
    const session = client.session(neutral.id, { dialect });
    await neutral.append(["Begin.", calling("call_0", "I look."), toolResult("call_0", "Nothing.")]);
    let fetched = 0;
    let moved = 0;
    let earlier: [View, readonly string[]] | undefined;
    for (let number = 1; number <= 60; number++) {
      await step(neutral, random, number);
      const view = await session.view({ maxBytes: number % 3 === 0 ? 0 : 500 });
      const fresh = await new Session(client, neutral.id, dialect).view();
      assert.deepEqual(contentOf(view), contentOf(fresh), `after step ${number}`);
      assert.equal(fresh.messagesSent, fresh.length);
      fetched += view.length;
      moved += view.messagesSent;
      if (earlier !== undefined) {
        assert.deepEqual(contentOf(earlier[0]), earlier[1], "a later fetch changed an earlier view");
      }
      earlier = [view, contentOf(view)];
    }
    assert.ok(moved < fetched / 2, `${moved} of ${fetched} messages were moved`);
  });
}

test("a view as of a point leaves the kept one alone", async () => {
  const session = await client.createSession({ dialect: "openai_chat" });
  const { point } = await session.append("One.");
  await session.append(["Two.", "Three."]);
  const now = await session.view();
  const then = await session.view({ asOf: point });
  assert.equal(then.length, 1);
  assert.equal((await session.view()).messagesSent, 0);
  assert.deepEqual(contentOf(await session.view()), contentOf(now));
});

test("a view comes in pages of the size that is asked for", async () => {
  const proxy = await Proxy.start(daemon.socket);
  const session = daemon.client({ address: proxy.address }).session((await client.createSession()).id);
  await session.append(["One.", "Two.", "Three.", "Four."]);
  const sent = async (maxBytes: number): Promise<number> => {
    const before = proxy.sent;
    await new Session(session.client, session.id, undefined).view({ maxBytes });
    return proxy.sent - before;
  };
  const whole = await sent(0);
  assert.ok((await sent(1)) > 3 * whole);
});

test("other options fetch the view anew", async () => {
  const session = await client.createSession({ dialect: "anthropic" });
  await session.append([{ role: "user", content: "Hello." }]);
  await session.view();
  const marked = await session.view({ markCacheBreakpoints: true });
  assert.equal(marked.messagesSent, 1);
  assert.match(marked.messagesJson[0] ?? "", /cache_control/);
});

const requests: [DialectName, object[], string[]][] = [
  ["anthropic", [{ system: "Be brief.", messages: [{ role: "user", content: "Hi." }] }], ["system", "messages"]],
  ["openai_chat", [{ messages: [{ role: "user", content: "Hi." }] }], ["messages"]],
  ["openai_responses", [{ instructions: "Be brief.", input: "Hi." }], ["instructions", "input"]],
  [
    "gemini",
    [{ systemInstruction: { parts: [{ text: "Be brief." }] }, contents: [{ role: "user", parts: [{ text: "Hi." }] }] }],
    ["systemInstruction", "contents"],
  ],
];

for (const [dialect, body, fields] of requests) {
  test(`a view holds the fields of the provider's request: ${dialect}`, async () => {
    const session = await client.createSession({ dialect });
    await session.append(body);
    const view = await session.view();
    const request = view.request();
    assert.deepEqual(Object.keys(request), fields);
    assert.match(JSON.stringify(request), /Hi\./);
    assert.equal(JSON.stringify(request).includes("Be brief."), fields.length === 2);
  });
}

const pruning = { contextWindow: 8000, pruneStrategy: { hideToolResults: { keepGroups: 1 } } } as const;

function thought(number: number): { type: "thinking"; thinking: string; signature: string } {
  return { type: "thinking", thinking: "", signature: `c2lnbmF0dXJl${String(number)}==` };
}

/** Appends steps of a tool loop. */
async function think(session: Session<"anthropic">, ...numbers: number[]): Promise<void> {
  for (const number of numbers) {
    const id = `toolu_${String(number)}`;
    await session.append([
      { role: "assistant", content: [thought(number), { type: "tool_use", id, name: "read", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "wave ".repeat(400) }] },
    ]);
  }
}

test("a request turns off thinking with a budget where the tool loop lost its own", async () => {
  const session = await client.createSession({ dialect: "anthropic", policy: pruning });
  await session.append({ role: "user", content: "Measure." });
  await think(session, 1, 2);
  const own = { model: "claude", thinking: { type: "enabled", budget_tokens: 2000 } };
  const before = await session.view();
  assert.equal(before.disableThinking, false);
  assert.deepEqual(before.request(own), { ...own, messages: before.messages });
  assert.equal((await session.prune()).done, true);
  const after = await session.view();
  assert.equal(after.disableThinking, true);
  assert.deepEqual(after.request(own), { ...own, thinking: { type: "disabled" }, messages: after.messages });
  assert.deepEqual(own.thinking, { type: "enabled", budget_tokens: 2000 });
});

for (const thinking of [undefined, { type: "adaptive" }, { type: "between_tools" }, { type: "disabled" }]) {
  test(`a model that refuses thinking disabled is not sent it unasked: ${thinking?.type ?? "none"}`, async () => {
    const session = await client.createSession({ dialect: "anthropic", policy: pruning });
    await session.append({ role: "user", content: "Measure." });
    await think(session, 1, 2);
    assert.equal((await session.prune()).done, true);
    const view = await session.view();
    assert.equal(view.disableThinking, true);
    const own = { model: "claude", ...(thinking !== undefined && { thinking }) };
    assert.deepEqual(view.request(own), { ...own, messages: view.messages });
  });
}

test("adaptive thinking goes on in a tool loop that lost its own", async () => {
  const session = await client.createSession({ dialect: "anthropic", policy: { ...pruning, thinking: "adaptive" } });
  await session.append({ role: "user", content: "Measure." });
  await think(session, 1, 2);
  assert.equal((await session.prune()).done, true);
  const own = { model: "claude", thinking: { type: "adaptive" } };
  const after = await session.view();
  assert.deepEqual(after.request(own), { ...own, messages: after.messages });
  assert.doesNotMatch(after.messagesJson.join(""), /c2lnbmF0dXJl/);
  await think(session, 3);
  const later = await session.view();
  assert.deepEqual(later.request(own), { ...own, messages: later.messages });
  assert.deepEqual(later.messages.at(-2)?.content[0], thought(3));
  const whole = await session.view({ thinking: "keep_valid" });
  assert.doesNotMatch(whole.messagesJson.join(""), /c2lnbmF0dXJl/);
});

test("what is empty is not in the request", async () => {
  const session = await client.createSession({ dialect: "anthropic" });
  await session.append({ role: "user", content: "Hi." });
  assert.deepEqual(Object.keys((await session.view()).request()), ["messages"]);
});

test("messages are exact in the raw strings", async () => {
  const session = await client.createSession({ dialect: "openai_chat" });
  const raw =
    '{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\\"n\\":12345678901234567890}"}}]}';
  await session.append([new TextEncoder().encode(raw), { role: "tool", tool_call_id: "c", content: "ok" }]);
  const first = await session.view();
  await session.append("More.");
  const second = await session.view();
  assert.match(second.messagesJson[0] ?? "", /12345678901234567890/);
  assert.equal(second.length, first.length + 1);
});

test("what a caller changes in messages is in no other view and no other request", async () => {
  const session = await client.createSession({ dialect: "anthropic" });
  await session.append({ system: "Be brief.", messages: [{ role: "user", content: "Hi." }] });
  const first = await session.view();
  const whole = [first.messages, first.system, first.request()];
  for (const message of first.messages) {
    message.content = [{ type: "text", text: "Hi.", cache_control: { type: "ephemeral" } }];
  }
  for (const block of first.system) {
    block.cache_control = { type: "ephemeral" };
  }
  first.request().messages.push({ role: "user", content: "More." });
  assert.deepEqual([first.messages, first.system, first.request()], whole);
  const second = await session.view();
  assert.equal(second.messagesSent, 0);
  assert.deepEqual([second.messages, second.system, second.request()], whole);
  const neutral = await client.session(session.id).view();
  for (const message of neutral.neutral) {
    message.message = undefined;
  }
  assert.ok(neutral.neutral.every(({ message }) => message !== undefined));
});

test("a view tells which of its lists is the right one", async () => {
  const neutral = await client.createSession();
  await neutral.append("Hi.");
  const view = await neutral.view();
  assert.equal(view.neutral[0]?.origin.case, "index");
  assert.throws(() => view.messages, TypeError);
  assert.throws(() => view.request(), TypeError);
  const rendered = await client.session(neutral.id, { dialect: "gemini" }).view();
  assert.equal(rendered.messages.length, 1);
  assert.throws(() => rendered.neutral, TypeError);
});
