import assert from "node:assert/strict";
import { before, test } from "node:test";

import { AgentTools, assistant, ToolOutput, toolResult } from "../src/index.js";
import type { Message } from "../src/v1.js";
import type { Client, RunTool, Session } from "../src/index.js";
import { TestDaemon } from "./fixture/daemon.js";
import { FakeModel, Gate } from "./fixture/fakeModel.js";
import { transcript } from "./fixture/transcript.js";

let daemon: TestDaemon;
let client: Client;

before(async () => {
  daemon = await TestDaemon.start();
  client = daemon.client();
});

/** An answer of Chat Completions that calls a tool once for each id. */
function calling(...ids: string[]): object {
  const calls = ids.map((id) => ({ id, type: "function", function: { name: id, arguments: "{}" } }));
  return { choices: [{ message: { role: "assistant", content: null, tool_calls: calls } }] };
}

async function chat(): Promise<Session<"openai_chat">> {
  return client.createSession({ dialect: "openai_chat" });
}

test("a tool that answers data or nothing is told to the model, and the turn goes on", async () => {
  const session = await chat();
  const answers: Record<string, object | undefined> = { one: { temp: 5 }, two: undefined, three: [1, 2] };
  const runTool: RunTool = ({ name }) => answers[name];
  await session.runTurn(new FakeModel(calling("one", "two", "three"), assistant("Done.")).call, "Go.", { runTool });
  const { messages } = await session.view();
  const results = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  assert.deepEqual(results, ['{"temp":5}', "", "[1,2]"]);
});

test("what is no answer names the function that gave it, and nothing of it is appended", async () => {
  const session = await chat();
  for (const [wrong, named] of [
    [undefined, "nothing"],
    [null, "nothing"],
    [{}, "an empty object"],
    [new Uint8Array(), "empty bytes"],
    [5, "a number"],
    [true, "a boolean"],
    [(): number => 5, "a function"],
    [new Set([1]), "a Set"],
  ] as const) {
    await assert.rejects(
      session.runTurn(() => wrong as object, []),
      { name: "TypeError", message: new RegExp(`^callModel: it returned ${named}; it must return the model's answer`) },
    );
  }
  const numbers = [5][Symbol.iterator]();
  await assert.rejects(
    session.runTurn(() => ({ [Symbol.iterator]: () => numbers }), []),
    { name: "TypeError", message: "callModel: an event of its stream is number" },
  );
  assert.deepEqual(await transcript(session), []);
});

test("what is no function is named", async () => {
  const session = await chat();
  const no = 5 as never;
  const refused = (name: string): object => ({
    name: "TypeError",
    message: `${name}: must be a function, and is number`,
  });
  await assert.rejects(session.runTurn(no, "Go."), refused("callModel"));
  for (const name of ["runTool", "onEvent", "summarizeWith"]) {
    await assert.rejects(
      session.runTurn(() => "x", "Go.", { [name]: no }),
      refused(name),
    );
  }
  await assert.rejects(
    session.runTurn(() => "x", "Go.", { tools: [] as never }),
    /^TypeError: tools: must be new AgentTools/,
  );
  await assert.rejects(session.compactWith(no), refused("write"));
  assert.deepEqual(await transcript(session), []);
});

test("what is no summary names the function that gave it", async () => {
  const small = await client.createSession({
    policy: { contextWindow: 4000, strategy: { summarize: { recentTokens: 100 } } },
  });
  await small.append(Array.from({ length: 12 }, () => "look at the ledger and tell me. ".repeat(30)));
  for (const [wrong, named] of [
    [{}, "an object without a text"],
    [undefined, "nothing"],
    [{ text: 5 }, "an object without a text"],
    [5, "a number"],
  ] as const) {
    await assert.rejects(
      small.compactWith(() => Promise.resolve(wrong as unknown as string)),
      { name: "TypeError", message: new RegExp(`^write: it returned ${named}; it must return a text`) },
    );
  }
});

