import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { ContextOverflowError, toolResult, user, type Session } from "../src/index.js";
import { StopReason } from "../src/v1.js";
import { TestDaemon } from "./fixture/daemon.js";
import { dialectFixtures, type DialectFixture } from "./fixture/dialects.js";
import { FakeModel, throwing } from "./fixture/fakeModel.js";
import { conversation, smallWindow, transcript } from "./fixture/transcript.js";

const daemon = await TestDaemon.start(["--log-level", "error"]);
const client = daemon.client();

function begin({ dialect }: DialectFixture): Promise<Session> {
  return client.createSession({ policy: smallWindow, ...(dialect !== undefined && { dialect }) });
}

for (const fixture of dialectFixtures) {
  describe(`a turn in ${fixture.dialect ?? "neutral messages"}`, () => {
    const reading = { text: "I look.", calls: [{ id: "c1", name: "read", args: { path: "a.txt" } }] };

    it("calls the model, runs its tools and appends all of it", async () => {
      const session = await begin(fixture);
      const model = new FakeModel(fixture.whole(reading), fixture.whole({ text: "It says 42." }));
      const seen: unknown[] = [];
      const turn = await session.runTurn(model.call, "What is in a.txt?", {
        runTool: (call) => {
          seen.push([call.name, call.json(), call.index]);
          return "42";
        },
      });
      assert.equal(turn.text, "It says 42.");
      assert.equal(turn.done, true);
      assert.equal(turn.steps, 2);
      assert.equal(turn.answer.stopReason, StopReason.END);
      assert.deepEqual(turn.toolCalls, []);
      assert.deepEqual(seen, [["read", { path: "a.txt" }, 1]]);
      assert.deepEqual(
        model.views.map((view) => view.length),
        [1, fixture.dialect === "openai_responses" ? 4 : 3],
      );
      assert.deepEqual(await transcript(session), [
        "USER What is in a.txt?",
        'ASSISTANT I look. read({"path":"a.txt"})',
        "TOOL 42",
        "ASSISTANT It says 42.",
      ]);
    });

    it("leaves calls open that nobody runs, and goes on with their results", async () => {
      const session = await begin(fixture);
      const model = new FakeModel(fixture.whole(reading), fixture.whole({ text: "It says 42." }));
      const open = await session.runTurn(model.call, "What is in a.txt?");
      assert.equal(open.done, false);
      assert.deepEqual(
        open.toolCalls.map(({ name }) => name),
        ["read"],
      );
      const [call] = open.toolCalls;
      assert.ok(call);
      const turn = await session.runTurn(model.call, toolResult(call, "42"));
      assert.equal(turn.text, "It says 42.");
      assert.equal((await transcript(session)).length, 4);
    });

    it("case 156: compacts after an overflow that the SDK throws, and calls the model once more", async () => {
      const session = await conversation(client, fixture.dialect);
      const model = new FakeModel(throwing(fixture.overflow()), fixture.whole({ text: "Now it fits." }));
      const turn = await session.runTurn(model.call, "Go on.");
      assert.equal(turn.text, "Now it fits.");
      assert.equal(turn.steps, 1);
      assert.equal(turn.compactions.length, 1);
      const [before, after] = model.views;
      assert.ok(before && after && after.report.tokens < before.report.tokens / 2);
    });

    it("case 156: the answer to an overflow that usage tells leaves the view and stays in the log", async () => {
      const session = await conversation(client, fixture.dialect);
      const cut = fixture.whole({ text: "About what?", inputTokens: 50_000 });
      const model = new FakeModel(cut, fixture.whole({ text: "Now it fits." }));
      const turn = await session.runTurn(model.call, "Go on.");
      assert.equal(turn.text, "Now it fits.");
      assert.equal(turn.compactions.length, 1);
      const log = await transcript(session);
      assert.deepEqual(log.slice(-2), ["ASSISTANT About what?", "ASSISTANT Now it fits."]);
      const shown = JSON.stringify((await session.view()).messagesJson) + (await neutralTexts(session));
      assert.ok(!shown.includes("About what?"));
    });

    it("case 156: gives up at the second overflow, with the provider's error as the cause", async () => {
      const session = await conversation(client, fixture.dialect);
      const second = fixture.overflow();
      const model = new FakeModel(throwing(fixture.overflow()), throwing(second));
      await assert.rejects(session.runTurn(model.call, "Go on."), (error: unknown) => {
        assert.ok(error instanceof ContextOverflowError);
        assert.equal(error.cause, second);
        assert.notEqual(error.why, "");
        return true;
      });
      assert.equal(model.views.length, 2);
      assert.equal((await transcript(session)).at(-1), "USER Go on.");
    });

    it("case 157: may compact again after a tool step that ended well, and with the next message", async () => {
      const session = await conversation(client, fixture.dialect);
      const model = new FakeModel(
        throwing(fixture.overflow()),
        fixture.whole(reading),
        throwing(fixture.overflow()),
        fixture.whole({ text: "It says 42." }),
      );
      const turn = await session.runTurn(model.call, "What is in a.txt?", { runTool: () => "42\n".repeat(3_000) });
      assert.equal(turn.text, "It says 42.");
      assert.equal(turn.compactions.length, 2);

      const failing = new FakeModel(throwing(fixture.overflow()), throwing(fixture.overflow()));
      await session.append(user("word ".repeat(2_000)));
      await session.append(user("word ".repeat(2_000)));
      await assert.rejects(session.runTurn(failing.call, []), ContextOverflowError);
      await session.append([user("word ".repeat(2_000)), user("word ".repeat(2_000))]);
      const again = new FakeModel(throwing(fixture.overflow()), fixture.whole({ text: "Here." }));
      const next = await session.runTurn(again.call, "Are you there?");
      assert.equal(next.text, "Here.");
      assert.equal(next.compactions.length, 1);
    });

    it("case 158: throws any other error as it is, and appends nothing", async () => {
      const session = await begin(fixture);
      const limited = Object.assign(new Error("429 too many tokens per minute, try again in 20s"), { status: 429 });
      const model = new FakeModel(throwing(limited));
      await assert.rejects(session.runTurn(model.call, "Hello"), (error: unknown) => error === limited);
      assert.deepEqual(await transcript(session), ["USER Hello"]);
      assert.equal(model.views.length, 1);
    });

    if (fixture.full !== undefined) {
      const { full } = fixture;
      it("case 156: takes a stop reason for an overflow", async () => {
        const session = await conversation(client, fixture.dialect);
        const model = new FakeModel(full(), fixture.whole({ text: "Now it fits." }));
        assert.equal((await session.runTurn(model.call, "Go on.")).text, "Now it fits.");
      });
    }

    if (fixture.events !== undefined) {
      const { events } = fixture;
      it("joins streams: of the SDK, and of a generator that hands the events through", async () => {
        const session = await begin(fixture);
        const handed: object[] = [];
        const model = new FakeModel({ [Symbol.asyncIterator]: () => later(events(reading)) }, async function* () {
          for await (const event of later(events({ text: "It says 42.", inputTokens: 100 }))) {
            handed.push(event);
            yield event;
          }
        });
        const turn = await session.runTurn(model.call, "What is in a.txt?", { runTool: () => "42" });
        assert.equal(turn.text, "It says 42.");
        assert.equal(handed.length, events({ text: "It says 42.", inputTokens: 100 }).length);
        assert.equal(turn.answer.usage?.inputTokens, 100);
        assert.deepEqual(await transcript(session), [
          "USER What is in a.txt?",
          'ASSISTANT I look. read({"path":"a.txt"})',
          "TOOL 42",
          "ASSISTANT It says 42.",
        ]);
      });

      it("case 156: compacts where a stream begins with an overflow", async () => {
        const session = await conversation(client, fixture.dialect);
        const model = new FakeModel(
          async function* () {
            await Promise.resolve();
            yield* [];
            throw fixture.overflow();
          },
          { [Symbol.asyncIterator]: () => later(events({ text: "Now it fits." })) },
        );
        assert.equal((await session.runTurn(model.call, "Go on.")).text, "Now it fits.");
      });
    }
  });
}

