import assert from "node:assert/strict";
import { after, test } from "node:test";

import { create, equals } from "@bufbuild/protobuf";
import type { RunnableConfig } from "@langchain/core/runnables";
import { MemorySaver } from "@langchain/langgraph";
import { embedded, type Session } from "compactord";
import { compactordMiddleware, neutral, shown } from "compactord/langchain";
import { MessageSchema, ViewMessageSchema, type Message } from "compactord/v1";
import fc from "fast-check";
import {
  AIMessage,
  createAgent,
  fakeModel,
  HumanMessage,
  SystemMessage,
  tool,
  ToolMessage,
  type BaseMessage,
} from "langchain";
import { z } from "zod";

import { linesOf, recordings } from "./recordings.js";

// Nothing listens at this port: the model refuses each summary.
const nobody = { kind: "openai", base_url: "http://127.0.0.1:9/v1", model: "m", context_window: 100_000, tries: 1 };
const client = await embedded({ config: { summarizers: { nobody } } });
after(() => client.close());

type Content = Exclude<BaseMessage["content"], string>;

// Without edits of long results: the messages that come back are those that were given.
const plain = { contextWindow: 10_000_000, onAppend: {} };
const image = "iVBORw0KGgo=";

const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }).filter((text) => text.trim() !== "");
const media = fc.constantFrom<Content[number]>(
  { type: "image", url: "https://example.com/cat.png" },
  { type: "image", data: image, mimeType: "image/png" },
  { type: "image_url", image_url: { url: `data:image/png;base64,${image}` } },
  { type: "file", fileId: "file-1" },
  { type: "audio", data: image, mimeType: "audio/wav" },
);

/** A message of the user, an answer with parallel calls, and their results. */
function turn(number: number): fc.Arbitrary<BaseMessage[]> {
  return fc
    .record({
      asked: words,
      seen: fc.array(media, { maxLength: 2 }),
      text: words,
      thinks: fc.boolean(),
      name: fc.constantFrom(undefined, "Ada"),
      results: fc.array(fc.tuple(words, fc.boolean(), fc.constantFrom("success" as const, "error" as const)), {
        maxLength: 3,
      }),
      args: fc.dictionary(words, words, { maxKeys: 2 }),
    })
    .map((drawn) => {
      const id = (at: number): string => `call_${number}_${at}`;
      const thought = { type: "thinking", thinking: "I think.", signature: "sealed" };
      const answer = new AIMessage({
        id: `ai-${number}`,
        content: [...(drawn.thinks ? [thought] : []), { type: "text", text: drawn.text }],
        tool_calls: drawn.results.map((_, at) => ({
          type: "tool_call",
          id: id(at),
          name: "look",
          args: { ...drawn.args },
        })),
        response_metadata: { model_provider: "anthropic", model_name: "m" },
      });
      Object.assign(answer, { usage_metadata: { input_tokens: 9, output_tokens: 5, total_tokens: 14 } });
      return [
        new HumanMessage({
          id: `human-${number}`,
          content: drawn.seen.length === 0 ? drawn.asked : [{ type: "text", text: drawn.asked }, ...drawn.seen],
          ...(drawn.name !== undefined && { name: drawn.name }),
        }),
        answer,
        ...drawn.results.map(
          ([text, pictured, status], at) =>
            new ToolMessage({
              id: `tool-${id(at)}`,
              tool_call_id: id(at),
              name: "look",
              status,
              artifact: { rows: [number] },
              content: pictured
                ? [
                    { type: "text", text },
                    { type: "image", data: image, mimeType: "image/png" },
                  ]
                : text,
            }),
        ),
      ];
    });
}

const conversations = fc
  .integer({ min: 1, max: 4 })
  .chain((turns) => fc.tuple(...Array.from({ length: turns }, (_, number) => turn(number))))
  .map((turns): BaseMessage[] => turns.flat());

