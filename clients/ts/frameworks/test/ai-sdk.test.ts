import assert from "node:assert/strict";
import { after, test } from "node:test";

import {
  APICallError,
  generateText,
  isStepCount,
  streamText,
  tool,
  wrapLanguageModel,
  type LanguageModel,
  type ModelMessage,
} from "ai";
import { create, equals } from "@bufbuild/protobuf";
import { embedded, type Session } from "compactord";
import { compactordMiddleware, compactordStep, neutral, recallTools, shown } from "compactord/ai-sdk";
import { MessageSchema, Role, ViewMessageSchema, type Message } from "compactord/v1";
import fc from "fast-check";
import { z } from "zod";

import { linesOf, recordings } from "./recordings.js";

const client = await embedded();
after(() => client.close());

type Model = Extract<LanguageModel, { specificationVersion: "v4" }>;
type Params = Parameters<Model["doGenerate"]>[0];
type Answer = Awaited<ReturnType<Model["doGenerate"]>>;
type Output = Extract<Extract<ModelMessage, { role: "tool" }>["content"][number], { type: "tool-result" }>["output"];
type UserPart = Exclude<
  Exclude<Extract<ModelMessage, { role: "user" }>["content"], string>[number],
  { image: unknown }
>;
type Assistant = Extract<ModelMessage, { role: "assistant" }>;

// Without edits of long results: the messages that come back are those that were given.
const plain = { contextWindow: 10_000_000, onAppend: {} };
const image = Uint8Array.from([137, 80, 78, 71]);

const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }).filter((text) => text.trim() !== "");
const signed = { anthropic: { signature: "sealed" }, openai: { itemId: "rs_1" } };

const userPart: fc.Arbitrary<UserPart> = fc.oneof(
  words.map((text) => ({ type: "text" as const, text })),
  fc.constantFrom<UserPart>(
    { type: "file", mediaType: "image/png", data: image, providerOptions: { openai: { imageDetail: "low" } } },
    { type: "file", mediaType: "image", data: new URL("https://example.com/cat.png") },
    { type: "file", mediaType: "application/pdf", filename: "a.pdf", data: { type: "data", data: "iVBORw0KGgo=" } },
    { type: "file", mediaType: "audio/wav", data: { type: "reference", reference: { openai: "file-1" } } },
    // As lists of earlier versions have it.
    JSON.parse('{"type":"image","image":"iVBORw0KGgo="}') as UserPart,
    { type: "file", mediaType: "text/plain", data: { type: "text", text: "A note." } },
    { type: "file", mediaType: "image/png", data: "data:image/png;base64,iVBORw0KGgo=" },
  ),
);

const pictured = [
  { type: "text" as const, text: "A cat:" },
  { type: "file" as const, mediaType: "image/png", data: { type: "data" as const, data: "iVBORw0KGgo=" } },
];

const output: fc.Arbitrary<Output> = fc.oneof(
  words.map((value) => ({ type: "text" as const, value })),
  words.map((value) => ({ type: "error-text" as const, value })),
  fc.dictionary(words, words, { maxKeys: 2 }).map((value) => ({ type: "json" as const, value: { ...value } })),
  fc.constantFrom<Output>(
    { type: "error-json", value: { code: 5 } },
    { type: "execution-denied", reason: "No." },
    { type: "content", value: pictured },
  ),
);

