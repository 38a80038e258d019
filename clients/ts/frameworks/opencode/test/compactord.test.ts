import assert from "node:assert/strict";
import { after, test } from "node:test";

import type { Plugin } from "@opencode-ai/plugin";
import type { Message, Part } from "@opencode-ai/sdk";
import { embedded } from "compactord";
import type { Part as NeutralPart } from "compactord/v1";
import fc from "fast-check";

import { CompactordPlugin } from "../compactord.ts";

const client = await embedded();
after(() => client.close());
process.env["COMPACTORD_ADDR"] = client.address;

const id = "ses_1";
const model = { providerID: "make", modelID: "make-believe" };
const cost = { cost: 0, tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } } };

function said(number: number, role: "user" | "assistant", ...parts: object[]): { info: Message; parts: Part[] } {
  const base = { id: `msg_${number}`, sessionID: id, time: { created: number } };
  const path = { cwd: "/", root: "/" };
  const info: Message =
    role === "user"
      ? { ...base, role, agent: "build", model }
      : { ...base, role, ...model, ...cost, parentID: "", mode: "build", path };
  return {
    info,
    parts: parts.map((part, at) => ({ id: `prt_${at}`, sessionID: id, messageID: base.id, ...part }) as Part),
  };
}

const limit = { context: 20_000, output: 2_000 };
const providers = [{ id: model.providerID, models: { [model.modelID]: { limit } } }];
const config = { providers: () => Promise.resolve({ data: { providers } }) };

const turns = [0, 1, 2].flatMap((turn) => {
  const state = { status: "completed", input: { path: "a.txt" }, output: `Crate ${turn}. ${"word ".repeat(3_000)}` };
  return [
    said(turn * 3, "user", { type: "text", text: `Which crate is in part ${turn}? Never open the box.` }),
    said(turn * 3 + 1, "assistant", { type: "tool", callID: `call_${turn}`, tool: "read", state }),
    said(turn * 3 + 2, "assistant", { type: "text", text: `Part ${turn} has crate ${turn}.` }),
  ];
});

