import assert from "node:assert/strict";
import { test } from "node:test";

import { assistant, developer, system, toolResult, user } from "../src/index.js";
import { contentOf, dialectOf } from "../src/contract/messages.js";
import { Dialect, Role } from "../src/v1.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test("helpers make neutral messages of each role", () => {
  assert.deepEqual(
    [system("a"), developer("b"), user("c"), assistant("d")].map(({ role, parts }) => [role, parts[0]?.kind.value]),
    [Role.SYSTEM, Role.DEVELOPER, Role.USER, Role.ASSISTANT].map((role, i) => [
      role,
      { $typeName: "compactord.v1.TextPart", text: "abcd"[i], refusal: false },
    ]),
  );
  const { role, parts } = toolResult({ id: "call_1" }, "failed", {
    isError: true,
    files: [{ path: "a.go", modified: true }],
  });
  const kind = parts[0]?.kind;
  assert.equal(role, Role.TOOL);
  assert.equal(kind?.case, "toolResult");
  assert.deepEqual(
    [kind.value.callId, kind.value.isError, kind.value.files[0]?.path, kind.value.files[0]?.modified],
    ["call_1", true, "a.go", true],
  );
});

test("strings and neutral messages go as messages, whatever the dialect", () => {
  for (const dialect of [undefined, "anthropic"] as const) {
    const { messages, providerJson } = contentOf(["Hi.", assistant("Hello.")], dialect);
    assert.equal(messages?.length, 2);
    assert.equal(providerJson, undefined);
  }
});

test("objects are the provider's JSON, joined to one list", () => {
  const json = (given: Parameters<typeof contentOf>[0]): unknown => contentOf(given, "gemini").providerJson;
  const whole = (text: string): object => ({ dialect: Dialect.GEMINI, json: text });
  assert.deepEqual(json({ a: 1 }), whole('{"a":1}'));
  assert.deepEqual(json([{ a: 1 }, { b: 2 }]), whole('[{"a":1},{"b":2}]'));
  assert.deepEqual(json([{ a: 1 }, bytes(' [{"n":1.0}, {"n":12345678901234567890}] '), bytes("[]")]), {
    dialect: Dialect.GEMINI,
    json: '[{"a":1},{"n":1.0}, {"n":12345678901234567890}]',
  });
});

test("bytes alone go as they are", () => {
  const body = ' {"candidates": [1.0]}\n';
  assert.deepEqual(contentOf(bytes(body), "gemini").providerJson, { dialect: Dialect.GEMINI, json: body });
});

test("objects of an SDK are what their toJSON says", () => {
  const response = { toJSON: () => ({ id: "msg_1" }) };
  assert.equal(contentOf(response, "anthropic").providerJson?.json, '{"id":"msg_1"}');
});

test("without a dialect an object is a neutral message in the JSON of the contract", () => {
  const { messages } = contentOf({ role: "ROLE_USER", parts: [{ text: { text: "Hi." } }] }, undefined);
  assert.deepEqual(messages, [user("Hi.")]);
});

test("what cannot be appended is told before a call is made", () => {
  assert.throws(() => contentOf([], "anthropic"), /nothing to append/);
  assert.throws(() => contentOf(["Hi.", { role: "user" }], "anthropic"), /one after the other/);
  assert.throws(() => contentOf(bytes("{}"), undefined), /without a dialect/);
  assert.throws(
    () =>
      contentOf(
        bytes("\xff").map(() => 0xff),
        "gemini",
      ),
    { name: "TypeError", message: "append: the bytes are not UTF-8" },
  );
  const loop: Record<string, unknown> = {};
  loop["self"] = loop;
  for (const given of [loop, { id: 1n }]) {
    assert.throws(() => contentOf(given, "anthropic"), {
      name: "TypeError",
      message: /^append: the object cannot be written as JSON/,
    });
  }
  assert.throws(() => contentOf((() => "Hi.") as unknown as object, "anthropic"), /a function is no message/);
  assert.throws(() => contentOf(Promise.resolve("Hi.") as unknown as object, "anthropic"), /await it first/);
  assert.throws(() => dialectOf("claude" as "anthropic"), /"claude" is unknown: use one of openai_chat/);
});

test("a provider's message in a session without a dialect is told so, without what it says", () => {
  assert.throws(
    () => contentOf({ role: "user", content: "xyzzy" }, undefined),
    (e) => {
      assert.ok(e instanceof TypeError);
      assert.match(e.message, /^append: there is no such Role: .*opened without a dialect/);
      assert.doesNotMatch(e.message, /xyzzy/);
      return true;
    },
  );
});
