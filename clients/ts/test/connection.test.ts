import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http2";
import { join } from "node:path";
import { before, test } from "node:test";
import { promisify } from "node:util";

import { Client, DeadlineExceededError, UnavailableError } from "../src/index.js";
import { madeToken, TestDaemon, temporaryFolder } from "./fixture/daemon.js";
import { keyPair, Proxy } from "./fixture/proxy.js";

let daemon: TestDaemon;

before(async () => {
  daemon = await TestDaemon.start();
});

/** An address of this machine where nothing listens. */
function nowhere(): string {
  return `unix:${join(temporaryFolder(), "nothing")}`;
}

test("an address alone will do, and with options behind it", () => {
  assert.equal(new Client("10.0.0.5:9999").address, "10.0.0.5:9999");
  assert.equal(new Client("unix:/tmp/x", { token: "secret" }).address, "unix:/tmp/x");
  assert.throws(() => new Client("nowhere"), /^TypeError: address: "nowhere" is not an address/);
  for (const given of [{}, undefined, { address: "" }, ""] as const) {
    assert.equal(new Client(given as string).address, "127.0.0.1:7440");
  }
});

test("an option that there is none of is told, and not taken", () => {
  const misspelt = { timout: 5 } as object;
  assert.throws(() => new Client(misspelt), /^TypeError: new Client: there is no timout: it takes address, tls, /);
  assert.throws(() => new Client("10.0.0.5:9999", misspelt), /there is no timout/);
});

test("what is PEM is taken as it is, and else is the path of a file", async () => {
  const proxy = await Proxy.start(daemon.socket, { tls: true, askForCertificate: true });
  const folder = temporaryFolder();
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(cert, keyPair.cert);
  writeFileSync(key, keyPair.key);
  const client = daemon.client({ address: proxy.address, tls: { ca: cert, cert, key, serverName: "localhost" } });
  assert.equal(await client.health(), true);
  assert.throws(() => new Client({ tls: { ca: join(folder, "none.pem") } }), { code: "ENOENT" });
});

test("options that make no sense are told at once", () => {
  for (const address of [
    "localhost",
    "http://localhost:1",
    "unix:",
    "a b:1",
    "user@host:1",
    "host:1/path",
    "host:99999",
  ]) {
    assert.throws(() => new Client({ address }), { name: "TypeError", message: /^address: / });
  }
  assert.throws(() => new Client({ keepaliveMs: 9999 }), RangeError);
  assert.throws(() => new Client({ timeoutMs: -1 }), RangeError);
  assert.throws(() => new Client({ maxMessageBytes: Number.NaN }), RangeError);
  for (const address of ["10.0.0.1:1", "example.org:1", "localhost.example.org:1", "[2001:db8::1]:1", "0.0.0.0:1"]) {
    assert.throws(() => new Client({ address, token: "secret" }), /token: without tls/);
    for (const options of [{ tls: true }, { allowPlaintextToken: true }]) {
      assert.equal(new Client({ address, token: "secret", ...options }).address, address);
    }
  }
  for (const address of ["127.0.0.1:1", "127.9.9.9:1", "localhost:1", "[::1]:1", "unix:/tmp/x"]) {
    assert.equal(new Client({ address, token: "secret" }).address, address);
  }
});

test("the address comes from the environment where none is given", () => {
  process.env["COMPACTORD_ADDR"] = "[::1]:7000";
  assert.equal(new Client().address, "[::1]:7000");
  process.env["COMPACTORD_ADDR"] = "";
  assert.equal(new Client().address, "127.0.0.1:7440");
  delete process.env["COMPACTORD_ADDR"];
});

test("a client works over TCP and over a Unix socket", async () => {
  const proxy = await Proxy.start(daemon.socket);
  for (const address of [proxy.address, daemon.address]) {
    const session = await daemon.client({ address }).createSession();
    assert.equal((await session.append("Hi.")).nextIndex, 1);
  }
  assert.ok(proxy.sent > 0 && proxy.received > 0);
});

test("TLS and a token reach a proxy that ends TLS", async () => {
  const proxy = await Proxy.start(daemon.socket, { tls: true });
  let asked = 0;
  const token = (): Promise<string> => {
    asked++;
    return Promise.resolve(madeToken());
  };
  const tls = { ca: keyPair.cert, serverName: "localhost" };
  const client = daemon.client({ address: proxy.address, tls, token });
  const session = await client.createSession();
  await session.append("Hi.");
  assert.equal(asked, 2);
  assert.ok(proxy.sent > 0);
});

test("the token goes as a bearer in the authorization header", async () => {
  const server = createServer();
  const seen = new Promise<string | undefined>((resolve) => {
    server.on("stream", (stream, headers) => {
      resolve(headers.authorization);
      stream.respond({ ":status": 401 }, { endStream: true });
    });
  });
  const path = join(temporaryFolder(), "socket");
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  const client = daemon.client({ address: `unix:${path}`, token: "abc" });
  await assert.rejects(client.health(), { name: "UnauthenticatedError" });
  assert.equal(await seen, "Bearer abc");
  await client.close();
  server.close();
});

test("a proxy that asks for the client's certificate gets it", async () => {
  const proxy = await Proxy.start(daemon.socket, { tls: true, askForCertificate: true });
  const tls = { ca: keyPair.cert, serverName: "localhost" };
  const bare = daemon.client({ address: proxy.address, tls, retry: false });
  await assert.rejects(bare.createSession(), UnavailableError);
  const known = daemon.client({
    address: proxy.address,
    tls: { ...tls, cert: Buffer.from(keyPair.cert), key: Buffer.from(keyPair.key) },
  });
  assert.equal(await known.health(), true);
});

