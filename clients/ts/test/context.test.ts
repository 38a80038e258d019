import assert from "node:assert/strict";
import { before, test } from "node:test";

import type { Client, DialectName, View } from "../src/index.js";
import type { BlockPlaceName } from "../src/types.js";
import { assistant, block, developer, InvalidRequestError, system, user } from "../src/index.js";
import type { ContextBlock, Message } from "../src/v1.js";
import { Role } from "../src/v1.js";
import { TestDaemon } from "./fixture/daemon.js";

let client: Client;

before(async () => {
  client = (await TestDaemon.start()).client();
});

const dialects: readonly (DialectName | undefined)[] = [
  undefined,
  "openai_chat",
  "openai_responses",
  "anthropic",
  "gemini",
];

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) {
    list.push(item);
  }
  return list;
}

function textsOf(message: Pick<Message, "parts"> | undefined): string[] {
  return (message?.parts ?? []).map(({ kind }) => (kind.case === "text" ? kind.value.text : ""));
}

function shown(view: View): string[] {
  return view.neutral.flatMap(({ message }) => textsOf(message));
}

test("a view shows a block once, with its newest value, before the newest message", async () => {
  const session = await client.createSession();
  await session.append([user("Plan the garden."), assistant("I will.")]);
  await session.setBlock("plan", "1. Dig.");
  await session.setBlock("memory", "The owner is away in May.", { place: "leading" });
  await session.append("Go on.");
  const { sequence = 0 } = await session.setBlock("plan", "1. Dig: done.");
  const texts = shown(await session.view());
  assert.equal(texts.length, 5);
  assert.match(texts[0] ?? "", /away in May/);
  assert.match(texts[3] ?? "", /1\. Dig: done\./);
  assert.equal(texts.filter((text) => text.includes("Dig")).length, 1);
  const values = async (asOf: number) =>
    (await all(session.blocks({ names: ["plan"], asOf }))).flatMap((state) => textsOf(state.block));
  assert.deepEqual(await values(sequence), ["1. Dig: done."]);
  assert.deepEqual(await values(sequence - 1), ["1. Dig."]);
  assert.equal((await session.setBlock("plan", "1. Dig: done.")).sequence, undefined);
});

test("several blocks change in one record, or not at all", async () => {
  const session = await client.createSession();
  await session.setBlock("old", "gone soon");
  await session.updateBlocks({
    set: [block("plan", ["1. Dig.", "2. Sow."]), block("map", "A garden.", { maxTokens: 500, turns: 2, priority: 1 })],
    remove: ["old"],
  });
  const states = await all(session.blocks());
  assert.deepEqual(
    states.map((state) => [state.block?.name, state.turnsLeft, textsOf(state.block)]),
    [
      ["plan", undefined, ["1. Dig.", "2. Sow."]],
      ["map", 2, ["A garden."]],
    ],
  );
  assert.equal(states[0]?.sequence, states[1]?.sequence);
  await assert.rejects(
    session.updateBlocks({ set: [block("new", "x"), block("no spaces", "y")] }),
    (e) => e instanceof InvalidRequestError && e.fieldViolations[0]?.field === "set[1].name",
  );
  await session.removeBlock(["map", "nothing"]);
  assert.deepEqual(
    (await all(session.blocks())).map((state) => state.block?.name),
    ["plan"],
  );
  assert.equal((await all(session.records({ kinds: ["context_blocks"] }))).length, 3);
});

test("wrong arguments of a block are named", async () => {
  const session = client.session("any");
  await assert.rejects(
    session.setBlock("plan", "x", { place: "top" as "latest" }),
    /place: "top" is unknown: use one of leading, latest/,
  );
  await assert.rejects(
    session.setBlock("plan", "x", { turns: 0 }),
    /turns: 0 shows nothing; leave it out for no limit/,
  );
  await assert.rejects(session.setBlock("plan", "x", { maxTokens: -1 }), RangeError);
  await assert.rejects(session.setBlock("plan", 3 as unknown as string), /must be a text or parts, and is number/);
  await assert.rejects(session.updateBlocks({ remove: "plan" as unknown as string[] }), /remove: must be a list/);
  await assert.rejects(
    session.replaceInstructions({ role: "system" } as unknown as string),
    /instructions: must be texts and neutral messages, such as developer\(\) makes/,
  );
});