/** A message of the user, an answer with parallel calls, and their results in one message or in several. */
function turn(number: number): fc.Arbitrary<ModelMessage[]> {
  return fc
    .record({
      said: fc.oneof(words, fc.array(userPart, { minLength: 1, maxLength: 3 })),
      text: words,
      thinks: fc.boolean(),
      searched: fc.boolean(),
      approved: fc.boolean(),
      together: fc.boolean(),
      outputs: fc.array(output, { maxLength: 3 }),
      inputs: fc.dictionary(words, words, { maxKeys: 2 }),
    })
    .map((drawn): ModelMessage[] => {
      const ids = drawn.outputs.map((_, at) => `call_${number}_${at}`);
      const search = { toolCallId: `search_${number}`, toolName: "web_search" };
      const answer: Assistant = {
        role: "assistant",
        providerOptions: { openai: { phase: "final" } },
        content: [
          ...(drawn.thinks ? [{ type: "reasoning" as const, text: "I think.", providerOptions: signed }] : []),
          { type: "text", text: drawn.text, providerOptions: { openai: { itemId: `msg_${number}` } } },
          ...(drawn.searched
            ? [
                { type: "tool-call" as const, ...search, input: { query: "cats" }, providerExecuted: true },
                { type: "tool-result" as const, ...search, output: { type: "json" as const, value: ["A cat."] } },
              ]
            : []),
          ...ids.map((toolCallId) => ({
            type: "tool-call" as const,
            toolCallId,
            toolName: "look",
            input: { ...drawn.inputs },
            providerOptions: { openai: { itemId: `fc_${toolCallId}` } },
          })),
          ...(drawn.approved && ids[0] !== undefined
            ? [{ type: "tool-approval-request" as const, approvalId: `approval_${number}`, toolCallId: ids[0] }]
            : []),
        ],
      };
      const approval: ModelMessage[] =
        drawn.approved && ids.length > 0
          ? [
              {
                role: "tool",
                content: [{ type: "tool-approval-response", approvalId: `approval_${number}`, approved: true }],
              },
            ]
          : [];
      const results = drawn.outputs.map((one, at) => ({
        type: "tool-result" as const,
        toolCallId: ids[at] ?? "",
        toolName: "look",
        output: one,
        providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
      }));
      const grouped = drawn.together ? (results.length > 0 ? [results] : []) : results.map((one) => [one]);
      return [
        { role: "user", content: drawn.said, providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } },
        answer,
        ...approval,
        ...grouped.map((content): ModelMessage => ({ role: "tool", content })),
      ];
    });
}

const conversations = fc
  .integer({ min: 1, max: 4 })
  .chain((turns) => fc.tuple(...Array.from({ length: turns }, (_, number) => turn(number))))
  .map((turns) => turns.flat());

async function viewed(session: Session, messages: readonly ModelMessage[]): Promise<ModelMessage[]> {
  const { view } = await session.sync(neutral(messages), { compact: false });
  assert.ok(view);
  return shown(view.neutral, messages);
}

function assertSame(found: readonly unknown[], wanted: readonly unknown[]): void {
  assert.deepEqual(found, wanted);
  found.forEach((one, at) => {
    assert.equal(one, wanted[at]);
  });
}

test("messages come back as they are", async () => {
  await fc.assert(
    fc.asyncProperty(conversations, async (messages) => {
      const before = structuredClone(messages.map((one) => JSON.stringify(one)));
      assertSame(await viewed(await client.createSession({ policy: plain }), messages), messages);
      assert.deepEqual(
        messages.map((one) => JSON.stringify(one)),
        before,
      );
    }),
    { numRuns: 60 },
  );
});

test("a message that was made anew says the same", () => {
  const says = (messages: readonly Message[]): Message[] =>
    messages.map(({ role, parts }) => create(MessageSchema, { role, parts }));
  fc.assert(
    fc.property(conversations, (messages) => {
      const said = neutral(messages);
      const view = said.map((message, index) =>
        create(ViewMessageSchema, { message, origin: { case: "index", value: index } }),
      );
      const again = neutral(shown(view, []));
      assert.equal(again.length, said.length);
      says(said).forEach((one, at) => {
        const other = says(again)[at];
        assert.ok(other !== undefined && equals(MessageSchema, one, other), JSON.stringify([one, other], bigints));
      });
    }),
    { numRuns: 200 },
  );
});

function bigints(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}

interface Line {
  readonly role: string;
  readonly content?: string | null;
  readonly tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[];
  readonly tool_call_id?: string;
}

function recorded({ role, content, tool_calls: calls = [], tool_call_id: toolCallId = "" }: Line): ModelMessage[] {
  const text = typeof content === "string" ? content : "";
  switch (role) {
    case "user":
      return [{ role, content: text }];
    case "assistant":
      return [
        {
          role,
          content: [
            { type: "text", text },
            ...calls.map((call) => ({
              type: "tool-call" as const,
              toolCallId: call.id,
              toolName: call.function.name,
              input: call.function.arguments,
            })),
          ],
        },
      ];
    case "tool":
      return [
        {
          role,
          content: [{ type: "tool-result", toolCallId, toolName: "tool", output: { type: "text", value: text } }],
        },
      ];
    default:
      return [];
  }
}

