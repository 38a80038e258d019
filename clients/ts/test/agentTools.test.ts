import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";

import type { ChatCompletionTool } from "openai/resources/chat/completions";
import type { Tool } from "openai/resources/responses/responses";
import type { ToolUnion } from "@anthropic-ai/sdk/resources/messages";

import { AgentTools, assistant, ToolRejected, user, type Session, type ToolOutput } from "../src/index.js";
import { Origin } from "../src/v1.js";
import { TestDaemon } from "./fixture/daemon.js";
import { dialectFixtures } from "./fixture/dialects.js";
import { FakeModel } from "./fixture/fakeModel.js";
import { conversation, smallWindow, transcript } from "./fixture/transcript.js";

const daemon = await TestDaemon.start(["--log-level", "error"]);
const client = daemon.client();

/** A neutral answer that calls tools. */
function calling(...calls: readonly [id: string, name: string, args: object][]): object {
  const parts = calls.map(([id, name, args]) => ({ toolCall: { id, name, arguments: JSON.stringify(args) } }));
  return { role: "ROLE_ASSISTANT", parts };
}

function mail(id: string, checkpoint: unknown, message: unknown = "The port is 8080."): [string, string, object] {
  return [id, "send_dmail", { checkpoint_id: checkpoint, message }];
}

async function handled(tools: AgentTools, name: string, args: object | string): Promise<ToolOutput> {
  const written = typeof args === "string" ? args : JSON.stringify(args);
  const output = await tools.handle({ name, arguments: written });
  assert.ok(output !== undefined);
  return output;
}

describe("the definitions of the agent tools", () => {
  it("are offered in each provider's shape, as its SDK types it", () => {
    const none = client.session("none");
    const tools = new AgentTools(none, { dmail: true, fold: true });
    const names = ["recall_content", "search_messages", "send_dmail", "fold_since"];
    const chat: ChatCompletionTool[] = tools.definitions({ dialect: "openai_chat" });
    const responses: Tool[] = tools.definitions({ dialect: "openai_responses" });
    const anthropic: ToolUnion[] = tools.definitions({ dialect: "anthropic" });
    assert.deepEqual(
      chat.map((tool) => tool.type === "function" && tool.function.name),
      names,
    );
    assert.deepEqual(
      responses.map((tool) => tool.type === "function" && tool.name),
      names,
    );
    assert.deepEqual(
      anthropic.map((tool) => "input_schema" in tool && tool.name),
      names,
    );
    assert.deepEqual(
      tools.definitions({ dialect: "gemini" }).map((tool) => tool.functionDeclarations.map(({ name }) => name)),
      [names],
    );
    assert.deepEqual(
      tools.definitions().map(({ name }) => name),
      names,
    );
    assert.deepEqual(
      new AgentTools(none).definitions().map(({ name }) => name),
      names.slice(0, 2),
    );
    assert.deepEqual(new AgentTools(none, { recall: false, search: false }).definitions({ dialect: "gemini" }), []);
  });
});

