import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { access, constants, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createServer, Socket } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

import { checkedNumber } from "../contract/arguments.js";
import type { ClientOptions } from "./client.js";
import { Client } from "./client.js";
import { defaults } from "../wire/defaults.js";
import { BinaryNotFoundError, DaemonStartError } from "../wire/errors.js";
import { forward, pause } from "../wire/retry.js";

/** How a daemon of the program's own is started. */
export interface EmbeddedOptions extends Omit<ClientOptions, "address" | "tls" | "token" | "allowPlaintextToken"> {
  /** The `compactord` program. Default: `COMPACTORD_BINARY`, else the one on `PATH`. */
  readonly binary?: string;
  /** The file that it keeps its sessions in. Default: a temporary one, removed at the end. */
  readonly store?: string;
  /** Its configuration file, or what stands in one as an object. Default: none. */
  readonly config?: string | Readonly<Record<string, unknown>>;
  /** More arguments of `compactord serve`. */
  readonly args?: readonly string[];
  /** How long it may take to be ready, in milliseconds. Default 30,000. */
  readonly startTimeoutMs?: number;
  /** Ends the start, and only that. */
  readonly signal?: AbortSignal;
}

/** How long a daemon may take to end before it is killed. */
const stopTimeoutMs = 15_000;
/** How much of what the daemon writes to stderr is kept for an error. */
const keptStderrChars = 4000;
/** How often a daemon that starts is asked whether it serves. */
const askMs = 20;
/** The system's limit of the path of a Unix socket is 104 bytes where it is lowest, the zero at the end among them. */
const longestSocketBytes = 103;
/** The longest time that timers take, some 24 days: a longer one ends at once. */
const longestTimerMs = 2 ** 31 - 1;
/** The name of the socket in its folder. */
const socketName = "socket";

/** A client of a daemon that ends with it. */
export class EmbeddedClient extends Client {
  private readonly daemon: Daemon;
  private ended: Promise<void> | undefined;

  /** @internal */
  constructor(options: ClientOptions, daemon: Daemon) {
    super(options);
    this.daemon = daemon;
  }

  /** The daemon's process id. */
  get pid(): number | undefined {
    return this.daemon.process.pid;
  }

  /** Ends the connection and the daemon, and removes its temporary folder. */
  override async close(): Promise<void> {
    await super.close();
    this.ended ??= this.daemon.stop();
    await this.ended;
  }
}

/**
 * Starts a daemon for this program alone, on a Unix socket in a temporary folder (on Windows: on a free port of this
 * machine), and returns a client of it. Closing the client ends the daemon; `client.address` serves other programs until
 * then. The daemon ends with the program, too; on Windows not where that is killed.
 *
 * ```ts
 * await using client = await embedded();
 * ```
 *
 * Throws BinaryNotFoundError where there is no such program, DaemonStartError where it does not come to serve.
 */
export async function embedded(options: EmbeddedOptions = {}): Promise<EmbeddedClient> {
  const { startTimeoutMs: limit = defaults.startTimeoutMs } = options;
  const startTimeoutMs = checkedNumber("startTimeoutMs", limit, 0, longestTimerMs);
  const binary = await findBinary(options.binary);
  const folder = await makeFolder();
  let daemon: Daemon | undefined;
  try {
    const address =
      process.platform === "win32" ? `127.0.0.1:${String(await freePort())}` : `unix:${join(folder, socketName)}`;
    const store = options.store ?? join(folder, "sessions.db");
    const config = options.config === undefined ? [] : ["--config", await configFile(options.config, folder)];
    daemon = new Daemon(
      binary,
      ["serve", "--listen", address, "--store", store, ...config, ...(options.args ?? [])],
      folder,
    );
    const client = new EmbeddedClient(clientOptions(options, address), daemon);
    await daemon.serving(client, startTimeoutMs, options.signal);
    return client;
  } catch (e) {
    await (daemon === undefined ? rm(folder, { recursive: true, force: true }) : daemon.stop());
    throw e;
  }
}

/** What a client of the daemon is told: the options without those of the daemon itself. */
function clientOptions(options: EmbeddedOptions, address: string): ClientOptions {
  const { timeoutMs, compactionTimeoutMs, maxMessageBytes, keepaliveMs, retry } = options;
  return {
    address,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(compactionTimeoutMs !== undefined && { compactionTimeoutMs }),
    ...(maxMessageBytes !== undefined && { maxMessageBytes }),
    ...(keepaliveMs !== undefined && { keepaliveMs }),
    ...(retry !== undefined && { retry }),
  };
}

/** A process of `compactord serve`, and the folder that goes with it. */
class Daemon {
  readonly process: ChildProcess;
  private readonly folder: string;
  private readonly exited = new AbortController();
  private readonly guard: ChildProcess | undefined;
  private stderr = "";
  private readonly killAtExit = (): void => {
    this.process.kill("SIGTERM");
  };