for (const name of recordings()) {
  test(`the messages of ${name} come back as they are`, async () => {
    const messages = linesOf(name).flatMap((line) => recorded(JSON.parse(line) as Line));
    const session = await client.createSession({ policy: plain });
    const own = new Set(messages);
    // Where a call has no result, the view has one that says so; an empty message may not be shown.
    const spoken = (one: ModelMessage): boolean => own.has(one) && one.content !== "";
    assertSame((await viewed(session, messages)).filter(spoken), messages.filter(spoken));
    const { appended, putAside } = await session.sync(neutral(messages), { compact: false, view: false });
    assert.deepEqual([appended, putAside], [0, 0]);
  });
}

test("what a view shows shorter is a copy, and what was said twice is found from the end", async () => {
  const session = await client.createSession({
    policy: {
      contextWindow: 1_000_000,
      strategy: { summarize: { recentTokens: 1_000 } },
      pruneStrategy: { hideToolResults: { keepGroups: 1 } },
    },
  });
  const messages: ModelMessage[] = [];
  for (let number = 0; number < 8; number++) {
    const call = { toolCallId: `call_${number}`, toolName: "look" };
    messages.push(
      { role: "user", content: "Again." },
      { role: "assistant", content: [{ type: "tool-call", ...call, input: { number } }] },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            ...call,
            output: { type: "text", value: `Result ${number}. ${"word ".repeat(2_000)}` },
            providerOptions: signed,
          },
        ],
      },
    );
  }
  await session.sync(neutral(messages));
  assert.ok((await session.prune()).prune !== undefined);
  const pruned = shown((await session.view()).neutral, messages);
  assert.equal(pruned.length, messages.length);
  const [first, last] = [pruned[2], pruned.at(-1)];
  assert.ok(first?.role === "tool" && first.content[0]?.type === "tool-result");
  assert.deepEqual(first.content[0].providerOptions, signed);
  assert.ok(first.content[0].output.type === "text" && first.content[0].output.value.length < 500);
  assert.equal(last, messages.at(-1));
  assertSame(
    pruned.filter((one) => one.role !== "tool"),
    messages.filter((one) => one.role !== "tool"),
  );

  assert.ok((await session.compact()).done);
  const compacted = shown((await session.view()).neutral, messages);
  const [summary, ...kept] = compacted;
  assert.equal(summary?.role, "user");
  assertSame(kept, messages.slice(-kept.length));
});

/** What a provider would report of a request, of which its cache had 50 tokens. */
function usageOf({ prompt }: Params): Answer["usage"] {
  const total = 50 + Math.ceil(JSON.stringify(prompt).length / 4);
  return {
    inputTokens: { total, noCache: total - 50, cacheRead: 50, cacheWrite: 0 },
    outputTokens: { total: 7, text: 7, reasoning: 0 },
  };
}

/** A model that answers with what it is given, and an error where that is one. */
function model(answers: readonly (string | Error)[], asked: Params[]): Model {
  const left = [...answers];
  const next = (params: Params): string => {
    asked.push(params);
    const answer = left.shift();
    if (answer === undefined || answer instanceof Error) {
      throw answer ?? new Error("nothing is left to answer");
    }
    return answer;
  };
  return {
    specificationVersion: "v4",
    provider: "make-believe",
    modelId: "make-believe",
    supportedUrls: {},
    doGenerate: (params) => {
      const text = next(params);
      const called = /^(look|recall_content) (\S+) ?(.*)$/.exec(text);
      const [, toolName = "", toolCallId = "", input = ""] = called ?? [];
      const content: Answer["content"] =
        called === null
          ? [{ type: "text", text }]
          : [{ type: "tool-call", toolCallId, toolName, input: input === "" ? "{}" : input }];
      const unified = called === null ? "stop" : "tool-calls";
      return Promise.resolve({
        content,
        finishReason: { unified, raw: unified },
        usage: usageOf(params),
        warnings: [],
      });
    },
    doStream: (params) => {
      const text = next(params);
      const finish = {
        type: "finish" as const,
        finishReason: { unified: "stop" as const, raw: "stop" },
        usage: usageOf(params),
      };
      const parts = [
        { type: "stream-start" as const, warnings: [] },
        { type: "text-start" as const, id: "1" },
        { type: "text-delta" as const, id: "1", delta: text },
        { type: "text-end" as const, id: "1" },
        finish,
      ];
      return Promise.resolve({
        stream: ReadableStream.from(parts),
      });
    },
  };
}