test("a result that was refused is asked for again when the turn is taken up", async () => {
  const session = await chat();
  const asked: string[] = [];
  const wrong: RunTool = ({ name }) => {
    asked.push(name);
    return { role: "nobody" };
  };
  const model = new FakeModel(calling("one"), assistant("Done."));
  await assert.rejects(session.runTurn(model.call, "Go.", { runTool: wrong }), { name: "InvalidRequestError" });
  const right: RunTool = ({ name }) => {
    asked.push(name);
    return "good";
  };
  assert.equal((await session.runTurn(model.call, [], { runTool: right })).text, "Done.");
  assert.deepEqual(asked, ["one", "one"]);
});

for (const [what, wrong, says] of [
  ["a number", 5, /^runTool returned a number for call one of one: it must be a string/],
  ["an answer", assistant("no"), /^runTool returned an? \w+ for call one of one: it is not a TOOL message/],
  ["another call's result", toolResult("two", "no"), /for call one of one: its callId belongs to another call$/],
  ["an output of a number", new ToolOutput(5 as unknown as string), /for call one of one: its text is a number/],
] as const) {
  test(`${what} is no result: the call is named, and asked for again`, async () => {
    const session = await chat();
    const model = new FakeModel(calling("one"), assistant("Done."));
    const runTool = (): Message => wrong as Message;
    await assert.rejects(session.runTurn(model.call, "Go.", { runTool }), { name: "TypeError", message: says });
    assert.equal((await session.runTurn(model.call, [], { runTool: () => "good" })).text, "Done.");
    assert.deepEqual(await transcript(session), ["USER Go.", "ASSISTANT one({})", "TOOL good", "ASSISTANT Done."]);
  });
}

for (const dialect of ["openai_chat", undefined] as const) {
  test(`a neutral result without an id gets its call's, with the dialect ${String(dialect)}`, async () => {
    const session = await client.createSession({ dialect });
    const call = { toolCall: { id: "one", name: "look", arguments: "{}" } };
    const answer = dialect === undefined ? { role: "ROLE_ASSISTANT", parts: [call] } : calling("one");
    const without = toolResult("", "good");
    const json = { role: "ROLE_TOOL", parts: [{ toolResult: { parts: [{ text: { text: "good" } }] } }] };
    const runTool = (): Message | object => (dialect === undefined ? json : without);
    await session.runTurn(new FakeModel(answer, assistant("Done.")).call, "Go.", { runTool });
    const log = [];
    for await (const { message } of session.messages()) {
      log.push(message?.parts[0]?.kind);
    }
    assert.equal(log[2]?.case === "toolResult" && log[2].value.callId, "one");
    // The caller's own message is left as it is.
    assert.equal(without.parts[0]?.kind.case === "toolResult" && without.parts[0].kind.value.callId, "");
  });
}

test("the last event of a compaction leaves the place to a turn in its loop", async () => {
  const session = await client.createSession();
  await session.append("Hi.");
  for await (const { event } of session.compacting()) {
    if (event.case === "skipped") {
      assert.equal((await session.runTurn(new FakeModel(assistant("Hello.")).call, "Well?")).text, "Hello.");
    }
  }
  assert.equal((await transcript(session)).length, 3);
});

test("a compaction that was given up before it began aborts no turn", async () => {
  const session = await client.createSession();
  const called = new Gate();
  const answer = new Gate<string>();
  const turn = session.runTurn(() => {
    called.open();
    return answer.opened;
  }, "Well?");
  await called.opened;
  const reason = new Error("no longer wanted");
  const signal = AbortSignal.abort(reason);
  await assert.rejects(session.compact({ signal }), reason);
  await assert.rejects(
    session.compactWith(() => Promise.resolve(""), { signal }),
    reason,
  );
  const cancelled = session.compacting();
  await cancelled.cancel();
  await assert.rejects(cancelled.finish(), { reason: "CANCELLED" });
  answer.open("Here.");
  assert.equal((await turn).text, "Here.");
});

test("a client that was closed is no result of an agent's tool", async () => {
  const own = daemon.client();
  const session = await own.createSession();
  const tools = new AgentTools(session);
  await own.close();
  await assert.rejects(tools.handle({ name: "search_messages", arguments: '{"words":"a"}' }), {
    reason: "CLIENT_CLOSED",
  });
});

test("request() of a neutral view says what to do, by its own name", async () => {
  const session = await client.createSession();
  const view = await session.view();
  assert.throws(() => view.request(), { name: "TypeError", message: /^request: .*without a dialect/ });
});