async function viewed(session: Session, messages: readonly BaseMessage[]): Promise<BaseMessage[]> {
  const { view } = await session.sync(
    messages.map((message) => neutral(message)),
    { compact: false },
  );
  assert.ok(view);
  return shown(view.neutral, messages);
}

function assertSame(found: readonly BaseMessage[], wanted: readonly BaseMessage[]): void {
  assert.deepEqual(
    found.map(({ id }) => id),
    wanted.map(({ id }) => id),
  );
  found.forEach((one, at) => {
    assert.equal(one, wanted[at]);
  });
}

test("messages of LangChain come back as they are", async () => {
  await fc.assert(
    fc.asyncProperty(conversations, async (messages) => {
      const before = messages.map((one) => JSON.stringify(one));
      assertSame(await viewed(await client.createSession({ policy: plain }), messages), messages);
      assert.deepEqual(
        messages.map((one) => JSON.stringify(one)),
        before,
      );
    }),
    { numRuns: 60 },
  );
});

test("a message of LangChain that was made anew says the same", () => {
  fc.assert(
    fc.property(conversations, (messages) => {
      const says = ({ role, name, parts }: Message): Message => create(MessageSchema, { role, name, parts });
      const said = messages.map((one) => neutral(one));
      const view = said.map((message, index) =>
        create(ViewMessageSchema, { message, origin: { case: "index", value: index } }),
      );
      const again = shown(view, []).map((one) => neutral(one));
      assert.equal(again.length, said.length);
      said.forEach((one, at) => {
        const other = again[at];
        assert.ok(other !== undefined && equals(MessageSchema, says(one), says(other)), `message ${at}`);
      });
    }),
    { numRuns: 200 },
  );
});

interface Line {
  readonly role: string;
  readonly content?: string | null;
  readonly tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[];
  readonly tool_call_id?: string;
}

