import assert from "node:assert/strict";
import { test } from "node:test";

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

import type { Client, View } from "../src/index.js";
import { TestDaemon } from "./fixture/daemon.js";
import { FakeProvider } from "./fixture/provider.js";

const daemon = await TestDaemon.start();
const client: Client = daemon.client();

const claude = { model: "claude", max_tokens: 2048 };

test("a view's request fits the provider's package without a cast, in each dialect", async () => {
  const provider = await FakeProvider.start();
  const settings = { apiKey: "none", maxRetries: 0 };
  const anthropic = new Anthropic({ ...settings, baseURL: provider.url });
  const openai = new OpenAI({ ...settings, baseURL: provider.url });

  const messages = await client.createSession({ dialect: "anthropic" });
  await messages.append({ system: "Be brief.", messages: [{ role: "user", content: "Hi." }] });
  const asked = await messages.view();
  await assert.rejects(anthropic.messages.create({ ...claude, ...asked.request() }));
  // Thinking, tools and streams too, given as the request's own fields.
  const thinking = { type: "enabled", budget_tokens: 1024 } as const;
  const tools = [{ name: "look", input_schema: { type: "object" as const } }];
  await assert.rejects(anthropic.messages.create(asked.request({ ...claude, thinking, tools, stream: true })));
  await assert.rejects(
    messages.runTurn(
      (view, { signal }) => anthropic.messages.create({ ...claude, ...view.request() }, { signal }),
      "More.",
    ),
  );

  const chat = await client.openSession("chat", { dialect: "openai_chat" });
  await chat.append([{ role: "user", content: "Hi." }]);
  await assert.rejects(openai.chat.completions.create({ model: "gpt", ...(await chat.view()).request() }));
  await assert.rejects(openai.chat.completions.create({ model: "gpt", messages: (await chat.view()).messages }));

  const responses = client.session(chat.id, { dialect: "openai_responses" });
  await assert.rejects(openai.responses.create({ model: "gpt", ...(await responses.view()).request() }));

  const texts = provider.received.map(({ body }) => JSON.stringify(body));
  assert.equal(texts.length, 6);
  for (const text of texts) {
    assert.match(text, /Hi\./);
  }
});

test("a request of another dialect does not compile", async () => {
  const session = await client.createSession({ dialect: "openai_chat" });
  await session.append("Hi.");
  const view: View<"openai_chat"> = await session.view();
  assert.equal(view.messages.length, 1);
  // A message of Chat Completions is none of Anthropic's.
  const fits: typeof view.messages extends Anthropic.MessageParam[] ? true : false = false;
  assert.equal(fits, false);
  const neutral = await client.session(session.id).view();
  const none: never[] = neutral.length > 0 ? [] : neutral.messages;
  assert.equal(none.length, 0);
});

test("the dialect is an option wherever a session is opened", async () => {
  const { id } = await client.createSession({ dialect: "gemini" });
  const session = client.session(id, { dialect: "gemini" });
  await session.append("Hi.");
  const [content] = (await session.view()).request().contents;
  assert.deepEqual(content?.parts, [{ text: "Hi." }]);
  // It was a positional argument once.
  assert.throws(() => client.session(id, "gemini" as never), /^TypeError: session: must be an object, and is string$/);
});