for (const dialect of dialects) {
  test(`replaced instructions are the system prompt (${dialect ?? "neutral"})`, async () => {
    const session = await client.createSession(dialect === undefined ? {} : { dialect });
    await session.append([system("Be brief."), user("Hello.")]);
    await session.replaceInstructions(["Be kind.", developer("Answer in litres.")]);
    const neutral = client.session(session.id);
    assert.deepEqual(shown(await neutral.view()), ["Be kind.", "Answer in litres.", "Hello."]);
    if (dialect !== undefined) {
      const request = JSON.stringify((await session.view()).request());
      assert.match(request, /Be kind\./);
      assert.doesNotMatch(request, /Be brief\./);
    }
    await session.replaceInstructions([]);
    assert.deepEqual(
      (await neutral.view()).neutral.map(({ message }) => message?.role),
      [Role.USER],
    );
  });

  test(`a kept view is the same as a whole one while blocks move (${dialect ?? "neutral"})`, async () => {
    const session = await client.createSession(dialect === undefined ? {} : { dialect });
    await session.append([system("Be brief."), user("Begin.")]);
    // A generator of its own, so that a failure can be repeated.
    let state = 17;
    const chance = (below: number): number => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    const places: readonly BlockPlaceName[] = ["leading", "latest"];
    for (let number = 0; number < 40; number++) {
      const name = ["plan", "memory", "skill:dig"][chance(3)] ?? "";
      const steps = [
        () => session.setBlock(name, `value ${number}`, { place: places[chance(2)] ?? "latest" }),
        () => session.removeBlock(name),
        () => session.replaceInstructions(`Instructions ${number}.`),
        () => session.append([assistant(`answer ${number}`), user(`request ${number}`)]),
        () => session.append(assistant(`more ${number}`)),
      ];
      await steps[chance(steps.length)]?.();
      const kept = await session.view();
      const whole = await client.session(session.id, { dialect }).view();
      assert.deepEqual([kept.messagesJson, kept.systemJson], [whole.messagesJson, whole.systemJson]);
      if (dialect === undefined) {
        assert.deepEqual(kept.neutral, whole.neutral);
      }
    }
  });

  test(`a kept view is the same as a whole one while extra blocks come, change and go (${dialect ?? "neutral"})`, async () => {
    const session = await client.createSession(dialect === undefined ? {} : { dialect });
    await session.append([system("Be brief."), user("Begin.")]);
    let state = 23;
    const chance = (below: number): number => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    for (let number = 0, extra = 0; number < 40; number++) {
      const steps = [
        () => session.setBlock("plan", `value ${number}`),
        () => session.append([assistant(`answer ${number}`), user(`request ${number}`)]),
        () => session.append(assistant(`more ${number}`)),
        () => (extra = 0),
        () => (extra = 1 + chance(3)),
      ];
      await steps[chance(steps.length)]?.();
      const extraBlocks = Array.from({ length: extra }, (_, i) => block(`found:${i}`, `fact ${number} of ${i}`));
      const kept = await session.view({ extraBlocks, maxBytes: [0, 1, 200][chance(3)] ?? 0 });
      const whole = await client.session(session.id, { dialect }).view({ extraBlocks });
      assert.deepEqual([kept.messagesJson, kept.systemJson], [whole.messagesJson, whole.systemJson]);
      const texts = dialect === undefined ? shown(kept) : kept.messagesJson;
      if (dialect === undefined) {
        assert.deepEqual(kept.neutral, whole.neutral);
      }
      assert.equal(texts.join().split("fact ").length - 1, extra);
    }
  });
}

test("each view of a turn has its extra blocks, but not after a paused answer", async () => {
  const session = await client.createSession({ dialect: "anthropic" });
  const answers = [
    { content: [{ type: "tool_use", id: "call_1", name: "look", input: {} }], stop_reason: "tool_use" },
    { content: [{ type: "text", text: "I look." }], stop_reason: "pause_turn" },
    { content: [{ type: "text", text: "Done." }], stop_reason: "end_turn" },
  ];
  const seen: string[] = [];
  let asked = 0;
  const turn = await session.runTurn(
    (view) => {
      seen.push(view.messagesJson.join());
      return { type: "message", role: "assistant", ...answers[seen.length - 1] };
    },
    "Go on.",
    { runTool: () => "seen", extraBlocks: () => [block("time", `It is ${++asked} o'clock.`)] },
  );
  assert.ok(turn.done);
  assert.deepEqual(
    seen.map((text) => /It is \d+ o'clock/.exec(text)?.[0]),
    ["It is 1 o'clock", "It is 2 o'clock", undefined],
  );
  assert.doesNotMatch((await session.view()).messagesJson.join(), /o'clock/);
});

test("an abort does not wait for the extra blocks of a turn", async () => {
  const session = await client.createSession();
  const reason = new Error("enough");
  const stop = new AbortController();
  const searching = (): Promise<ContextBlock[]> => {
    stop.abort(reason);
    return new Promise(() => undefined);
  };
  const turn = session.runTurn(() => "never", "Go on.", { extraBlocks: searching, signal: stop.signal });
  await assert.rejects(turn, reason);
});
