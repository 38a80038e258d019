import assert from "node:assert/strict";
import { it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { toBinary } from "@bufbuild/protobuf";

import { MessageSchema } from "../src/v1.js";
import { TestDaemon } from "./fixture/daemon.js";
import { Proxy } from "./fixture/proxy.js";

const turns = process.env["COMPACTORD_TEST_FULL"] === undefined ? 400 : 2_000;
const text = "The tide comes in at noon, and the boats lie at the pier. ".repeat(8);

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** What the heap holds that is still of use. */
function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

it(`a loop of ${String(turns)} turns moves what is new, and its memory stays flat`, async () => {
  const daemon = await TestDaemon.start(["--log-level", "error"]);
  const proxy = await Proxy.start(daemon.socket);
  const client = daemon.client({ address: proxy.address });
  const session = await client.createSession({
    dialect: "openai_chat",
    policy: {
      preset: "default",
      contextWindow: 16_000,
      trigger: { triggerTokens: 12_000 },
      strategy: { summarize: { recentTokens: 3_000 } },
    },
  });
  let calls = 0;
  let compactions = 0;
  let longest = 0;
  const moved: number[] = [];
  const heap: number[] = [];
  for (let turn = 1; turn <= turns; turn++) {
    const answers = turn % 4 === 0 ? [{ tool: `c${String(turn)}` }, {}] : [{}];
    const taken = await session.runTurn(
      (view) => {
        longest = Math.max(longest, view.length);
        calls++;
        const { tool } = answers.shift() ?? {};
        const tool_calls = [{ id: tool, type: "function", function: { name: "read", arguments: "{}" } }];
        return { role: "assistant", content: text, ...(tool !== undefined && { tool_calls }) };
      },
      `${String(turn)}: ${text}`,
      { runTool: () => text },
    );
    assert.equal(taken.done, true);
    compactions += taken.compactions.length;
    proxy.seen.length = 0;
    if (turn % (turns / 4) === 0) {
      moved.push(proxy.sent + proxy.received);
      heap.push(heapUsed());
    }
  }
  let appended = 0;
  for await (const { message } of session.messages()) {
    appended += message === undefined ? 0 : toBinary(MessageSchema, message).length;
  }
  assert.equal(calls, turns + turns / 4);
  assert.ok(compactions >= turns / 100, `compacted ${String(compactions)} times`);
  assert.ok(longest < 400, `a view had ${String(longest)} messages`);
  const [, half = 0, , whole = 0] = moved;
  // Besides what is appended and comes back once in views: reports, headers, and each compaction's new view.
  assert.ok(whole < 6 * appended, `moved ${String(whole)} bytes for ${String(appended)} appended`);
  assert.ok(whole - half < 1.3 * half, `moved ${String(half)} bytes, then ${String(whole - half)}`);
  const [early = 0, , , late = 0] = heap;
  assert.ok(late < 1.5 * early, `the heap grew from ${String(early)} to ${String(late)} bytes`);
});
