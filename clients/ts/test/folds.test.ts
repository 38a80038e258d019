import assert from "node:assert/strict";
import { before, test } from "node:test";

import { create } from "@bufbuild/protobuf";

import type { Client, Session } from "../src/index.js";
import { AgentTools, assistant, system, toolResult, user } from "../src/index.js";
import type { Message } from "../src/v1.js";
import { MessageSchema, Role } from "../src/v1.js";
import { TestDaemon } from "./fixture/daemon.js";

const result = "The cause is a stale lock in queue.go.";

let client: Client;

before(async () => {
  client = (await TestDaemon.start()).client();
});

function call(number: number, name = "read_file", json = "{}"): Message {
  const value = { id: `call-${number}`, name, arguments: json };
  return create(MessageSchema, { role: Role.ASSISTANT, parts: [{ kind: { case: "toolCall", value } }] });
}

async function worked(): Promise<Session> {
  const session = await client.createSession({ policy: { contextWindow: 100_000 } });
  await session.append([system("Be brief."), user("Why does the queue hang?")]);
  for (const number of [0, 1, 2]) {
    await session.append([call(number), toolResult(`call-${number}`, `line of file ${number}\n`.repeat(80))]);
  }
  await session.append(assistant("It hangs because of a lock."));
  return session;
}

async function shown(session: Session): Promise<string[]> {
  return (await session.view()).neutral.flatMap(({ message }) =>
    (message?.parts ?? []).map(({ kind }) => {
      switch (kind.case) {
        case "text":
          return kind.value.text;
        case "toolCall":
          return kind.value.name;
        case "toolResult": {
          const [first] = kind.value.parts;
          return first?.kind.case === "text" ? first.kind.value.text : "";
        }
        default:
          return "";
      }
    }),
  );
}

test("a range is shown as one text where it stood, and an undo brings it back", async () => {
  const session = await worked();
  const earlier = await session.view();
  const folded = await session.fold({ start: 2, end: 8, text: result });
  assert.deepEqual(
    folded.prune?.edits.map(({ index }) => index),
    [2, 3, 4, 5, 6, 7],
  );
  const texts = await shown(session);
  assert.equal(texts.length, 4);
  assert.ok(texts[2]?.endsWith(result));
  assert.equal(texts[3], "It hangs because of a lock.");
  assert.equal((await session.recall(3)).text, "line of file 0\n".repeat(80));
  await session.revert({ undo: true });
  assert.deepEqual((await session.view()).neutral, earlier.neutral);
});

test("a fold can be planned, begin at a checkpoint, and be refused", async () => {
  const session = await worked();
  const mark = await session.checkpoint();
  await session.append([call(3), toolResult("call-3", "much text\n".repeat(200)), call(4)]);
  assert.equal((await session.fold({ checkpoint: mark.id, text: result }, { dryRun: true })).outcome, "planned");
  assert.equal((await session.fold({ checkpoint: mark.id, text: result })).done, true);
  const texts = await shown(session);
  assert.ok(texts.at(-2)?.endsWith(result));
  assert.equal(texts.at(-1), "read_file");
  await session.pin([4]);
  await assert.rejects(session.fold({ start: 2, end: 8, text: result }), { reason: "PLAN_INVALID" });
  await assert.rejects(session.fold({ checkpoint: 9, text: result }), { reason: "CHECKPOINT_NOT_FOUND" });
  await assert.rejects(
    session.fold({ text: result } as unknown as { start: number }),
    /fold: set exactly one of start/,
  );
  await assert.rejects(session.fold({ start: -1, text: result }), RangeError);
});

test("a model folds what it did since a checkpoint, and goes on", async () => {
  const session = await client.createSession({ policy: { contextWindow: 100_000 } });
  const tools = new AgentTools(session, { fold: true });
  assert.deepEqual(
    tools.definitions().map(({ name }) => name),
    ["recall_content", "search_messages", "fold_since"],
  );
  const asked = JSON.stringify({ checkpoint_id: 1, result: ` ${result} ` });
  const answers = [call(0), call(1), call(2, "fold_since", asked), assistant("Done.")];
  let last: string[] = [];
  const turn = await session.runTurn(
    async () => {
      last = await shown(session);
      return answers.shift() ?? assistant("?");
    },
    "Why does the queue hang?",
    { runTool: () => "much text\n".repeat(200), tools },
  );
  assert.equal(turn.done, true);
  assert.ok(!last.some((text) => text.includes("much text")));
  const place = last.findIndex((text) => text.endsWith(result));
  assert.equal(last[place + 1], "fold_since");
  assert.match(last[place + 2] ?? "", /are shown as your result from now on/);
  const wrong = await tools.handle({ name: "fold_since", arguments: '{"checkpoint_id": 1}' });
  assert.equal(wrong?.text, "Nothing was folded: missing: result.");
  assert.equal(wrong.isError, true);
});
