import assert from "node:assert/strict";
import { after, test } from "node:test";

import {
  Agent,
  MemorySession,
  run,
  setTracingDisabled,
  tool,
  type AgentInputItem,
  type AgentOutputType,
} from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
import { embedded, type Session } from "compactord";
import { compactordFilter, CompactordSession, recallTools } from "compactord/openai-agents";
import fc from "fast-check";
import { z } from "zod";

import { linesOf, recordings } from "./recordings.js";

setTracingDisabled(true);
// Nothing listens at this port: the model refuses each summary.
const nobody = { kind: "openai", base_url: "http://127.0.0.1:9/v1", model: "m", context_window: 100_000, tries: 1 };
const client = await embedded({ config: { summarizers: { nobody } } });
after(() => client.close());

const dialect = "openai_responses";
// Without edits of long results: the items that come back are those that were given.
const plain = { contextWindow: 10_000_000, onAppend: {} };
const image = "iVBORw0KGgo=";

const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }).filter((text) => text.trim() !== "");

type Content = Exclude<Extract<AgentInputItem, { role: "user" }>["content"], string>;
type Output = Extract<AgentInputItem, { type: "function_call_result" }>["output"];

const media = fc.constantFrom<Content[number]>(
  { type: "input_image", image: "https://example.com/cat.png", detail: "low" },
  { type: "input_image", image: `data:image/png;base64,${image}` },
  { type: "input_image", image: { id: "file-1" } },
  { type: "input_file", file: { id: "file-2" } },
  { type: "input_file", file: { url: "https://example.com/a.pdf" } },
  { type: "input_file", file: "https://example.com/b.pdf" },
  { type: "input_file", file: `data:application/pdf;base64,${image}`, filename: "c.pdf" },
  { type: "audio", audio: image, format: "wav" },
);
const outputs: fc.Arbitrary<Output> = fc.oneof(
  words,
  words.map((text): Output => ({ type: "text", text })),
  words.map((text): Output => [{ type: "input_text", text }]),
  fc.constantFrom<Output>(
    [{ type: "input_image", image: `data:image/png;base64,${image}`, detail: "auto" }],
    { type: "image", image: `data:image/png;base64,${image}` },
    { type: "image", image: { data: image, mediaType: "image/png" }, detail: "high" },
    { type: "image", image: { url: "https://example.com/cat.png" } },
    { type: "image", image: { fileId: "file-3" } },
    { type: "file", file: { data: image, mediaType: "application/pdf", filename: "d.pdf" } },
    { type: "file", file: { url: "https://example.com/e.pdf", filename: "e.pdf" } },
    { type: "file", file: { id: "file-4" } },
  ),
);

/** A message of the user, an answer with parallel calls, and their results, as the SDK's own sessions keep them. */
function turn(number: number): fc.Arbitrary<AgentInputItem[]> {
  return fc
    .record({
      asked: words,
      seen: fc.array(media, { maxLength: 2 }),
      text: words,
      thinks: fc.constantFrom("", "sealed", "camel"),
      thought: fc.array(words, { maxLength: 2 }),
      id: fc.constantFrom(`msg_${number}`, `chatcmpl-${number}`),
      searches: fc.boolean(),
      results: fc.array(fc.tuple(outputs, fc.constantFrom("completed" as const, "incomplete" as const)), {
        maxLength: 3,
      }),
      args: fc.dictionary(words, words, { maxKeys: 2 }),
    })
    .map((drawn) => {
      const call = (at: number): string => `call_${number}_${at}`;
      const content: Content = [{ type: "input_text", text: drawn.asked }, ...drawn.seen];
      const key = drawn.thinks === "camel" ? "encryptedContent" : "encrypted_content";
      const id = `rs_${number}`;
      const made: AgentInputItem[] = [
        { type: "message", role: "user", content: drawn.seen.length === 0 ? drawn.asked : content },
      ];
      if (drawn.thinks !== "") {
        const texts = drawn.thought.map((text) => ({
          type: "input_text" as const,
          text,
          providerData: { type: "summary_text" },
        }));
        made.push({ type: "reasoning", id, content: texts, providerData: { id, type: "reasoning", [key]: "sealed" } });
      }
      if (drawn.searches) {
        const found = { id: `ws_${number}`, type: "web_search_call", action: { type: "search", query: drawn.text } };
        made.push({
          type: "hosted_tool_call",
          id: found.id,
          name: found.type,
          status: "completed",
          providerData: found,
        });
      }
      made.push({
        type: "message",
        role: "assistant",
        id: drawn.id,
        status: "completed",
        content: [{ type: "output_text", text: drawn.text, providerData: { annotations: [], logprobs: [] } }],
        providerData: {},
      });
      drawn.results.forEach((_, at) => {
        const providerData = { id: `fc_${number}_${at}`, type: "function_call" };
        const given = JSON.stringify(drawn.args);
        made.push({
          type: "function_call",
          callId: call(at),
          name: "look",
          status: "completed",
          arguments: given,
          providerData,
        });
      });
      drawn.results.forEach(([output, status], at) => {
        made.push({ type: "function_call_result", callId: call(at), name: "look", status, output });
      });
      return made;
    });
}

