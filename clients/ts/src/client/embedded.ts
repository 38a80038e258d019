import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createServer, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { checkedNumber, checkedSignal, checkKeys, checkList, checkObject, checkText } from "../contract/arguments.js";
import type { ClientOptions } from "./client.js";
import { Client } from "./client.js";
import { findBinary } from "../wire/binary.js";
import { defaults } from "../wire/defaults.js";
import { daemonStart } from "../wire/errors.js";
import { forward, pause } from "../wire/retry.js";

/** The options of an embedded daemon. */
export interface EmbeddedOptions extends Omit<ClientOptions, "address" | "tls" | "token" | "allowPlaintextToken"> {
  /**
   * The path of the `compactord` program. Default: `COMPACTORD_BINARY`, else the program that npm installed with this
   * package, else `compactord` on `PATH`.
   */
  readonly binary?: string;
  /** The file with the sessions. Default: a temporary one, removed at the end. */
  readonly store?: string;
  /** A configuration file, or its content as an object. Default: none. */
  readonly config?: string | Readonly<Record<string, unknown>>;
  /** More arguments of `compactord serve`. */
  readonly args?: readonly string[];
  /** The time limit of its start, in milliseconds. Default 30,000. */
  readonly startTimeoutMs?: number;
  /** Aborts the start. It has no effect later. */
  readonly signal?: AbortSignal;
}

/** All options of an embedded daemon. Other keys are refused: they may be misspelt. */
const takenOptions: Readonly<Record<keyof EmbeddedOptions, true>> = {
  binary: true,
  store: true,
  config: true,
  args: true,
  startTimeoutMs: true,
  signal: true,
  timeoutMs: true,
  compactionTimeoutMs: true,
  maxMessageBytes: true,
  keepaliveMs: true,
  retry: true,
  interceptors: true,
};

/** The time that a daemon has to end before it is killed. */
const stopTimeoutMs = 15_000;
/** How much of the daemon's stderr is kept for errors. */
const keptStderrChars = 4000;
/** The interval between checks of whether a starting daemon serves. */
const askMs = 20;
/** The lowest limit of any system for the path of a Unix socket is 104 bytes, with the zero at the end. */
const longestSocketBytes = 103;
/** The longest time of a timer, about 24 days. A longer one would end at once. */
const longestTimerMs = 2 ** 31 - 1;
/** The file name of the socket. */
const socketName = "socket";

/** A client of an embedded daemon. Closing it ends the daemon. */
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

  /** Closes the connection, ends the daemon and removes its temporary folder. */
  override async close(): Promise<void> {
    await super.close();
    this.ended ??= this.daemon.stop();
    await this.ended;
  }
}

/**
 * Starts a daemon for this program and returns a client of it. The daemon listens on a Unix socket in a temporary
 * folder, on Windows on a free port. Closing the client ends the daemon; until then, other programs can use
 * `client.address`. The daemon also ends with the program; on Windows it does not where the program is killed.
 *
 * ```ts
 * await using client = await embedded();
 * ```
 *
 * Throws with the reason `BINARY_NOT_FOUND` where the program does not exist, `DAEMON_START` where the daemon does not start.
 */
export async function embedded(options: EmbeddedOptions = {}): Promise<EmbeddedClient> {
  checkKeys("embedded", options, Object.keys(takenOptions));
  checkText("binary", options.binary);
  checkText("store", options.store);
  checkedSignal(options.signal);
  if (options.args !== undefined) {
    checkList("args", options.args);
    options.args.forEach((arg) => {
      checkText("args", arg);
    });
  }
  if (options.config !== undefined && typeof options.config !== "string") {
    checkObject("config", options.config);
  }
  const { startTimeoutMs: limit = defaults.startTimeoutMs } = options;
  const startTimeoutMs = checkedNumber("startTimeoutMs", limit, 0, longestTimerMs);
  const binary = findBinary(options.binary);
  const folder = await makeFolder();
  let daemon: Daemon | undefined;
  try {
    const address =
      process.platform === "win32" ? `127.0.0.1:${String(await freePort())}` : `unix:${join(folder, socketName)}`;
    const store = options.store ?? join(folder, "sessions.db");
    const config = options.config === undefined ? [] : ["--config", await configFile(options.config, folder)];
    daemon = new Daemon(
      binary,
      [
        "serve",
        "--listen",
        address,
        "--store",
        store,
        ...withoutToken(options.args),
        ...config,
        ...(options.args ?? []),
      ],
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

/** Only this user can connect to the socket, so that no token is needed. */
function withoutToken(args: readonly string[] = []): string[] {
  return process.platform === "win32" || args.some((arg) => arg.startsWith("--token")) ? [] : ["--no-auth"];
}

/** The options of the client: all but those of the daemon. */
function clientOptions(options: EmbeddedOptions, address: string): ClientOptions {
  const { timeoutMs, compactionTimeoutMs, maxMessageBytes, keepaliveMs, retry, interceptors } = options;
  return {
    address,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(compactionTimeoutMs !== undefined && { compactionTimeoutMs }),
    ...(maxMessageBytes !== undefined && { maxMessageBytes }),
    ...(keepaliveMs !== undefined && { keepaliveMs }),
    ...(retry !== undefined && { retry }),
    ...(interceptors !== undefined && { interceptors }),
  };
}

/** A process of `compactord serve` and its temporary folder. */
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
      // Ctrl-C in the terminal must not reach the daemon, since the program may still need it to stop cleanly.
      detached: process.platform !== "win32",
    });
    this.process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr = (this.stderr + text).slice(-keptStderrChars);
    });
    this.process.on("error", (cause) => {
      this.exited.abort(daemonStart(`cannot start ${binary}: ${cause.message}`, cause));
    });
    this.process.on("close", (code, signal) => {
      this.exited.abort(daemonStart(`${binary} ended with ${signal ?? `exit code ${String(code)}`}:\n${this.stderr}`));
    });
    process.on("exit", this.killAtExit);
    this.guard = guardOf(this.process, folder);
    // The daemon alone does not keep the program alive; running calls do.
    this.process.unref();
    unrefPipe(this.process);
  }

  /** Waits until the daemon serves. */
  async serving(client: Client, timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    const stop = new AbortController();
    const release = forward([this.exited.signal, signal], stop);
    const timer = setTimeout(() => {
      stop.abort(daemonStart(`the daemon did not serve within ${String(timeoutMs)} ms:\n${this.stderr}`));
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

  /** Ends the daemon, kills it where it does not end, and removes the folder. */
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
 * Starts a shell that waits for the end of its input, which comes when this program ends, even if it is killed. The
 * shell then ends the daemon and removes its temporary folder, which contains conversations where no store was given.
 * The shell has its own process group, so that Ctrl-C in a terminal does not end it.
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
  // Without the shell, the daemon still ends where the program exits normally.
  guard.on("error", () => undefined);
  guard.unref();
  if (guard.stdin instanceof Socket) {
    guard.stdin.unref();
  }
  return guard;
}

/** Lets the program end although the pipe of a child's stderr, a socket, is still open. */
function unrefPipe({ stderr }: ChildProcess): void {
  if (stderr instanceof Socket) {
    stderr.unref();
  }
}

/** Makes a temporary folder whose path is short enough for a Unix socket. */
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

/** Returns the path of the configuration file. An object is written to a file in the folder. */
async function configFile(config: string | Readonly<Record<string, unknown>>, folder: string): Promise<string> {
  if (typeof config === "string") {
    return config;
  }
  const path = join(folder, "config.yaml");
  // JSON is YAML. The file may contain keys of providers.
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
  return path;
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