function overflow(): APICallError {
  const message = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.";
  return new APICallError({ message, url: "", requestBodyValues: {}, statusCode: 400, isRetryable: false });
}

const long: ModelMessage[] = Array.from({ length: 6 }, (_, number): ModelMessage[] => [
  { role: "user", content: `Question ${number}. ${"word ".repeat(500)}` },
  { role: "assistant", content: [{ type: "text", text: `Answer ${number}. ${"word ".repeat(500)}` }] },
]).flat();

for (const streamed of [false, true]) {
  test(`after an overflow the model is called once more, ${streamed ? "streamed" : "at once"}`, async () => {
    const session = await client.createSession({
      policy: { contextWindow: 16_000, strategy: { summarize: { recentTokens: 500 } } },
    });
    const asked: Params[] = [];
    const wrapped = wrapLanguageModel({
      model: model([overflow(), "Done."], asked),
      middleware: compactordMiddleware(session),
    });
    const messages: ModelMessage[] = [...long, { role: "user", content: "And now?" }];
    const call = { model: wrapped, instructions: "Be brief.", messages };
    const text = streamed ? await streamText(call).text : (await generateText(call)).text;
    assert.equal(text, "Done.");
    const [before, afterwards] = asked.map(({ prompt }) => prompt);
    assert.equal(before?.length, messages.length + 1);
    assert.ok(afterwards !== undefined && afterwards.length < messages.length);
    assert.deepEqual([afterwards[0], afterwards.at(-1)], [before[0], before.at(-1)]);
  });
}

test("another error of the model is thrown as it is, and nothing is compacted", async () => {
  const session = await client.createSession({ policy: plain });
  const asked: Params[] = [];
  const wrapped = wrapLanguageModel({
    model: model([new Error("No such model.")], asked),
    middleware: compactordMiddleware(session),
  });
  await assert.rejects(generateText({ model: wrapped, prompt: "Hello.", maxRetries: 0 }), /No such model/);
  assert.equal(asked.length, 1);
});

test("the error of the model is thrown where the daemon fails after it", async () => {
  const session = await client.createSession({ policy: plain });
  const wrapped = wrapLanguageModel({
    model: {
      ...model([], []),
      doGenerate: async () => {
        await client.deleteSession(session.id);
        throw overflow();
      },
    },
    middleware: compactordMiddleware(session),
  });
  const warned: string[] = [];
  const note = ({ message }: Error): void => void warned.push(message);
  process.on("warning", note);
  after(() => process.off("warning", note));
  const asked = generateText({ model: wrapped, prompt: "Hello.", maxRetries: 0 });
  await assert.rejects(asked, /maximum context length is 8192/);
  await new Promise((resolve) => setImmediate(resolve));
  assert.match(warned.join("\n"), /the session could not be made smaller: /);
});

const look = tool({ inputSchema: z.object({}), execute: () => `Seen. ${"word ".repeat(2_000)}` });