const conversations = fc
  .integer({ min: 1, max: 4 })
  .chain((turns) => fc.tuple(...Array.from({ length: turns }, (_, number) => turn(number))));

type Responses = Session<typeof dialect>;

function opened(policy: object = plain): Promise<Responses> {
  return client.createSession({ dialect, policy });
}

async function reverts(session: Responses): Promise<number> {
  const found = [];
  for await (const record of session.records({ kinds: ["revert"] })) {
    found.push(record);
  }
  return found.length;
}

async function saidIn(session: Responses): Promise<string[]> {
  const said: string[] = [];
  for await (const { message } of session.messages()) {
    for (const { kind } of message?.parts ?? []) {
      if (kind.case === "text" && kind.value.text !== "") {
        said.push(kind.value.text);
      }
    }
  }
  return said;
}

test("a session gives back the items that it got, to another process too", async () => {
  await fc.assert(
    fc.asyncProperty(conversations, async (parts) => {
      const held = await opened();
      const before = JSON.stringify(parts);
      const session = new CompactordSession(held);
      for (const part of parts) {
        await session.addItems(part);
      }
      assert.equal(JSON.stringify(parts), before);
      const again = new CompactordSession(client.session(held.id, { dialect }));
      assert.deepEqual(await again.getItems(), parts.flat());
      // What a run gives back is what the session had.
      await again.addItems([{ type: "message", role: "user", content: "Go on." }]);
      assert.equal(await reverts(held), 0);
    }),
    { numRuns: 60 },
  );
});

test("a filter sends the items of another session as they are", async () => {
  await fc.assert(
    fc.asyncProperty(conversations, async (parts) => {
      const filter = compactordFilter(await opened());
      const input = parts.flat();
      const agent = new Agent<unknown, AgentOutputType>({ name: "One" });
      const made = await filter({ modelData: { input, instructions: "Be brief." }, agent, context: undefined });
      assert.deepEqual(made, { input, instructions: "Be brief." });
    }),
    { numRuns: 30 },
  );
});

interface Line {
  readonly role: string;
  readonly content?: string | null | readonly { type: string; text?: string; image_url?: { url: string } }[];
  readonly tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[];
  readonly tool_call_id?: string;
}

function contentOf(content: Line["content"]): string | Content {
  return typeof content === "string" || !content
    ? (content ?? "")
    : content.map((part) =>
        part.image_url === undefined
          ? { type: "input_text" as const, text: part.text ?? "" }
          : { type: "input_image" as const, image: part.image_url.url },
      );
}

function recorded({ role, content, tool_calls: calls = [], tool_call_id: callId = "" }: Line): AgentInputItem[] {
  const message = { type: "message" as const };
  switch (role) {
    case "user":
      return content ? [{ ...message, role, content: contentOf(content) }] : [];
    case "assistant": {
      const text = { type: "output_text" as const, text: typeof content === "string" ? content : "" };
      return [
        ...(text.text === "" ? [] : [{ ...message, role, status: "completed" as const, content: [text] }]),
        ...calls.map(({ id, function: { name, arguments: given } }) => ({
          type: "function_call" as const,
          callId: id,
          name,
          arguments: given,
        })),
      ];
    }
    case "tool": {
      const read = contentOf(content);
      const output = typeof read === "string" ? { type: "text" as const, text: read } : (read as Output);
      return [{ type: "function_call_result", callId, name: "recorded", status: "completed", output }];
    }
    default:
      return [];
  }
}

/** Whether each call has its output before anything else is said: else the view has one that says it has none. */
function answered(items: readonly AgentInputItem[]): boolean {
  const waiting = new Set<string>();
  for (const item of items) {
    if (item.type === "function_call") {
      waiting.add(item.callId);
    } else if (item.type === "function_call_result") {
      waiting.delete(item.callId);
    } else if (waiting.size > 0) {
      return false;
    }
  }
  return true;
}