function recorded({ role, content, tool_calls: calls = [], tool_call_id = "" }: Line, id: string): BaseMessage[] {
  const text = typeof content === "string" ? content : "";
  switch (role) {
    case "user":
      return [new HumanMessage({ id, content: text })];
    case "assistant": {
      const made = calls.map(({ id: callId, function: { name, arguments: text } }) => ({ id: callId, name, text }));
      return [
        new AIMessage({
          id,
          content: text,
          tool_calls: made.flatMap((call) => {
            const args = objectIn(call.text);
            return args === undefined ? [] : [{ type: "tool_call" as const, id: call.id, name: call.name, args }];
          }),
          invalid_tool_calls: made
            .filter((call) => objectIn(call.text) === undefined)
            .map((call) => ({ type: "invalid_tool_call" as const, id: call.id, name: call.name, args: call.text })),
        }),
      ];
    }
    case "tool":
      return [new ToolMessage({ id, content: text, tool_call_id })];
    default:
      return [];
  }
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "object" && read !== null ? (read as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

for (const name of recordings()) {
  test(`as messages of LangChain, those of ${name} come back as they are`, async () => {
    const messages = linesOf(name).flatMap((line, at) => recorded(JSON.parse(line) as Line, `message-${at}`));
    const session = await client.createSession({ policy: plain });
    const own = new Set(messages);
    // Where a call has no result, the view has one that says so; an empty message may not be shown.
    const spoken = (one: BaseMessage): boolean => own.has(one) && (one.type !== "human" || one.content !== "");
    assertSame((await viewed(session, messages)).filter(spoken), messages.filter(spoken));
    const { appended, putAside } = await session.sync(
      messages.map((message) => neutral(message)),
      { compact: false, view: false },
    );
    assert.deepEqual([appended, putAside], [0, 0]);
  });
}

test("what a view shows shorter is a copy with all else that the program's message has", async () => {
  const session = await client.createSession({
    policy: { contextWindow: 1_000_000, pruneStrategy: { hideToolResults: { keepGroups: 1 } } },
  });
  const messages = Array.from({ length: 8 }, (_, number): BaseMessage[] => [
    new HumanMessage({ id: `human-${number}`, content: "Again." }),
    new AIMessage({
      id: `ai-${number}`,
      content: "",
      tool_calls: [{ type: "tool_call", id: `call_${number}`, name: "look", args: {} }],
    }),
    new ToolMessage({
      id: `tool-${number}`,
      tool_call_id: `call_${number}`,
      name: "look",
      artifact: { rows: [number] },
      content: `Result ${number}. ${"word ".repeat(2_000)}`,
    }),
  ]).flat();
  await session.sync(messages.map((message) => neutral(message)));
  assert.ok((await session.prune()).prune !== undefined);
  const pruned = shown((await session.view()).neutral, messages);
  assert.equal(pruned.length, messages.length);
  const first = pruned[2];
  assert.ok(ToolMessage.isInstance(first) && first.text.length < 500);
  assert.deepEqual([first.id, first.tool_call_id, first.artifact], ["tool-0", "call_0", { rows: [0] }]);
  assert.equal(pruned.at(-1), messages.at(-1));
});

test("after an overflow the model is called once more, with its instructions", async () => {
  const text = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.";
  const model = fakeModel()
    .respond(Object.assign(new Error(text), { status: 400 }))
    .respond(new AIMessage("Done."));
  const middleware = compactordMiddleware(client, {
    policy: { contextWindow: 16_000, strategy: { summarize: { recentTokens: 500 } } },
  });
  const agent = createAgent({
    model,
    tools: [],
    systemPrompt: "Be brief.",
    middleware: [middleware],
    checkpointer: new MemorySaver(),
  });
  const messages = Array.from({ length: 6 }, (_, number) => [
    new HumanMessage(`Question ${number}. ${"word ".repeat(500)}`),
    new AIMessage(`Answer ${number}. ${"word ".repeat(500)}`),
  ]).flat();
  const config = { configurable: { thread_id: "a thread with spaces" } };
  const made = await agent.invoke({ messages: [...messages, new HumanMessage("And now?")] }, config);
  assert.equal(made.messages.at(-1)?.text, "Done.");
  assert.equal(made.messages.length, 14);
  const [before = [], afterwards = []] = model.calls.map((call) => call.messages);
  assert.equal(model.callCount, 2);
  assert.equal(before.length, 14);
  assert.ok(afterwards.length < before.length);
  assert.ok(SystemMessage.isInstance(afterwards[0]) && afterwards[0].text === "Be brief.");
  assert.equal(afterwards.at(-1)?.text.endsWith("And now?"), true);
  const session = await middleware.session("a thread with spaces");
  assert.equal(session.id.length, 64);
  // The instructions, all messages, and the last answer.
  assert.equal((await session.info()).session?.nextIndex, 15);
});

test("a thread is needed", async () => {
  const middleware = compactordMiddleware(client, { policy: plain });
  const agent = createAgent({
    model: fakeModel().respond(new AIMessage("Done.")),
    tools: [],
    middleware: [middleware],
  });
  await assert.rejects(agent.invoke({ messages: [new HumanMessage("One.")] }), /thread_id/);
});

test("what is forgotten is said where the middleware is made", () => {
  const make = compactordMiddleware as (...given: unknown[]) => unknown;
  assert.throws(() => make(client), /give a policy, such as \{ policy: \{ contextWindow/);
  assert.throws(() => make(client, {}), /give a policy/);
  assert.throws(() => make({ policy: plain }), /client: must be a Client/);
  assert.throws(() => make(client, { policy: { contextWindows: 8_000 } }), /contextWindows/);
});

test("a history that is forgotten, and a policy without a window, are warned of once", async () => {
  const warned = warnings();
  const model = fakeModel();
  for (let number = 0; number < 6; number++) {
    model.respond(new AIMessage(`Answer ${number}.`));
  }
  const agent = createAgent({
    model,
    tools: [],
    systemPrompt: "Be brief.",
    middleware: [compactordMiddleware(client, { policy: {} })],
  });
  // Without a checkpointer each call has its own message alone.
  for (let number = 0; number < 3; number++) {
    const asked = { messages: [new HumanMessage(`Question ${number}.`)] };
    await agent.invoke(asked, { configurable: { thread_id: "forgotten" } });
  }
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(warned.filter((text) => text.includes("is the history of the conversation given")).length, 1);
  assert.equal(warned.filter((text) => text.includes("has no context window")).length, 1);
});

test("an edited or shortened history is none that was forgotten", async () => {
  const warned = warnings();
  const agent = createAgent({
    model: fakeModel().respond(new AIMessage("One.")).respond(new AIMessage("Two.")),
    tools: [],
    systemPrompt: "Be brief.",
    middleware: [compactordMiddleware(client, { policy: plain })],
  });
  const config = { configurable: { thread_id: "edited" } };
  const first = new HumanMessage({ id: "first", content: "Question." });
  await agent.invoke({ messages: [first] }, config);
  await agent.invoke({ messages: [first, new HumanMessage("Another question.")] }, config);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(warned, []);
});

function warnings(): string[] {
  const warned: string[] = [];
  const note = ({ message }: Error): void => void warned.push(message);
  process.on("warning", note);
  after(() => process.off("warning", note));
  return warned;
}

test("a thread that exists gets the policy of the program", async () => {
  await compactordMiddleware(client, { policy: { contextWindow: 8_000 } }).session("another-policy");
  const session = await compactordMiddleware(client, { policy: { contextWindow: 16_000 } }).session("another-policy");
  assert.equal((await session.info()).session?.policy?.contextWindow, 16_000);
});

test("a middleware keeps the sessions of a thousand threads, and opens the others again", async () => {
  const middleware = compactordMiddleware(client, { policy: plain });
  const first = await middleware.session("thread-0");
  assert.equal(await middleware.session("thread-0"), first);
  const second = await middleware.session("thread-1");
  for (let number = 2; number < 1_000; number++) {
    await middleware.session(`thread-${number}`);
  }
  assert.equal(await middleware.session("thread-0"), first);
  await middleware.session("thread-1000");
  const again = await middleware.session("thread-1");
  assert.notEqual(again, second);
  await middleware.session("thread-1001");
  assert.equal(await middleware.session("thread-0"), first);
  assert.equal(await middleware.session("thread-1"), again);
});

test("an agent in a tool has a session of its own for each call", async () => {
  const middleware = compactordMiddleware(client, { policy: plain });
  const inner = createAgent({
    model: fakeModel().respond(new AIMessage("One inside.")).respond(new AIMessage("Two inside.")),
    tools: [],
    middleware: [middleware],
  });
  const ask = tool(
    async ({ text }: { text: string }, config: RunnableConfig) => {
      const made = await inner.invoke({ messages: [new HumanMessage(text)] }, config);
      return made.messages.at(-1)?.text ?? "";
    },
    { name: "ask", description: "Asks the other one.", schema: z.object({ text: z.string() }) },
  );
  const call = (id: string): AIMessage =>
    new AIMessage({ content: "", tool_calls: [{ type: "tool_call", id, name: "ask", args: { text: `Ask ${id}.` } }] });
  const outer = createAgent({
    model: fakeModel().respond(call("call_1")).respond(call("call_2")).respond(new AIMessage("Done.")),
    tools: [ask],
    middleware: [middleware],
    checkpointer: new MemorySaver(),
  });
  await outer.invoke({ messages: [new HumanMessage("Begin.")] }, { configurable: { thread_id: "nested" } });
  assert.deepEqual(await saidIn(await middleware.session("nested")), [
    "Begin.",
    "",
    "One inside.",
    "",
    "Two inside.",
    "Done.",
  ]);
  const others: string[][] = [];
  for await (const one of client.listSessions()) {
    if (one.sessionId.startsWith("nested|")) {
      others.push(await saidIn(client.session(one.sessionId)));
    }
  }
  assert.deepEqual(others.sort(), [
    ["Ask call_1.", "One inside."],
    ["Ask call_2.", "Two inside."],
  ]);
});

test("the model reads what its view does not show, of the thread in which it calls", async () => {
  const policy = { contextWindow: 4_000, strategy: { summarize: { recentTokens: 500 } } };
  const call = (args: Record<string, unknown>, id: string): AIMessage =>
    new AIMessage({ content: "", tool_calls: [{ type: "tool_call", id, name: "recall_content", args }] });
  const model = fakeModel();
  for (let thread = 0; thread < 2; thread++) {
    model
      .respond(call({ reference: "#1", max_bytes: 100 }, "call_1"))
      .respond(call({ reference: "#1", line: 3 }, "call_2"))
      .respond(new AIMessage("Done."));
  }
  const agent = createAgent({
    model,
    tools: [],
    middleware: [compactordMiddleware(client, { policy })],
    checkpointer: new MemorySaver(),
  });
  for (const thread of ["recall-1", "recall-2"]) {
    const messages = Array.from({ length: 8 }, (_, number) => [
      new HumanMessage(`Question ${number} of ${thread}. ${"word ".repeat(300)}`),
      new AIMessage(`Answer ${number} of ${thread}. ${"word ".repeat(300)}`),
    ]).flat();
    const asked = [...messages, new HumanMessage("What was answer 0?")];
    const made = await agent.invoke({ messages: asked }, { configurable: { thread_id: thread } });
    assert.equal(made.messages.at(-1)?.text, "Done.");
    const last = model.calls.at(-1)?.messages ?? [];
    const [read, refused] = last.filter((one) => ToolMessage.isInstance(one));
    assert.ok(!last.some((one) => AIMessage.isInstance(one) && one.text.startsWith("Answer 0")));
    assert.match(read?.text ?? "", new RegExp(`Answer 0 of ${thread}\\. word word`));
    assert.match(read?.text ?? "", /first_byte/);
    assert.ok((read?.text ?? "").length < 400);
    assert.deepEqual([read?.status, refused?.status], ["success", "error"]);
    assert.match(refused?.text ?? "", /line_count/);
  }
});

test("recall: false gives agents no tools", () => {
  assert.deepEqual(compactordMiddleware(client, { policy: plain, recall: false }).tools, []);
});

async function saidIn(session: Session): Promise<string[]> {
  const said: string[] = [];
  for await (const { message } of session.messages()) {
    const [part] = message?.parts ?? [];
    const result = part?.kind.case === "toolResult" ? part.kind.value.parts[0] : part;
    said.push(result?.kind.case === "text" ? result.kind.value.text : "");
  }
  return said;
}

test("a run survives a compaction that fails", async () => {
  const policy = {
    contextWindow: 3_000,
    strategy: { summarize: { recentTokens: 200 } },
    summary: { summarizer: "nobody", fallback: "fail" as const },
  };
  const middleware = compactordMiddleware(client, { policy });
  const long = new AIMessage("word ".repeat(2_000));
  const model = fakeModel().respond(long).respond(long).respond(new AIMessage("Done."));
  const agent = createAgent({ model, tools: [], middleware: [middleware], checkpointer: new MemorySaver() });
  const warned: string[] = [];
  const note = ({ message }: Error): void => void warned.push(message);
  process.on("warning", note);
  after(() => process.off("warning", note));
  const config = { configurable: { thread_id: "failing" } };
  let last: string | undefined;
  for (const line of ["One.", "Two.", "Three."]) {
    last = (await agent.invoke({ messages: [new HumanMessage(line)] }, config)).messages.at(-1)?.text;
  }
  assert.equal(last, "Done.");
  await new Promise((resolve) => setImmediate(resolve));
  assert.match(warned.join("\n"), /could not be compacted/);
});