test("the prompt of a summary has a digest, and the log all that was said", async () => {
  const logged: unknown[] = [];
  let messages = turns;
  const opencode = {
    session: { messages: () => Promise.resolve({ data: messages }) },
    config,
    app: { log: (entry: unknown) => Promise.resolve(logged.push(entry)) },
  };
  const hooks = await CompactordPlugin({ client: opencode } as unknown as Parameters<Plugin>[0]);
  const output = { context: [] as string[] };
  await hooks["experimental.session.compacting"]?.({ sessionID: id }, output);
  assert.deepEqual(logged, []);
  assert.equal(output.context.length, 1);
  assert.match(output.context[0] ?? "", /Never open the box.*\[#0/s);

  // What the compaction wrote is none of the conversation.
  const summary = said(10, "assistant", { type: "text", text: "A summary." });
  messages = [
    ...turns,
    said(9, "user", { type: "compaction", auto: false }),
    { ...summary, info: { ...summary.info, summary: true } as Message },
    said(11, "user", { type: "text", text: "Go on." }),
  ];
  await hooks.event?.({ event: { type: "session.idle", properties: { sessionID: id } } });
  const texts: string[] = [];
  for await (const { message } of client.session(`opencode-${id}`).messages()) {
    texts.push(...(message?.parts ?? []).map(({ kind }) => (kind.case === "text" ? kind.value.text : "")));
  }
  assert.deepEqual(
    texts.filter((text) => text !== "" && !text.startsWith("Which")),
    ["Part 0 has crate 0.", "Part 1 has crate 1.", "Part 2 has crate 2.", "Go on."],
  );
  assert.equal(texts.length, 13);
  for await (const record of client.session(`opencode-${id}`).records({ kinds: ["revert"] })) {
    assert.fail(`put aside by ${record.sequence}`);
  }
});

test("a session gets the context window of the model, and a digest leaves room for the prompt", async () => {
  const warned: string[] = [];
  const note = ({ message }: Error): void => void warned.push(message);
  process.on("warning", note);
  after(() => process.off("warning", note));
  const sessionID = "ses_long";
  const messages = Array.from({ length: 400 }, (_, turn) => [
    said(turn * 2, "user", { type: "text", text: `Which crate is in part ${turn}? Never open box ${turn}.` }),
    said(turn * 2 + 1, "assistant", { type: "text", text: `Part ${turn} has crate ${turn}. ${"word ".repeat(100)}` }),
  ]).flat();
  const opencode = {
    session: { messages: () => Promise.resolve({ data: messages }) },
    config,
    app: { log: (entry: unknown) => assert.fail(JSON.stringify(entry)) },
  };
  // As an earlier plugin has made it.
  const session = await client.createSession({ sessionId: `opencode-${sessionID}`, policy: {} });
  const hooks = await CompactordPlugin({ client: opencode } as unknown as Parameters<Plugin>[0]);
  const output = { context: [] as string[] };
  await hooks["experimental.session.compacting"]?.({ sessionID }, output);
  await hooks.dispose?.();
  await new Promise((resolve) => setImmediate(resolve));
  const { session: held } = await session.info();
  assert.equal(held?.nextIndex, 800);
  assert.equal(held.policy?.contextWindow, limit.context);
  const [digest = ""] = output.context;
  assert.match(digest, /Never open box/);
  // A quarter of the window, at four characters a token.
  assert.ok(digest.length < limit.context, `${digest.length} characters`);
  assert.deepEqual(warned, []);
});

test("the model reads by recall_content what was said, and a process that ends waits for the log", async () => {
  let answer: (answered: { data: typeof turns }) => void = () => undefined;
  const opencode = {
    session: { messages: () => new Promise<{ data: typeof turns }>((resolve) => (answer = resolve)) },
    config,
    app: { log: (entry: unknown) => assert.fail(JSON.stringify(entry)) },
  };
  const hooks = await CompactordPlugin({ client: opencode } as unknown as Parameters<Plugin>[0]);
  const sessionID = "ses_2";
  // opencode does not wait for the handlers of events.
  void hooks.event?.({ event: { type: "session.idle", properties: { sessionID } } });
  const ended = hooks.dispose?.();
  answer({ data: turns });
  await ended;
  const session = client.session(`opencode-${sessionID}`);
  assert.equal((await session.info()).session?.nextIndex, 12);

  const again = await CompactordPlugin({ client: opencode } as unknown as Parameters<Plugin>[0]);
  const { recall_content: recall, search_messages: search } = again.tool ?? {};
  assert.ok(recall !== undefined && search !== undefined);
  const context = { sessionID, abort: new AbortController().signal } as Parameters<typeof recall.execute>[1];
  const read = await recall.execute({ reference: "#2", max_bytes: 100 }, context);
  assert.ok(typeof read === "string");
  assert.match(read, /Crate 0\. word/);
  assert.match(read, /first_byte/);
  assert.ok(read.length < 400);
  assert.match(JSON.stringify(await search.execute({ words: "Never open the box" }, context)), /#0/);
  await assert.rejects(recall.execute({ reference: "#2", line: 3 }, context), /line_count/);
  assert.ok(["reference", "match", "max_bytes"].every((name) => name in recall.args));
  await again.dispose?.();
});

test("a window that opencode does not know is small, is asked for again, and keeps nothing out of the log", async () => {
  const sessionID = "ses_unknown";
  const unknown = [{ id: model.providerID, models: { [model.modelID]: { limit: { context: 0, output: 0 } } } }];
  const answers = [
    () => Promise.reject(new Error("no server")),
    () => Promise.resolve({ error: "no providers" }),
    () => Promise.resolve({ data: { providers: unknown } }),
    () => Promise.resolve({ data: { providers: unknown } }),
    config.providers,
    () => Promise.reject(new Error("the known window is asked for again")),
  ];
  let asked = 0;
  let messages: typeof turns = [];
  const logged: string[] = [];
  const opencode = {
    session: { messages: () => Promise.resolve({ data: messages }) },
    config: { providers: () => (answers[asked++] ?? config.providers)() },
    app: { log: ({ body }: { body: { message: string } }) => Promise.resolve(logged.push(body.message)) },
  };
  const hooks = await CompactordPlugin({ client: opencode } as unknown as Parameters<Plugin>[0]);
  const windows: unknown[] = [];
  for (let turn = 0; turn < 6; turn++) {
    messages = [...messages, said(turn, "user", { type: "text", text: `Part ${turn}.` })];
    await hooks.event?.({ event: { type: "session.idle", properties: { sessionID } } });
    const { session } = await client.session(`opencode-${sessionID}`).info();
    assert.equal(session?.nextIndex, turn + 1);
    windows.push(session.policy?.contextWindow);
  }
  await hooks.dispose?.();
  assert.deepEqual(windows, [16_000, 16_000, 16_000, 16_000, limit.context, limit.context]);
  assert.equal(asked, 5);
  assert.equal(logged.length, 1);
  assert.match(logged[0] ?? "", /window of make\/make-believe is not known.*no server/);
});

test("before anything is in the log, a search finds nothing", async () => {
  let messages: typeof turns = [];
  const opencode = {
    session: { messages: () => Promise.resolve({ data: messages }) },
    config,
    app: { log: (entry: unknown) => assert.fail(JSON.stringify(entry)) },
  };
  const hooks = await CompactordPlugin({ client: opencode } as unknown as Parameters<Plugin>[0]);
  const { search_messages: search } = hooks.tool ?? {};
  assert.ok(search !== undefined);
  const sessionID = "ses_new";
  const context = { sessionID, abort: new AbortController().signal } as Parameters<typeof search.execute>[1];
  assert.equal(await search.execute({ words: "box" }, context), "No message matches.");
  messages = turns;
  await hooks.event?.({ event: { type: "session.idle", properties: { sessionID } } });
  const { session } = await client.session(`opencode-${sessionID}`).info();
  assert.equal(session?.policy?.contextWindow, limit.context);
  assert.match(JSON.stringify(await search.execute({ words: "box" }, context)), /#0/);
  await hooks.dispose?.();
});

interface Drawn {
  readonly asked: string;
  readonly text: string;
  readonly calls: readonly (readonly [output: string, failed: boolean])[];
}

const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }).filter((text) => text.trim() !== "");
const drawn: fc.Arbitrary<Drawn[]> = fc.array(
  fc.record({ asked: words, text: words, calls: fc.array(fc.tuple(words, fc.boolean()), { maxLength: 3 }) }),
  { minLength: 1, maxLength: 4 },
);

/** A message of the user, an answer with parallel calls and their results, and what only opencode reads. */
function saidIn({ asked, text, calls }: Drawn, turn: number): (typeof turns)[number][] {
  const tools = calls.map(([output, failed], at) => {
    const input = { path: `${at}.txt` };
    const state = failed ? { status: "error", input, error: output } : { status: "completed", input, output };
    return { type: "tool", callID: `call_${turn}_${at}`, tool: "read", state };
  });
  return [
    said(turn * 2, "user", { type: "text", text: asked }, { type: "text", text: "Not for the model.", ignored: true }),
    said(turn * 2 + 1, "assistant", { type: "step-start" }, { type: "text", text }, ...tools, { type: "step-finish" }),
  ];
}

test("what is said in opencode is in the log as it was, and a second time nothing changes", async () => {
  let number = 0;
  await fc.assert(
    fc.asyncProperty(drawn, async (conversation) => {
      number++;
      const sessionID = `ses_drawn_${number}`;
      const opencode = {
        session: { messages: () => Promise.resolve({ data: conversation.flatMap(saidIn) }) },
        config,
        app: { log: (entry: unknown) => assert.fail(JSON.stringify(entry)) },
      };
      const hooks = await CompactordPlugin({ client: opencode } as unknown as Parameters<Plugin>[0]);
      for (let time = 0; time < 2; time++) {
        await hooks.event?.({ event: { type: "session.idle", properties: { sessionID } } });
      }
      await hooks.dispose?.();
      const logged: unknown[] = [];
      for await (const { message } of client.session(`opencode-${sessionID}`).messages()) {
        logged.push(...(message?.parts ?? []).map(({ kind }) => flat(kind)));
      }
      const wanted = conversation.flatMap(({ asked, text, calls }, turn) => [
        asked,
        text,
        ...calls.map((_, at) => [`call_${turn}_${at}`, "read", `{"path":"${at}.txt"}`]),
        ...calls.map(([output, failed], at) => [`call_${turn}_${at}`, output, failed]),
      ]);
      assert.deepEqual(logged, wanted);
    }),
    { numRuns: 40 },
  );
});

function flat(kind: NeutralPart["kind"]): unknown {
  switch (kind.case) {
    case "text":
      return kind.value.text;
    case "toolCall":
      return [kind.value.id, kind.value.name, kind.value.arguments];
    case "toolResult": {
      const [part] = kind.value.parts;
      return [kind.value.callId, part?.kind.case === "text" ? part.kind.value.text : undefined, kind.value.isError];
    }
    default:
      return kind.case;
  }
}