for (const name of recordings()) {
  test(`as items of the Agents SDK, those of ${name} come back as they are`, async () => {
    const items = linesOf(name).flatMap((line) => recorded(JSON.parse(line) as Line));
    const held = await opened();
    await new CompactordSession(held).addItems(items);
    const again = new CompactordSession(client.session(held.id, { dialect }));
    const found = await again.getItems();
    if (answered(items)) {
      assert.deepEqual(found, items);
    }
    const filter = compactordFilter(held);
    const agent = new Agent<unknown, AgentOutputType>({ name: "One" });
    await filter({ modelData: { input: items }, agent, context: undefined });
    assert.equal(await reverts(held), 0);
  });
}

test("an agent that is a tool is none of the conversation", async () => {
  const inner = new Agent({
    name: "Inner",
    model: new ScriptedModel([[assistantMessage("I am the inner one.")], [assistantMessage("I am again.")]]),
  });
  const calls = ["call_1", "call_2"].map((callId) => functionCall("inner", { input: "Look." }, { callId }));
  const model = new ScriptedModel([calls, [assistantMessage("Done.")], [assistantMessage("Done again.")]]);
  const asTool = inner.asTool({ toolName: "inner", toolDescription: "Asks the inner one." });
  const outer = new Agent({ name: "Outer", model, tools: [asTool] });
  const held = await opened();
  const options = { session: new MemorySession(), callModelInputFilter: compactordFilter(held) };
  await run(outer, "Ask.", options);
  const streamed = await run(outer, "Again.", { ...options, stream: true });
  await streamed.completed;
  assert.equal(streamed.finalOutput, "Done again.");
  assert.deepEqual(await saidIn(held), ["Ask.", "Done.", "Again."]);
  assert.equal(await reverts(held), 0);
});

test("a run survives a compaction that fails", async () => {
  const held = await opened({
    contextWindow: 3_000,
    strategy: { summarize: { recentTokens: 200 } },
    summary: { summarizer: "nobody", fallback: "SUMMARY_FALLBACK_FAIL" },
  });
  const long = "word ".repeat(2_000);
  const model = new ScriptedModel([long, long, "Done."].map((text) => [assistantMessage(text)]));
  const session = new CompactordSession(held);
  const agent = new Agent({ name: "One", model });
  const warned: string[] = [];
  const note = ({ message }: Error): void => void warned.push(message);
  process.on("warning", note);
  after(() => process.off("warning", note));
  let last: string | undefined;
  for (const line of ["One.", "Two.", "Three."]) {
    last = (await run(agent, line, { session, callModelInputFilter: session.modelInput })).finalOutput;
  }
  assert.equal(last, "Done.");
  await new Promise((resolve) => setImmediate(resolve));
  assert.match(warned.join("\n"), /could not be compacted/);
});

test("what is popped and cleared stays in the log", async () => {
  const held = await opened();
  const session = new CompactordSession(held);
  const one: AgentInputItem = { type: "message", role: "user", content: "One." };
  const two: AgentInputItem = {
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "Two." }],
  };
  assert.equal(await session.popItem(), undefined);
  await session.addItems([one, two]);
  assert.deepEqual(await session.getItems(1), [two]);
  assert.deepEqual(await session.getItems(0), []);
  assert.deepEqual(await session.popItem(), two);
  assert.deepEqual(await session.getItems(), [one]);
  await session.addItems([two]);
  assert.deepEqual(await session.getItems(), [one, two]);
  assert.deepEqual([await session.popItem(), await session.popItem()], [two, one]);
  assert.deepEqual(await session.getItems(), []);
  await session.addItems([one, two]);
  await session.clearSession();
  assert.deepEqual(await session.getItems(), []);
  assert.equal((await saidIn(held)).filter((text) => text === "Two.").length, 3);
});

test("what a run has brought is popped, and added again after it was cleared", async () => {
  const held = await opened();
  const session = new CompactordSession(held);
  const model = new ScriptedModel([[assistantMessage("Two.")]]);
  const agent = new Agent({ name: "One", model });
  const options = { session, callModelInputFilter: session.modelInput };
  const kept = () => new CompactordSession(client.session(held.id, { dialect })).getItems();
  const question: AgentInputItem = { type: "message", role: "user", content: "One." };

  await run(agent, "One.", options);
  await session.popItem();
  assert.deepEqual([await kept(), await session.getItems()], [[question], [question]]);
  // The model has nothing left to say.
  await assert.rejects(run(agent, "Again.", options));
  for (let items = await session.getItems(); items.length > 1; items = await session.getItems()) {
    await session.popItem();
    assert.equal((await session.getItems()).length, items.length - 1);
  }
  assert.deepEqual(await kept(), [question]);

  await session.clearSession();
  model.enqueue([assistantMessage("Two.")]);
  await run(agent, "One.", options);
  await session.clearSession();
  await session.addItems([question]);
  assert.deepEqual([await kept(), await session.getItems()], [[question], [question]]);
});