test("a certificate that is not trusted, or of another name, is refused", async () => {
  const proxy = await Proxy.start(daemon.socket, { tls: true });
  for (const tls of [true, { ca: keyPair.cert, serverName: "example.com" }, { serverName: "localhost" }]) {
    await assert.rejects(
      daemon.client({ address: proxy.address, tls, retry: false }).createSession(),
      UnavailableError,
    );
  }
});

test("every call has a time limit, of its own or of the client", async () => {
  const { address } = await Proxy.start(nowhere().replace("unix:", ""));
  const client = daemon.client({ address, timeoutMs: 50 });
  await assert.rejects(client.createSession(), DeadlineExceededError);
  const patient = daemon.client({ address });
  await assert.rejects(patient.session("s").view({ timeoutMs: 50 }), DeadlineExceededError);
});

test("a daemon that is not there is UnavailableError after the tries", async () => {
  await assert.rejects(daemon.client({ address: nowhere(), retry: false }).createSession(), UnavailableError);
});

test("a daemon that is not there is not healthy", async () => {
  assert.equal(await daemon.client({ address: nowhere() }).health(), false);
});

test("a signal ends a call, and the pauses between its tries, with its reason", async () => {
  const stop = new AbortController();
  const { address } = await Proxy.start(nowhere().replace("unix:", ""));
  const calling = daemon.client({ address }).session("s").view({ signal: stop.signal });
  const reason = new Error("no longer wanted");
  setImmediate(() => {
    stop.abort(reason);
  });
  await assert.rejects(calling, reason);
  await assert.rejects(daemon.client().health({ signal: AbortSignal.abort(reason) }), reason);
});

test("a signal and the end of the client end calls that the daemon has not answered", async () => {
  const proxy = await Proxy.start(daemon.socket);
  const client = daemon.client({ address: proxy.address, retry: false });
  await client.health();
  proxy.dropAnswers = true;
  const reason = new Error("no longer wanted");
  const stop = new AbortController();
  const calling = assert.rejects(client.health({ signal: stop.signal }), reason);
  const waiting = assert.rejects(client.health(), { reason: "CLIENT_CLOSED" });
  setImmediate(() => {
    stop.abort(reason);
  });
  await calling;
  await client.close();
  await waiting;
});

test("a closed client refuses calls, and ends those that wait", async () => {
  const client = daemon.client({ address: nowhere() });
  const calling = assert.rejects(client.createSession(), { reason: "CLIENT_CLOSED" });
  await client.close();
  await calling;
  await client.close();
  await assert.rejects(client.createSession(), { reason: "CLIENT_CLOSED" });
  await assert.rejects(client.session("s").compact(), { reason: "CLIENT_CLOSED" });
});

test("a message over the client's limit is refused", async () => {
  const client = daemon.client({ maxMessageBytes: 2000 });
  const session = await client.createSession();
  await assert.rejects(session.append("x".repeat(3000)), { reason: "RESOURCE_EXHAUSTED" });
  await daemon.client().session(session.id).append("x".repeat(3000));
  await assert.rejects(session.view(), { reason: "RESOURCE_EXHAUSTED" });
});

test("calls go on after the daemon was killed and started again, and nothing is doubled", async () => {
  const own = await TestDaemon.start();
  const client = own.client();
  const session = await client.createSession({ dialect: "openai_chat" });
  await session.append("Message 0");
  for (let number = 1; number <= 4; number++) {
    await session.view();
    await own.kill();
    const appending = session.append(`Message ${number}`);
    await own.startAgain();
    assert.equal((await appending).firstIndex, number);
  }
  const view = await session.view();
  assert.equal(view.messages.length, 5);
  for (let number = 0; number <= 4; number++) {
    assert.equal(view.messagesJson.join("").split(`Message ${number}`).length, 2);
  }
});

test("connections that break amid calls lose and double nothing", async () => {
  const proxy = await Proxy.start(daemon.socket);
  const session = await daemon.client({ address: proxy.address }).createSession();
  for (let number = 0; number < 10; number++) {
    const appending = session.append(`Message ${number}`);
    setImmediate(() => {
      proxy.breakConnections();
    });
    assert.equal((await appending).firstIndex, number);
  }
});

const run = promisify(execFile);

/** Runs a program that uses the package, and returns what it prints; it has to end by itself. */
async function program(code: string): Promise<string> {
  const index = join(import.meta.dirname, "../src/index.js");
  const source = `import { Client, embedded } from ${JSON.stringify(index)};\n${code}`;
  const env = { ...process.env, COMPACTORD_ADDR: daemon.address };
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", source], { env, timeout: 300_000 });
  return stdout;
}

test("an open client that waits for nothing does not keep the program alive", async () => {
  assert.equal(await program("const c = new Client(); console.log(await c.health());"), "true\n");
});

test("a program ends after it left a watch and a compaction", async () => {
  const code = `
    const client = new Client();
    const session = await client.createSession();
    await session.append("Hi.");
    for await (const item of session.watch({ fromSequence: 0 })) break;
    for await (const event of session.compacting()) break;
    console.log("left");`;
  assert.equal(await program(code), "left\n");
});

test("a program ends after it left a stream whose next answers had come", async () => {
  const server = createServer();
  server.on("stream", (stream) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc+proto" });
    const empty = Buffer.alloc(5);
    stream.write(Buffer.concat([empty, empty, empty]));
  });
  const path = join(temporaryFolder(), "socket");
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  const code = `
    const client = new Client({ address: ${JSON.stringify(`unix:${path}`)}, token: "abc" });
    for await (const answer of client.compactions.compact({ target: { case: "sessionId", value: "s" } })) break;
    console.log("left");`;
  assert.equal(await program(code), "left\n");
  server.close();
});
