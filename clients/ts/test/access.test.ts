import assert from "node:assert/strict";
import { chmodSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import type { Client } from "../src/index.js";
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
