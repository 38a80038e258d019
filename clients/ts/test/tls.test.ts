import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

import type { ClientOptions } from "../src/index.js";
import { Client } from "../src/index.js";
import { atEnd } from "./fixture/cleanup.js";
import { binary, temporaryFolder } from "./fixture/daemon.js";
import { keyPair } from "./fixture/proxy.js";

/** The address of a daemon that speaks TLS, and takes only clients with a certificate. */
async function encrypted(): Promise<string> {
  const folder = temporaryFolder();
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(cert, keyPair.cert);
  writeFileSync(key, keyPair.key);
  chmodSync(key, 0o600);
  const args = ["serve", "--listen", "127.0.0.1:0", "--store", join(folder, "sessions.db")];
  args.push("--tls-cert", cert, "--tls-key", key, "--tls-client-ca", cert);
  const daemon = spawn(binary(), args, { stdio: ["ignore", "pipe", "ignore"] });
  atEnd(async () => {
    const exited = once(daemon, "exit");
    daemon.kill();
    await exited;
  });
  const [line] = (await once(createInterface(daemon.stdout), "line")) as [string];
  return line.replace("compactord listens on ", "").replace(/,.*/, "");
}

const address = await encrypted();
const trusting = { ca: keyPair.cert, serverName: "localhost" };

function clientOf(tls: ClientOptions["tls"]): Client {
  const client = new Client({ address, retry: false, ...(tls !== undefined && { tls }) });
  atEnd(() => client.close());
  return client;
}

test("clients speak TLS with the daemon", async () => {
  const client = clientOf({ ...trusting, cert: keyPair.cert, key: keyPair.key });
  const session = await client.createSession();
  await session.append("hello");
  assert.equal((await session.view()).neutral.length, 1);
});

test("who shows no certificate is refused", async () => {
  for (const tls of [undefined, trusting]) {
    await assert.rejects(clientOf(tls).createSession(), { name: "UnavailableError" });
  }
});