test("calls that wait are read by another process, with all that belongs to them", async () => {
  const items: AgentInputItem[] = [
    { type: "message", role: "user", content: "Look." },
    { type: "reasoning", id: "rs_1", content: [], providerData: { encrypted_content: "sealed" } },
    ...["call_1", "call_2"].map((callId) => ({
      type: "function_call" as const,
      callId,
      name: "look",
      arguments: "{}",
      providerData: { id: `fc_${callId}` },
    })),
    { type: "function_call_result", callId: "call_2", name: "look", status: "completed", output: "A cat." },
  ];
  const held = await opened();
  await new CompactordSession(held).addItems(items);
  const session = new CompactordSession(client.session(held.id, { dialect }));
  // A view has the reasoning of calls; the order of the two calls is kept.
  assert.deepEqual(await session.getItems(), items);
  await session.addItems([
    { type: "function_call_result", callId: "call_1", name: "look", status: "completed", output: "A dog." },
  ]);
  assert.deepEqual((await held.info()).report?.openCalls, []);
  assert.equal(await reverts(held), 0);
});

test("what tools return as bytes is in the log as their text", async () => {
  const bytes = Buffer.from(image, "base64");
  const look = tool({
    name: "look",
    description: "Looks.",
    parameters: z.object({}),
    execute: () => ({ type: "image" as const, image: { data: new Uint8Array(bytes), mediaType: "image/png" } }),
  });
  const model = new ScriptedModel([
    [functionCall("look", {}, { callId: "call_1" })],
    [assistantMessage("A cat.")],
    [assistantMessage("Still a cat.")],
  ]);
  const held = await opened();
  const session = new CompactordSession(held);
  const agent = new Agent({ name: "One", model, tools: [look] });
  for (const line of ["Look.", "And now?"]) {
    await run(agent, line, { session, callModelInputFilter: session.modelInput });
  }
  const result = model.lastCall?.request.input.at(2) as AgentInputItem | undefined;
  assert.ok(result?.type === "function_call_result");
  assert.match(JSON.stringify(result.output), /data:image\/png;base64,iVBORw0KGgo=/);
  assert.equal(await reverts(held), 0);
});

test("ids of calls and of their results are left out, as the sessions of the SDK leave them out", async () => {
  const held = await opened();
  const filter = compactordFilter(held);
  const agent = new Agent<unknown, AgentOutputType>({ name: "One" });
  const call = { type: "function_call" as const, callId: "call_1", name: "look", arguments: "{}" };
  const result = { type: "function_call_result" as const, callId: "call_1", name: "look", output: "A cat." };
  const asked: AgentInputItem = { type: "message", role: "user", content: "Look." };
  const inRun: AgentInputItem[] = [
    asked,
    { ...call, id: "fc_1", status: "completed" },
    { ...result, id: "fco_1", status: "completed" },
  ];
  const { input } = await filter({ modelData: { input: inRun }, agent, context: undefined });
  // Within a run an item is the program's own, by which the SDK knows it.
  assert.deepEqual(input, inRun);
  const kept: AgentInputItem[] = [asked, { ...call, status: "completed" }, { ...result, status: "completed" }];
  assert.deepEqual(await new CompactordSession(client.session(held.id, { dialect })).getItems(), kept);
  // The next run begins with what a session of the SDK has kept.
  const next: AgentInputItem[] = [...kept, { type: "message", role: "user", content: "And now?" }];
  assert.deepEqual((await filter({ modelData: { input: next }, agent, context: undefined })).input, next);
  assert.equal(await reverts(held), 0);
});

