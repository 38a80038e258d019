import assert from "node:assert/strict";
import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { type Client, UnauthenticatedError, user } from "../src/index.js";
import { madeToken, temporaryFolder, TestDaemon } from "./fixture/daemon.js";

const wrong = `cptd_${"0".repeat(64)}`;
const daemon = await TestDaemon.start();

/** Whether the daemon takes calls of the client. */
async function works(client: Client): Promise<boolean> {
  try {
    await client.sessions.listSessions({});
    return true;
  } catch (e) {
    assert.equal((e as Error).name, "UnauthenticatedError");
    return false;
  }
}

test("the token of the own daemon is found", async () => {
  assert.ok(await works(daemon.client()));
  assert.ok(await works(daemon.client({ token: madeToken() })));
  assert.ok(!(await works(daemon.client({ token: wrong }))));
});

test("who sends a wrong token is told where it comes from", async () => {
  const own = process.env["XDG_STATE_HOME"];
  const state = temporaryFolder();
  const file = join(state, "compactord", "token");
  const told = async (token?: string): Promise<Set<string>> => {
    const session = daemon.client(token === undefined ? {} : { token }).session("one");
    const texts = new Set<string>();
    for (const call of [
      () => session.view(),
      () => session.compact(),
      () => session.sync([user("Hi.")]),
      () => session.watch().next(),
    ]) {
      await assert.rejects(call, (e) => {
        assert.ok(e instanceof UnauthenticatedError);
        texts.add(e.message.replace("the call has no token that this daemon accepts: the client sends ", ""));
        return true;
      });
    }
    return texts;
  };
  const others = "give it the option token, or set COMPACTORD_TOKEN or COMPACTORD_TOKEN_FILE";
  try {
    process.env["XDG_STATE_HOME"] = state;
    assert.deepEqual(await told(), new Set([`none, since there is no file ${file}: ${others}`]));
    mkdirSync(join(state, "compactord"));
    writeFileSync(file, wrong, { mode: 0o600 });
    assert.deepEqual(await told(), new Set([`that of the file ${file}`]));
    process.env["COMPACTORD_TOKEN_FILE"] = join(state, "none");
    assert.deepEqual(await told(), new Set([`none, since there is no file ${join(state, "none")}: ${others}`]));
    process.env["COMPACTORD_TOKEN"] = wrong;
    assert.deepEqual(await told(), new Set(["that of COMPACTORD_TOKEN"]));
    assert.deepEqual(await told(wrong), new Set(["the one of its option token"]));
  } finally {
    delete process.env["COMPACTORD_TOKEN"];
    delete process.env["COMPACTORD_TOKEN_FILE"];
    delete process.env["XDG_STATE_HOME"];
    if (own !== undefined) {
      process.env["XDG_STATE_HOME"] = own;
    }
  }
});

test("a given token comes first, then those of the environment", async () => {
  const file = join(temporaryFolder(), "token");
  writeFileSync(file, `${wrong}\n`, { mode: 0o600 });
  process.env["COMPACTORD_TOKEN_FILE"] = file;
  try {
    assert.ok(!(await works(daemon.client())));
    process.env["COMPACTORD_TOKEN"] = madeToken();
    assert.ok(await works(daemon.client()));
    assert.ok(!(await works(daemon.client({ token: wrong }))));
    assert.throws(() => daemon.client({ address: "example.org:1" }), /token: without tls/);
  } finally {
    delete process.env["COMPACTORD_TOKEN"];
    delete process.env["COMPACTORD_TOKEN_FILE"];
  }
});

test("the file is read again when it changes, and refused where others can read it", async () => {
  const file = join(temporaryFolder(), "token");
  process.env["COMPACTORD_TOKEN_FILE"] = file;
  try {
    const client = daemon.client();
    assert.ok(!(await works(client)));
    writeFileSync(file, madeToken(), { mode: 0o600 });
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(await works(client));
    chmodSync(file, 0o640);
    await assert.rejects(client.createSession(), { name: "TypeError", message: /chmod 600/ });
    rmSync(file);
    assert.ok(!(await works(client)));
  } finally {
    delete process.env["COMPACTORD_TOKEN_FILE"];
  }
});

test("the own token stays on this machine", () => {
  // Nothing would be sent, so that nothing is refused.
  daemon.client({ address: "example.org:1" });
});