  constructor(binary: string, args: readonly string[], folder: string) {
    this.folder = folder;
    this.process = spawn(binary, args, {
      stdio: ["ignore", "ignore", "pipe"],
      // A Ctrl-C in the terminal is for the program, which may want to ask the daemon to stop something.
      detached: process.platform !== "win32",
    });
    this.process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr = (this.stderr + text).slice(-keptStderrChars);
    });
    this.process.on("error", (cause) => {
      this.exited.abort(new DaemonStartError(`cannot start ${binary}: ${cause.message}`, cause));
    });
    this.process.on("close", (code, signal) => {
      this.exited.abort(
        new DaemonStartError(`${binary} ended with ${signal ?? `exit code ${String(code)}`}:\n${this.stderr}`),
      );
    });
    process.on("exit", this.killAtExit);
    this.guard = guardOf(this.process, folder);
    // The daemon does not keep the program alive; who uses it does.
    this.process.unref();
    unrefPipe(this.process);
  }

  /** Waits until the daemon serves. */
  async serving(client: Client, timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    const stop = new AbortController();
    const release = forward([this.exited.signal, signal], stop);
    const timer = setTimeout(() => {
      stop.abort(new DaemonStartError(`the daemon did not serve within ${String(timeoutMs)} ms:\n${this.stderr}`));
    }, timeoutMs);
    const asking = new Client({ address: client.address, retry: false });
    try {
      while (!(await asking.health({ signal: stop.signal }))) {
        await pause(askMs, stop.signal);
      }
    } finally {
      await asking.close();
      clearTimeout(timer);
      release();
    }
  }

  /** Has the daemon end, kills it where it does not, and removes the folder. */
  async stop(): Promise<void> {
    process.off("exit", this.killAtExit);
    if (!this.exited.signal.aborted) {
      this.process.ref();
      const closed = once(this.process, "close");
      this.process.kill("SIGTERM");
      const timer = setTimeout(() => this.process.kill("SIGKILL"), stopTimeoutMs);
      await closed;
      clearTimeout(timer);
    }
    await rm(this.folder, { recursive: true, force: true });
    this.guard?.kill("SIGKILL");
  }
}

/**
 * A shell that waits for the end of its input, which comes with the end of this program however it ends, then ends the
 * daemon and removes its temporary folder, which holds a conversation where no store was given. It is in a process group of its own, so that Ctrl-C in a terminal leaves it to its work.
 */
function guardOf({ pid }: ChildProcess, folder: string): ChildProcess | undefined {
  if (pid === undefined || process.platform === "win32") {
    return undefined;
  }
  const script = `read -r _; kill -TERM "$1"; left=${String(stopTimeoutMs / 100)}
while kill -0 "$1" && [ $left -gt 0 ]; do sleep 0.1; left=$((left - 1)); done
kill -KILL "$1"; rm -rf -- "$2"`;
  const guard = spawn("/bin/sh", ["-c", script, "sh", String(pid), folder], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // Without it the daemon still ends where the program does so in good order.
  guard.on("error", () => undefined);
  guard.unref();
  if (guard.stdin instanceof Socket) {
    guard.stdin.unref();
  }
  return guard;
}

/** The pipe of a child's stderr is a socket, which would keep the program alive. */
function unrefPipe({ stderr }: ChildProcess): void {
  if (stderr instanceof Socket) {
    stderr.unref();
  }
}

/** A temporary folder that a Unix socket can be in. */
async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "compactord-"));
  if (process.platform === "win32" || Buffer.byteLength(join(folder, socketName)) <= longestSocketBytes) {
    return folder;
  }
  const short = await stat("/tmp").catch(() => undefined);
  if (short?.isDirectory() !== true) {
    return folder;
  }
  await rm(folder, { recursive: true });
  return mkdtemp("/tmp/compactord-");
}

/** The path of a configuration file; one that is given as an object is written to the folder. */
async function configFile(config: string | Readonly<Record<string, unknown>>, folder: string): Promise<string> {
  if (typeof config === "string") {
    return config;
  }
  const path = join(folder, "config.yaml");
  // JSON is YAML. Keys of providers may stand in it.
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

async function findBinary(given: string | undefined): Promise<string> {
  const named = given ?? process.env[defaults.binaryVariable];
  if (named !== undefined && named !== "") {
    await access(named, constants.X_OK).catch((cause: unknown) => {
      throw new BinaryNotFoundError(`there is no program ${named}`, cause);
    });
    return named;
  }
  const name = process.platform === "win32" ? "compactord.exe" : "compactord";
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, name);
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (folder !== "" && found) {
      return path;
    }
  }
  throw new BinaryNotFoundError("there is no compactord on PATH: give binary, or set COMPACTORD_BINARY");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") {
    throw new TypeError("a listening socket has no port");
  }
  return address.port;
}