describe("recall and search", () => {
  it("read what a compaction covered", async () => {
    const session = await conversation(client);
    await session.append(user("The password of the harbour is kestrel.\nKeep it.\n".repeat(3)));
    await session.append(assistant("Noted."));
    await session.compact();
    const tools = new AgentTools(session);
    const found = await handled(tools, "search_messages", { words: "KESTREL harbour" });
    assert.equal(found.isError, false);
    assert.match(found.text, /^#12\.0 user, line 1, 6 matches: .*password of the harbour is kestrel/);
    const whole = await handled(tools, "recall_content", { reference: "#12.0" });
    assert.equal(whole.text.split("\n")[0], "[#12.0 user, text, lines 1 to 6 of 6]");
    assert.ok(whole.text.endsWith("Keep it.\n"));
    const lines = await handled(tools, "recall_content", { reference: "#12", first_line: 2, line_count: 1 });
    assert.equal(lines.text.split("\n").slice(1).join("\n"), "Keep it.\n");
    const matching = await handled(tools, "recall_content", {
      reference: "#12",
      match: "PASSWORD",
      ignore_case: true,
      context_lines: 0,
    });
    assert.deepEqual(matching.text.split("\n").slice(1), [
      "1:The password of the harbour is kestrel.",
      "--",
      "3:The password of the harbour is kestrel.",
      "--",
      "5:The password of the harbour is kestrel.",
    ]);
    const some = await handled(tools, "recall_content", { reference: "#12", max_bytes: 50 });
    assert.ok(some.text.endsWith("[There is more: read on with first_byte 50.]"), some.text);
    const bytes = await handled(tools, "recall_content", { reference: "#12", first_byte: 4, max_bytes: 8 });
    assert.equal(bytes.text.split("\n")[1], "password");
    assert.ok(bytes.text.endsWith("[There is more: read on with first_byte 12.]"), bytes.text);
  });

  it("end a long content at 16 KiB, and a search at 20 hits", async () => {
    const session = await client.createSession();
    await session.append(user("0123456789abcde\n".repeat(2_000)));
    await session.append(Array.from({ length: 25 }, (_, at) => user(`gull ${String(at)}`)));
    const tools = new AgentTools(session);
    const long = await handled(tools, "recall_content", { reference: "#0" });
    assert.ok(Buffer.byteLength(long.text) < 16_384 + 200);
    assert.ok(long.text.endsWith("[There is more: read on with first_line 1025.]"));
    const first = await handled(tools, "search_messages", { words: "gull" });
    assert.equal(first.text.split("\n").length, 21);
    assert.ok(first.text.endsWith("[There are more: search again with skip 20.]"));
    const rest = await handled(tools, "search_messages", { words: "gull", skip: 20, newest_first: true });
    assert.deepEqual(
      rest.text.split("\n").map((line) => line.split(" ")[0]),
      ["#5.0", "#4.0", "#3.0", "#2.0", "#1.0"],
    );
    assert.equal((await handled(tools, "search_messages", { pattern: "^gulls$" })).text, "No message matches.");
  });

  for (const [args, says] of [
    ["[".repeat(100_000), "Nothing was read: the arguments are no JSON object."],
    ['{"reference": "#0\\ud83c"}', "Nothing was read: reference must be a text."],
    [
      '{"\\ud83c": 1}',
      'Nothing was read: there is no argument "?"; there are reference, first_line, line_count, match, ignore_case, context_lines, first_byte, max_bytes.',
    ],
  ] as const) {
    it(`tell the model what is wrong with ${args.slice(0, 20)}, which other languages read otherwise`, async () => {
      const output = await handled(new AgentTools(client.session("none")), "recall_content", args);
      assert.deepEqual([output.isError, output.text], [true, says]);
    });
  }

  it("tell the model what the daemon refuses, and leave other tools alone", async () => {
    const session = await client.createSession();
    const tools = new AgentTools(session);
    assert.equal((await handled(tools, "recall_content", { reference: "#7" })).isError, true);
    assert.equal((await handled(tools, "search_messages", { pattern: "(" })).isError, true);
    assert.equal(await tools.handle({ name: "bash", arguments: "{}" }), undefined);
    assert.equal(await tools.handle({ name: "send_dmail", arguments: "{}" }), undefined);
  });

  for (const fixture of dialectFixtures) {
    it(`are handled in a turn beside the caller's own tools, in ${fixture.dialect ?? "neutral messages"}`, async () => {
      const session = await client.createSession(fixture.dialect === undefined ? {} : { dialect: fixture.dialect });
      const model = new FakeModel(
        fixture.whole({
          calls: [
            { id: "c1", name: "search_messages", args: { words: "lighthouse" } },
            { id: "c2", name: "bash", args: { command: "ls" } },
          ],
        }),
        fixture.whole({ text: "Found." }),
      );
      const own: string[] = [];
      const turn = await session.runTurn(model.call, "Where is the lighthouse?", {
        tools: new AgentTools(session),
        runTool: ({ name }) => {
          own.push(name);
          return "a.txt";
        },
      });
      assert.equal(turn.text, "Found.");
      assert.deepEqual(own, ["bash"]);
      const log = await transcript(session);
      assert.match(log[2] ?? "", /^TOOL #0\.0 user, line 1: Where is the lighthouse\?$/m);
      assert.equal(log[3], "TOOL a.txt");
    });
  }
});

describe("D-Mail", () => {
  async function begin(): Promise<{ session: Session; tools: AgentTools }> {
    const session = await client.createSession({ policy: smallWindow });
    return { session, tools: new AgentTools(session, { dmail: true }) };
  }

  it("case 187: one may be pending, which is checked first; a negative or unknown checkpoint is refused", async () => {
    const { session, tools } = await begin();
    const { id } = await session.checkpoint();
    for (const wrong of [-1, 0, id + 1, "1"]) {
      const output = await handled(tools, ...mailArgs(wrong));
      assert.equal(output.isError, true);
      assert.equal(tools.takeMail(), undefined);
    }
    const sent = await handled(tools, ...mailArgs(id));
    assert.equal(sent.isError, false);
    assert.match(sent.text, /not delivered/);
    for (const other of [id, -1, id + 1]) {
      const output = await handled(tools, ...mailArgs(other));
      assert.deepEqual(
        [output.isError, output.text],
        [true, "The message was not sent: another one is pending, and there can be but one."],
      );
    }
    assert.deepEqual(tools.takeMail(), { checkpointId: id, message: "The port is 8080." });
  });

  it("case 187: of two in one step the first is pending", async () => {
    const { session, tools } = await begin();
    const { id } = await session.checkpoint();
    const both = await Promise.all([
      tools.handle({ name: "send_dmail", arguments: JSON.stringify({ checkpoint_id: id, message: "first" }) }),
      tools.handle({ name: "send_dmail", arguments: JSON.stringify({ checkpoint_id: id, message: "second" }) }),
    ]);
    assert.deepEqual(
      both.map((output) => output?.isError),
      [false, true],
    );
    assert.equal(tools.takeMail()?.message, "first");
  });

  it("case 187: a checkpoint that was taken back is refused", async () => {
    const { session, tools } = await begin();
    await session.append("Hello");
    const first = await session.checkpoint();
    await session.append(assistant("Hi."));
    const second = await session.checkpoint();
    await session.revert({ toCheckpoint: first.id });
    const output = await handled(tools, ...mailArgs(second.id));
    assert.deepEqual(
      [output.isError, output.text],
      [true, `The message was not sent: checkpoint ${String(second.id)} was put aside by a return to an earlier one.`],
    );
  });

  it("case 188: is delivered after its step: reverted, one message with notice and trimmed text, the checkpoint keeps its number", async () => {
    const { session, tools } = await begin();
    const model = new FakeModel(
      calling(["c1", "read", {}]),
      calling(mail("c2", 1, "  The port is 8080.\n")),
      assistant("It is 8080."),
    );
    const turn = await session.runTurn(model.call, "Which port?", { tools, runTool: () => "8080\n".repeat(1_000) });
    assert.equal(turn.text, "It is 8080.");
    assert.equal(turn.steps, 3);
    const view = await session.view();
    const texts = view.neutral.map(({ message }) => [
      message?.origin,
      message?.parts[0]?.kind.case === "text" ? message.parts[0].kind.value.text : "",
    ]);
    assert.deepEqual(
      texts.map(([origin]) => origin),
      [Origin.CLIENT, Origin.MARKER, Origin.FUTURE, Origin.MARKER, Origin.CLIENT],
    );
    const future = String(texts[2]?.[1]);
    assert.ok(
      future.includes("The port is 8080.") &&
        !future.includes("The port is 8080.\n\n\n") &&
        !future.includes("  The port"),
    );
    const checkpoints = [];
    for await (const { checkpoint, putAside } of session.checkpoints()) {
      checkpoints.push([checkpoint.id, putAside]);
    }
    assert.deepEqual(checkpoints, [
      [1, false],
      [2, true],
      [3, false],
    ]);
  });

  it("case 189: is discarded where a tool of the same step was rejected, and nothing is reverted", async () => {
    const { session, tools } = await begin();
    const rejecting = (): string => {
      throw new ToolRejected();
    };
    const turn = await session.runTurn(new FakeModel(calling(mail("c1", 1), ["c2", "rm", {}])).call, "Which port?", {
      tools,
      runTool: rejecting,
    });
    assert.equal(turn.rejected, true);
    assert.equal(turn.done, false);
    assert.equal(tools.takeMail(), undefined);
    const log = await transcript(session);
    assert.match(log.at(-2) ?? "", /^TOOL The message waits to be delivered/);
    assert.equal(log.at(-1), "TOOL The user rejected this call, and it was not made.");

    const model = new FakeModel(calling(mail("c3", 1), ["c4", "rm", {}]), assistant("Then not."));
    const next = await session.runTurn(model.call, "Try again.", {
      tools,
      runTool: () => {
        throw new ToolRejected("never delete");
      },
    });
    assert.equal(next.text, "Then not.");
    assert.ok(
      (await transcript(session)).includes(
        "TOOL The user rejected this call, and it was not made. The user says: never delete",
      ),
    );
    for await (const { kind } of session.records()) {
      assert.notEqual(kind.case, "revert");
    }
  });

  it("case 190: without it no checkpoint is announced, though they are made where they are asked for", async () => {
    const session = await client.createSession();
    const model = new FakeModel(calling(["c1", "read", {}]), assistant("Done."));
    const tools = new AgentTools(session);
    await session.runTurn(model.call, "Look.", { tools, runTool: () => "fine", checkpointSteps: true });
    assert.deepEqual(await transcript(session), ["USER Look.", "ASSISTANT read({})", "TOOL fine", "ASSISTANT Done."]);
    const ids = [];
    for await (const { checkpoint } of session.checkpoints()) {
      ids.push(checkpoint.id);
    }
    assert.deepEqual(ids, [1, 2]);
    assert.equal(await tools.handle({ name: "send_dmail", arguments: "{}" }), undefined);
  });

  it("case 191: puts aside the conversation alone, and says so", async () => {
    const { session, tools } = await begin();
    const folder = mkdtempSync(join(tmpdir(), "compactord-dmail-"));
    try {
      const file = join(folder, "port");
      const model = new FakeModel(calling(["c1", "write", {}]), calling(mail("c2", 1)), assistant("Done."));
      await session.runTurn(model.call, "Set the port.", {
        tools,
        runTool: () => {
          writeFileSync(file, "8080");
          return "written";
        },
      });
      assert.equal(readFileSync(file, "utf8"), "8080");
      const future = (await session.view()).neutral.find(({ message }) => message?.origin === Origin.FUTURE);
      const kind = future?.message?.parts[0]?.kind;
      assert.match(kind?.case === "text" ? kind.value.text : "", /Files and the outside world were not reverted/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("case 192: numbers of checkpoints are never used again, so that a D-Mail to one from before a compaction reaches it", async () => {
    const { session, tools } = await begin();
    const filler = "word ".repeat(1_500);
    await session.runTurn(new FakeModel(assistant(filler)).call, filler, { tools });
    await session.runTurn(new FakeModel(assistant("Two.")).call, filler, { tools });
    assert.equal((await session.compact()).done, true);
    const model = new FakeModel(calling(mail("c1", 1)), assistant("Back."));
    const turn = await session.runTurn(model.call, "Go back.", { tools });
    assert.equal(turn.text, "Back.");
    const ids = [];
    for await (const { checkpoint } of session.checkpoints()) {
      ids.push(checkpoint.id);
    }
    assert.deepEqual(ids, [1, 2, 3, 4]);
    const origins = (await session.view()).neutral.map(({ message }) => message?.origin);
    assert.deepEqual(origins, [Origin.CLIENT, Origin.MARKER, Origin.FUTURE, Origin.MARKER, Origin.CLIENT]);
  });
});

function mailArgs(checkpoint: unknown): [string, object] {
  return ["send_dmail", { checkpoint_id: checkpoint, message: "The port is 8080." }];
}
