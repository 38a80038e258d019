import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";

import type { Client, RunTool, Session } from "../src/index.js";
import { AgentTools, assistant, SessionNotFoundError, system, user } from "../src/index.js";
import type { Message } from "../src/v1.js";
import { MessageSchema, Role } from "../src/v1.js";
import { create } from "@bufbuild/protobuf";
import { TestDaemon } from "./fixture/daemon.js";

let client: Client;
let parent: Session;

before(async () => {
  client = (await TestDaemon.start()).client();
});

beforeEach(async () => {
  parent = await client.createSession({ title: "garden" });
  await parent.append([system("You keep a garden."), user("Find the leak."), assistant("I will.")]);
});

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

async function shown(session: Session): Promise<string[]> {
  return (await session.view()).neutral.flatMap(({ message }) => textsOf(message));
}

/** The result that a message of a child quotes. */
function resultIn(text: string | undefined): string {
  return /<sub_agent_result>\n([^]*)\n<\/sub_agent_result>$/.exec(text ?? "")?.[1] ?? "";
}

test("a child ends with what its model said, or with the text that its work returns", async () => {
  let childId = "";
  const ended = await parent.child(
    async (child) => {
      childId = child.id;
      assert.deepEqual(await shown(child), []);
      await child.append([user("Where does it leak?"), assistant("At the second joint.")]);
    },
    { title: "find the leak" },
  );
  assert.equal(ended.answersCall, false);
  const text = (await shown(parent)).at(-1);
  assert.equal(resultIn(text), "At the second joint.");
  assert.match(text ?? "", /find the leak/);
  assert.equal((await parent.recall(`${childId}#0`)).text, "Where does it leak?");
  assert.deepEqual(
    (await all(parent.search({ words: "joint", includeChildren: true }))).map(({ sessionId }) => sessionId),
    ["", childId],
  );
  assert.deepEqual(
    (await all(parent.children())).map(({ sessionId, title }) => [sessionId, title]),
    [[childId, "find the leak"]],
  );
  await assert.rejects(client.session(childId).append("More."), { reason: "CHILD_ENDED" });
  await parent.child(() => "It was the hose.");
  assert.equal(resultIn((await shown(parent)).at(-1)), "It was the hose.");
  await assert.rejects(parent.end("I am nobody's child."), { reason: "NO_PARENT" });
  await assert.rejects(parent.delete({ children: "refuse" }), { reason: "HAS_CHILDREN" });
  await parent.delete({ children: "delete" });
  await assert.rejects(client.session(childId).info(), SessionNotFoundError);
});

test("a child sees what is chosen", async () => {
  await parent.setBlock("memory", "The pipes are old.", { place: "leading" });
  await parent.setBlock("plan", "1. Find the leak.");
  const child = await parent.startChild({ messages: [1], blocks: ["memory"], instructions: true });
  const texts = await shown(child);
  assert.deepEqual([texts[0], texts.length, texts[2]], ["You keep a garden.", 3, "Find the leak."]);
  assert.match(texts[1] ?? "", /The pipes are old\./);
  await child.end("Nothing.");
  await parent.child(
    async (copy) => {
      assert.deepEqual(await shown(copy), await shown(parent));
      await copy.end("Nothing.");
    },
    { sees: "everything" },
  );
  await assert.rejects(parent.startChild({ sees: "everything", blocks: ["plan"] }), /sees the messages, blocks/);
  await assert.rejects(parent.startChild({ sees: "some" as "nothing" }), /sees: "some" is none: everything or nothing/);
});

test("an error of the work ends the child with a result that says so, and is thrown further", async () => {
  const broken = new Error("the hose burst");
  await assert.rejects(
    parent.child(() => Promise.reject(broken)),
    broken,
  );
  const text = resultIn((await shown(parent)).at(-1));
  assert.equal(text, "The sub-agent stopped before it was done, so this is no result of it: the hose burst");
  const [child] = await all(parent.children());
  const [record] = await all(client.session(child?.sessionId ?? "").records({ kinds: ["child_end"] }));
  assert.equal(record?.kind.case === "childEnd" && record.kind.value.isError, true);
});

test("a turn leaves calls alone that children answered", async () => {
  const calls = create(MessageSchema, {
    role: Role.ASSISTANT,
    parts: ["good", "bad", "own"].map((id) => ({
      kind: { case: "toolCall" as const, value: { id, name: "ask_helper", arguments: "{}" } },
    })),
  });
  const answers = [calls, assistant("All done.")];
  const runTool: RunTool = async (call) => {
    if (call.id === "own") {
      return "I did it myself.";
    }
    await parent.child(
      async (child) => {
        await child.runTurn(() => assistant(`Result of ${call.id}.`), "Go.");
        if (call.id === "bad") {
          throw new Error("it broke");
        }
      },
      { call, title: call.id },
    );
    return "nobody sees this";
  };
  const turn = await parent.runTurn(() => answers.shift() ?? assistant("?"), "Ask your helpers.", { runTool });
  assert.equal(turn.done, true);
  assert.equal(turn.text, "All done.");
  const results = new Map<string, string>();
  for await (const { message } of parent.messages()) {
    for (const { kind } of message?.parts ?? []) {
      if (kind.case === "toolResult") {
        const [first] = kind.value.parts;
        assert.ok(!results.has(kind.value.callId));
        results.set(kind.value.callId, first?.kind.case === "text" ? first.kind.value.text : "");
      }
    }
  }
  assert.deepEqual([...results.keys()].sort(), ["bad", "good", "own"]);
  assert.equal(resultIn(results.get("good")), "Result of good.");
  assert.match(resultIn(results.get("bad")), /: it broke$/);
  assert.equal(results.get("own"), "I did it myself.");
});

test("the recall tool reads the log of a child", async () => {
  let childId = "";
  await parent.child(async (child) => {
    childId = child.id;
    await child.append([user("Where does it leak?"), assistant("At the second joint.")]);
  });
  const tools = new AgentTools(parent);
  const read = await tools.handle({ name: "recall_content", arguments: JSON.stringify({ reference: `${childId}#1` }) });
  assert.match(read?.text ?? "", new RegExp(`^\\[${childId}#1[^]*At the second joint\\.$`));
  const found = await tools.handle({ name: "search_messages", arguments: '{"words": "second joint"}' });
  assert.ok(found?.text.includes(`${childId}#1`));
});
