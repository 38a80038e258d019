import assert from "node:assert/strict";
import { before, test } from "node:test";

import type { Client } from "../src/index.js";
import type { EstimatorName, RoleName } from "../src/types.js";
import { assistant, user } from "../src/index.js";
import {
  BlockPlace,
  Estimator,
  MessageState,
  RecordKind,
  Role,
  SectionRole,
  SplitTurn,
  StopReason,
  SummaryFallback,
  SummaryPlacement,
  ThinkingPolicy,
} from "../src/v1.js";
import {
  estimatorOf,
  placeOf,
  recordKindsOf,
  rolesOf,
  statesOf,
  stopReasonOf,
  thinkingOf,
  word,
} from "../src/contract/words.js";
import * as v1 from "../src/v1.js";
import { TestDaemon } from "./fixture/daemon.js";

let client: Client;

before(async () => {
  client = (await TestDaemon.start()).client();
});

/** The words of an enum's values. */
function wordsOf(values: object): string[] {
  return Object.keys(values)
    .filter((name) => Number.isNaN(Number(name)) && name !== "UNSPECIFIED")
    .map((name) => name.toLowerCase());
}

test("each value of the contract has its word", () => {
  const convert: [object, (said: never) => number | undefined][] = [
    [Estimator, estimatorOf],
    [Role, (said) => rolesOf([said])[0]],
    [MessageState, (said) => statesOf([said])[0]],
    [RecordKind, (said) => recordKindsOf([said])[0]],
    [BlockPlace, placeOf],
    [StopReason, stopReasonOf],
    [ThinkingPolicy, thinkingOf],
  ];
  for (const [values, valueOf] of convert) {
    for (const said of wordsOf(values)) {
      assert.equal(valueOf(said as never), Reflect.get(values, said.toUpperCase()), said);
    }
    assert.throws(() => valueOf("toString" as never), TypeError);
  }
  assert.equal(estimatorOf(Estimator.CHARS4), Estimator.CHARS4);
});

test("each value of each enum has a word of its own, the same that options take", () => {
  const enums = Object.entries(v1).filter(([, of]) => typeof of === "object" && "UNSPECIFIED" in of);
  assert.ok(enums.length > 20);
  for (const [name, of] of enums) {
    const values = of as unknown as Record<string, string | number>;
    const said = Object.values(values)
      .filter((value) => typeof value === "number")
      .map((value) => word(values, value) as string);
    assert.equal(said[0], "", name);
    assert.ok(
      said.slice(1).every((one) => /^[a-z][a-z0-9_]*$/.test(one) && one !== "unknown"),
      name,
    );
    assert.equal(new Set(said).size, said.length, name);
    assert.equal(word(values, 9_999), "unknown");
  }
  assert.deepEqual(rolesOf([word(Role, Role.TOOL) as "tool"]), [Role.TOOL]);
});

test("sessions, searches and counts take words", async () => {
  const session = await client.createSession({ estimator: "o200k_base" });
  assert.equal((await session.info()).session?.estimator, Estimator.O200K_BASE);
  await session.append([user("the needle"), assistant("a needle, too")]);
  const found: number[] = [];
  for await (const { index } of session.search({ words: "needle", roles: ["assistant"], states: ["active"] })) {
    found.push(index);
  }
  assert.deepEqual(found, [1]);
  const counted = await client.countTokens({ what: { case: "text", value: "12345678" }, estimator: "chars4" });
  assert.equal(counted.tokens, 2);
  const wrong = "words" as EstimatorName;
  await assert.rejects(
    client.createSession({ estimator: wrong }),
    /^TypeError: estimator: "words" is unknown: use one of chars4, /,
  );
  const nobody = "robot" as RoleName;
  assert.throws(
    () => session.search({ words: "x", roles: [nobody] }),
    /^TypeError: roles: "robot" is unknown: use one of system, /,
  );
});

test("usage, model and stop reason can be told beside a provider's JSON", async () => {
  const session = await client.createSession({ dialect: "anthropic" });
  await session.append("Hi.");
  const message = { role: "assistant", content: [{ type: "text", text: "Hello." }] };
  await session.append(message, { usage: { inputTokens: 70, outputTokens: 3 }, model: "m-1", stopReason: "end" });
  const logged = [];
  for await (const { message: one } of session.messages()) {
    logged.push(one);
  }
  assert.deepEqual(
    [logged[1]?.usage?.inputTokens, logged[1]?.usage?.outputTokens, logged[1]?.model, logged[1]?.stopReason],
    [70, 3, "m-1", StopReason.END],
  );
  await assert.rejects(
    session.append("Hi.", { model: "m-1" }),
    /^TypeError: append: usage, model and stopReason go with/,
  );
});

test("a policy takes the words of enums", async () => {
  const summarize = { splitTurn: "off" };
  const session = await client.createSession({
    policy: {
      thinking: "adaptive",
      summary: {
        placement: "pair",
        fallback: "SUMMARY_FALLBACK_FAIL",
        sections: [{ title: "Goal", role: "goal" as "SECTION_ROLE_GOAL" }],
      },
      strategy: { firstEffective: { strategies: [{ summarize: summarize as { splitTurn: "SPLIT_TURN_OFF" } }] } },
    },
  });
  const policy = (await session.info()).session?.policy;
  assert.equal(policy?.thinking, ThinkingPolicy.ADAPTIVE);
  assert.equal(policy.summary?.placement, SummaryPlacement.PAIR);
  assert.equal(policy.summary.fallback, SummaryFallback.FAIL);
  assert.equal(policy.summary.sections?.sections[0]?.role, SectionRole.GOAL);
  const { kind } = policy.strategy ?? {};
  const [inner] = kind?.case === "firstEffective" ? kind.value.strategies : [];
  assert.equal(inner?.kind.case === "summarize" && inner.kind.value.splitTurn, SplitTurn.OFF);
  const typo = client.createSession({ policy: { thinking: "adaptiv" as "adaptive" } });
  await assert.rejects(typo, /^TypeError: policy\.thinking: "adaptiv" is unknown: use one of keep_valid/);
});