for (const way of ["session", "context"] as const) {
  test(`the model reads what its view does not show, of the conversation that the ${way} names`, async () => {
    const policy = { contextWindow: 4_000, strategy: { summarize: { recentTokens: 500 } } };
    const [one, two] = [await opened(policy), await opened(policy)];
    const model = new ScriptedModel([]);
    const agent = (...sessions: Parameters<typeof recallTools<Support>>) =>
      new Agent<Support>({ name: "One", model, tools: recallTools(...sessions) });
    const shared = agent(({ context }) => context.held);
    for (const held of [one, two]) {
      const items = Array.from({ length: 8 }, (_, number): AgentInputItem => ({
        type: "message",
        role: "user",
        content: `Line ${number} of ${held.id}. ${"word ".repeat(500)}`,
      }));
      const session = new CompactordSession(held);
      await session.addItems(items);
      model.enqueue([functionCall("recall_content", { reference: "#1", max_bytes: 100 }, { callId: "call_1" })]);
      model.enqueue([functionCall("recall_content", { line: 3 }, { callId: "call_2" })]);
      model.enqueue([assistantMessage("Done.")]);
      const own = way === "session" ? agent(held) : shared;
      const options = { session, callModelInputFilter: session.modelInput, context: { held } };
      assert.equal((await run(own, "What was line 1?", options)).finalOutput, "Done.");
      const input = model.lastCall?.request.input as AgentInputItem[];
      assert.ok(!input.some((item) => item.type === "message" && JSON.stringify(item).includes("Line 1 of")));
      const [read = "", refused = ""] = input.flatMap((item) =>
        item.type === "function_call_result" ? [JSON.stringify(item.output)] : [],
      );
      assert.ok(read.includes(`Line 1 of ${held.id}. word word`), read);
      assert.match(read, /first_byte/);
      assert.ok(read.length < 500);
      assert.match(refused, /line_count/);
    }
  });
}

interface Support {
  readonly held: Responses;
}

test("a session without its filter, a window that lacks and a history that was forgotten are warned of once", async () => {
  const warned: string[] = [];
  const note = ({ message }: Error): void => void warned.push(message);
  process.on("warning", note);
  after(() => process.off("warning", note));
  const times = async (text: string): Promise<number> => {
    await new Promise((resolve) => setImmediate(resolve));
    return warned.filter((one) => one.includes(text)).length;
  };
  const say = (count: number): Agent =>
    new Agent({
      name: "One",
      model: new ScriptedModel(Array.from({ length: count }, () => [assistantMessage("Done.")])),
    });

  const session = new CompactordSession(await opened({}));
  await run(say(1), "One.", { session, callModelInputFilter: session.modelInput });
  assert.equal(await times("has no context window"), 1);
  await session.getItems();
  await session.addItems([assistantMessage("Two.")]);
  assert.equal(await times("a run has not had the filter"), 0);
  await run(say(1), "Three.", { session });
  assert.equal(await times("a run has not had the filter"), 1);
  const unfiltered = new CompactordSession(await opened());
  await unfiltered.getItems();
  await unfiltered.addItems([
    { role: "assistant", status: "completed", content: [{ type: "output_text", text: "Hello." }] },
  ]);
  assert.equal(await times("a run has not had the filter"), 1);
  await run(say(1), "Two.", { session: unfiltered });
  await run(say(1), "Three.", { session: unfiltered });
  assert.equal(await times("a run has not had the filter"), 2);

  const callModelInputFilter = compactordFilter(await opened());
  const asked = (role: "user" | "system", content: string): AgentInputItem => ({ type: "message", role, content });
  const agent = say(7);
  for (const line of ["One.", "Two."]) {
    await run(agent, line, { callModelInputFilter });
  }
  // One message alone may be a question that nobody answered.
  assert.equal(await times("is the history of the conversation given"), 0);
  const instructed = asked("system", "Be brief.");
  for (const line of ["Three.", "Four.", "Five."]) {
    await run(agent, [instructed, asked("user", `Look at ${line}`), asked("user", line)], { callModelInputFilter });
  }
  assert.equal(await times("is the history of the conversation given"), 1);
  const kept = { session: new MemorySession(), callModelInputFilter: compactordFilter(await opened()) };
  for (const line of ["One.", "Two."]) {
    await run(agent, line, kept);
  }
  assert.equal(await times("is the history of the conversation given"), 1);
});

test("a session that was not awaited is refused", async () => {
  const waits = opened();
  for (const make of [compactordFilter, recallTools] as ((given: unknown) => unknown)[]) {
    assert.throws(() => make(waits), /session: is a Promise: await it/);
  }
  assert.throws(() => new CompactordSession(waits as unknown as Responses), /session: is a Promise: await it/);
  await waits;
});

test("a session in another dialect is refused", async () => {
  const other = await client.createSession({ dialect: "openai_chat" });
  assert.throws(() => compactordFilter(other as unknown as Responses), /openai_responses/);
});