for (const way of ["middleware", "prepareStep"] as const) {
  test(`a run of many steps grows by its new messages, with the usage of each, by ${way}`, async () => {
    const session = await client.createSession({ policy: { contextWindow: 8_000 } });
    const asked: Params[] = [];
    const calls = Array.from({ length: 24 }, (_, number) => `look call_${number}`);
    const own = model([...calls, "Done."], asked);
    const call =
      way === "middleware"
        ? { model: wrapLanguageModel({ model: own, middleware: compactordMiddleware(session) }) }
        : { model: own, prepareStep: compactordStep(session) };
    const run = { tools: { look }, stopWhen: isStepCount(30), instructions: "Be brief." };
    const messages: ModelMessage[] = [{ role: "user", content: "Look often." }];
    const result = await generateText({ ...call, ...run, messages });
    assert.equal(result.text, "Done.");
    assert.equal(asked.length, 25);
    const info = await session.sync(neutral([...messages, ...result.responseMessages]), {
      compact: false,
      view: false,
    });
    assert.deepEqual([info.appended, info.putAside], [1, 0]);
    const logged = [];
    for await (const { message } of session.messages()) {
      logged.push(message);
    }
    const answers = logged.filter((one) => one?.role === Role.ASSISTANT);
    assert.equal(answers.length, 25);
    const compactions = [];
    for await (const one of session.compactions()) {
      compactions.push(one);
    }
    assert.ok(compactions.length > 0);
    assert.equal(logged.length, 1 + 1 + 24 * 2 + 1);
    assert.deepEqual(
      answers.slice(0, 24).map((one) => [one?.usage?.inputTokens, one?.usage?.cacheReadTokens]),
      asked.slice(0, 24).map((params) => [usageOf(params).inputTokens.noCache, 50]),
    );
    assert.equal(JSON.stringify(asked.at(-1)?.prompt[0]), JSON.stringify({ role: "system", content: "Be brief." }));
  });
}

test("the model reads what its view does not show, in pieces, and gets its mistakes as errors", async () => {
  const session = await client.createSession({
    policy: { contextWindow: 4_000, strategy: { summarize: { recentTokens: 500 } } },
  });
  const asked: Params[] = [];
  const own = model(
    [
      'recall_content call_1 {"reference": "#1", "max_bytes": 100}',
      'recall_content call_2 {"reference": "#1", "line": 3}',
      "Done.",
    ],
    asked,
  );
  const { text } = await generateText({
    model: wrapLanguageModel({ model: own, middleware: compactordMiddleware(session) }),
    tools: { look, ...recallTools(session) },
    stopWhen: isStepCount(5),
    messages: [...long, { role: "user", content: "What was answer 0?" }],
  });
  assert.equal(text, "Done.");
  assert.deepEqual(
    asked[0]?.tools?.map(({ name }) => name),
    ["look", "recall_content", "search_messages"],
  );
  assert.doesNotMatch(JSON.stringify(asked[0].prompt), /Answer 0\. word/);
  const results = (asked.at(-1)?.prompt ?? []).flatMap((message) => (message.role === "tool" ? message.content : []));
  const [read, refused] = results.map((one) => (one.type === "tool-result" ? one.output : undefined));
  assert.ok(read?.type === "text" && refused?.type === "error-text");
  assert.match(read.value, /Answer 0\. word word/);
  assert.match(read.value, /first_byte/);
  assert.ok(read.value.length < 400);
  assert.match(refused.value, /line_count/);
});

test("what the provider ran is kept as it is, and what only the program reads is left out", () => {
  const call = { toolCallId: "search_1", toolName: "web_search" };
  const [made, ...more] = neutral([
    {
      role: "assistant",
      content: [
        { type: "tool-call", ...call, input: { query: "cats" }, providerExecuted: true },
        { type: "tool-result", ...call, output: { type: "json", value: ["A cat."] } },
        { type: "tool-approval-request", approvalId: "approval_1", toolCallId: "call_1" },
      ],
    },
    { role: "tool", content: [{ type: "tool-approval-response", approvalId: "approval_1", approved: true }] },
  ]);
  assert.deepEqual(more, []);
  const types = made?.parts.map(({ kind }) => (kind.case === "opaque" ? kind.value.type : kind.case));
  assert.deepEqual(types, ["tool-call", "tool-result"]);
});

test("a session that was not awaited, and a client, are refused", async () => {
  const opened = client.createSession({ policy: plain });
  for (const make of [compactordMiddleware, compactordStep, recallTools] as ((given: unknown) => unknown)[]) {
    assert.throws(() => make(opened), /session: is a Promise: await it/);
    assert.throws(() => make(client), /client\.openSession.*and is a Client/);
  }
  await opened;
});

test("a session with a dialect is refused", async () => {
  const session = await client.createSession({ dialect: "anthropic", policy: plain });
  assert.throws(() => compactordMiddleware(session), /without a dialect/);
  assert.throws(() => compactordStep(session), /without a dialect/);
});