/** The same as a stream of an SDK. */
async function* later<T>(items: T[]): AsyncGenerator<T> {
  for (const item of items) {
    await Promise.resolve();
    yield item;
  }
}

async function neutralTexts(session: Session): Promise<string> {
  const view = await client.session(session.id).view();
  return view.neutral
    .flatMap(({ message }) => message?.parts ?? [])
    .map(({ kind }) => (kind.case === "text" ? kind.value.text : ""))
    .join("\n");
}

it("draws the turn's views as its options say", async () => {
  const session = await client.createSession({ dialect: "anthropic" });
  const thought = { type: "thinking", thinking: "A greeting.", signature: "c2ln" };
  await session.append([
    { role: "user", content: "Hello." },
    { role: "assistant", content: [thought, { type: "text", text: "Hello!" }] },
  ]);
  const answer = { role: "assistant", content: "Well." };
  const plain = new FakeModel(answer);
  await session.runTurn(plain.call, "How are you?", { thinking: "keep_all" });
  const drawn = new FakeModel(answer);
  await session.runTurn(drawn.call, "And now?", { thinking: "strip", markCacheBreakpoints: true });
  const [kept, stripped] = [plain, drawn].map(({ views }) => views[0]?.messagesJson.join() ?? "");
  assert.match(kept ?? "", /A greeting/);
  assert.doesNotMatch(kept ?? "", /cache_control/);
  assert.doesNotMatch(stripped ?? "", /A greeting/);
  assert.match(stripped ?? "", /cache_control/);
});
