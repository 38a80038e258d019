import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { CompactordError, Client, embedded } from "../src/index.js";
import { binary, temporaryFolder } from "./fixture/daemon.js";

const program = binary();
const windows = { skip: process.platform === "win32" };

test("an embedded daemon serves until its client is closed, and leaves nothing behind", async () => {
  let address: string;
  let pid: number;
  {
    await using client = await embedded({ binary: program });
    address = client.address;
    pid = client.pid ?? 0;
    const session = await client.createSession();
    assert.equal((await session.append("Hi.")).nextIndex, 1);
    const other = new Client({ address });
    assert.equal(await other.health(), true);
    await other.close();
  }
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  assert.equal(existsSync(dirname(address.slice("unix:".length))), false);
});

test("a given store outlives the daemon", async () => {
  const store = join(temporaryFolder(), "mine.db");
  const first = await embedded({ binary: program, store });
  const { id } = await first.createSession();
  await first.close();
  await first.close();
  const second = await embedded({ binary: program, store, args: ["--log-level", "error"] });
  assert.equal((await second.session(id).info()).session?.sessionId, id);
  await second.close();
});

test("a configuration file names summarizers", async () => {
  const config = join(temporaryFolder(), "config.yaml");
  writeFileSync(config, "summarizers:\n  mine:\n    kind: openai\n    base_url: http://127.0.0.1:9/v1\n    model: m\n");
  await using client = await embedded({ binary: program, config });
  assert.ok((await client.strategies()).summarizers.some((s) => s.name === "mine"));
});

test("a configuration can be an object", async () => {
  const mine = { kind: "openai", base_url: "http://127.0.0.1:9/v1", model: "m" };
  await using client = await embedded({ binary: program, config: { summarizers: { mine } } });
  assert.ok((await client.strategies()).summarizers.some((s) => s.name === "mine"));
});

test("Ctrl-C, which goes to the program's process group, leaves the daemon alone", windows, async () => {
  await using client = await embedded({ binary: program });
  assert.ok(process.kill(-(client.pid ?? 0), 0), "the daemon leads no group of its own");
});

test("an embedded daemon starts where the temporary folder has a long path", windows, async () => {
  const { TMPDIR } = process.env;
  const long = join(temporaryFolder(), "a".repeat(100));
  mkdirSync(long);
  process.env["TMPDIR"] = long;
  try {
    await using client = await embedded({ binary: program });
    assert.equal(await client.health(), true);
    assert.deepEqual(readdirSync(long), []);
  } finally {
    delete process.env["TMPDIR"];
    Object.assign(process.env, TMPDIR === undefined ? {} : { TMPDIR });
  }
});

test("a program that is not there is told", async () => {
  await assert.rejects(embedded({ binary: "/nowhere/compactord" }), { reason: "BINARY_NOT_FOUND" });
  const { PATH, COMPACTORD_BINARY } = process.env;
  try {
    process.env["PATH"] = temporaryFolder();
    delete process.env["COMPACTORD_BINARY"];
    await assert.rejects(embedded(), /compactord is not on PATH: build it with/);
    process.env["PATH"] = dirname(program);
    const client = await embedded(program.endsWith("/compactord") ? {} : { binary: program });
    await client.close();
  } finally {
    process.env["PATH"] = PATH;
    if (COMPACTORD_BINARY !== undefined) {
      process.env["COMPACTORD_BINARY"] = COMPACTORD_BINARY;
    }
  }
});

test("a daemon that ends at once is told with what it wrote", async () => {
  await assert.rejects(embedded({ binary: program, args: ["--no-such-flag"] }), (e) => {
    assert.ok(e instanceof CompactordError && e.reason === "DAEMON_START");
    assert.match(e.message, /ended with exit code \d+:\n[^]*no-such-flag/);
    return true;
  });
});

test("a daemon that never serves is ended after the time limit", async () => {
  const idle = join(temporaryFolder(), "idle");
  writeFileSync(idle, "#!/bin/sh\nexec sleep 60\n", { mode: 0o755 });
  await assert.rejects(embedded({ binary: idle, startTimeoutMs: 100 }), /did not serve within 100 ms/);
});

test("a signal ends the start", async () => {
  const reason = new Error("no time");
  await assert.rejects(embedded({ binary: program, signal: AbortSignal.abort(reason) }), reason);
});

const using = `
  import { embedded } from ${JSON.stringify(join(import.meta.dirname, "../src/index.js"))};
  const client = await embedded({ binary: ${JSON.stringify(program)} });
  await client.createSession();
  console.log(client.pid);`;

/** Waits until a temporary folder holds nothing of the package. */
async function emptied(folder: string): Promise<void> {
  while (readdirSync(folder).some((name) => name.startsWith("compactord-"))) {
    await new Promise(setImmediate);
  }
}

/** Waits until no process has this id. */
async function ended(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise(setImmediate);
  }
}

test("a program that forgets to close ends, and its daemon with it", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", using], {
    timeout: 300_000,
  });
  await ended(Number(stdout));
});

test("the daemon ends with a program that is killed", windows, async () => {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", `${using}\nsetInterval(() => {}, 1000);`]);
  const [printed] = (await once(child.stdout, "data")) as [Buffer];
  child.kill("SIGKILL");
  await ended(Number(printed.toString()));
});

test("a temporary store does not outlive a program that forgets to close", windows, async () => {
  const folder = temporaryFolder();
  const env = { ...process.env, TMPDIR: folder };
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", using], { env, timeout: 300_000 });
  await emptied(folder);
});
