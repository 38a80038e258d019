import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, constants, mkdtemp, rm } from "node:fs/promises";
import { createServer, Socket } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Client } from "./client.js";
import { BinaryNotFoundError, DaemonStartError, UnavailableError } from "./errors.js";
import { forward, pause } from "./retry.js";
/** How long a daemon may take to end before it is killed. */
const stopTimeoutMs = 15_000;
/** How much of what the daemon writes to stderr is kept for an error. */
const keptStderrChars = 4000;
/** How often a daemon that starts is asked whether it serves. */
const askMs = 20;
/** A client of a daemon that ends with it. */
export class EmbeddedClient extends Client {
    daemon;
    ended;
    /** Use {@link embedded}. */
    constructor(options, daemon) {
        super(options);
        this.daemon = daemon;
    }
    /** The daemon's process id. */
    get pid() {
        return this.daemon.process.pid;
    }
    /** Ends the connection and the daemon, and removes its temporary folder. */
    async close() {
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
export async function embedded(options = {}) {
    const binary = await findBinary(options.binary);
    const folder = await mkdtemp(join(tmpdir(), "compactord-"));
    let daemon;
    try {
        const address = process.platform === "win32" ? `127.0.0.1:${String(await freePort())}` : `unix:${join(folder, "socket")}`;
        const store = options.store ?? join(folder, "sessions.db");
        const config = options.config === undefined ? [] : ["--config", options.config];
        daemon = new Daemon(binary, ["serve", "--listen", address, "--store", store, ...config, ...(options.args ?? [])], folder);
        const client = new EmbeddedClient({ ...options, address }, daemon);
        await daemon.serving(client, options.startTimeoutMs ?? 30_000, options.signal);
        return client;
    }
    catch (e) {
        await (daemon === undefined ? rm(folder, { recursive: true, force: true }) : daemon.stop());
        throw e;
    }
}
/** A process of `compactord serve`, and the folder that goes with it. */
class Daemon {
    process;
    folder;
    exited = new AbortController();
    guard;
    stderr = "";
    killAtExit = () => {
        this.process.kill("SIGTERM");
    };
    constructor(binary, args, folder) {
        this.folder = folder;
        this.process = spawn(binary, args, { stdio: ["ignore", "ignore", "pipe"] });
        this.process.stderr?.setEncoding("utf8").on("data", (text) => {
            this.stderr = (this.stderr + text).slice(-keptStderrChars);
        });
        this.process.on("error", (cause) => {
            this.exited.abort(new DaemonStartError(`cannot start ${binary}: ${cause.message}`, cause));
        });
        this.process.on("close", (code, signal) => {
            this.exited.abort(new DaemonStartError(`${binary} ended with ${signal ?? `exit code ${String(code)}`}:\n${this.stderr}`));
        });
        process.on("exit", this.killAtExit);
        this.guard = guardOf(this.process);
        // The daemon does not keep the program alive; who uses it does.
        this.process.unref();
        unrefPipe(this.process);
    }
    /** Waits until the daemon serves. */
    async serving(client, timeoutMs, signal) {
        const stop = new AbortController();
        const release = forward([this.exited.signal, signal], stop);
        const timer = setTimeout(() => {
            stop.abort(new DaemonStartError(`the daemon did not serve within ${String(timeoutMs)} ms:\n${this.stderr}`));
        }, timeoutMs);
        const asking = new Client({ address: client.address, retry: false });
        try {
            while (!(await serves(asking, stop.signal))) {
                await pause(askMs, stop.signal);
            }
        }
        finally {
            await asking.close();
            clearTimeout(timer);
            release();
        }
    }
    /** Has the daemon end, kills it where it does not, and removes the folder. */
    async stop() {
        process.off("exit", this.killAtExit);
        this.guard?.kill("SIGKILL");
        if (!this.exited.signal.aborted) {
            this.process.ref();
            const closed = once(this.process, "close");
            this.process.kill("SIGTERM");
            const timer = setTimeout(() => this.process.kill("SIGKILL"), stopTimeoutMs);
            await closed;
            clearTimeout(timer);
        }
        await rm(this.folder, { recursive: true, force: true });
    }
}
async function serves(client, signal) {
    try {
        return await client.health({ signal });
    }
    catch (e) {
        if (e instanceof UnavailableError) {
            return false;
        }
        throw e;
    }
}
/**
 * A shell that waits for the end of its input, which comes with the end of this program however it ends, and then ends the
 * daemon. It is in a process group of its own, so that Ctrl-C in a terminal leaves it to its work.
 */
function guardOf({ pid }) {
    if (pid === undefined || process.platform === "win32") {
        return undefined;
    }
    const script = 'read -r _; kill -TERM "$1" 2>/dev/null';
    const guard = spawn("/bin/sh", ["-c", script, "sh", String(pid)], {
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
function unrefPipe({ stderr }) {
    if (stderr instanceof Socket) {
        stderr.unref();
    }
}
async function findBinary(given) {
    const named = given ?? process.env["COMPACTORD_BINARY"];
    if (named !== undefined && named !== "") {
        await access(named, constants.X_OK).catch((cause) => {
            throw new BinaryNotFoundError(`there is no program ${named}`, cause);
        });
        return named;
    }
    const name = process.platform === "win32" ? "compactord.exe" : "compactord";
    for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
        const path = join(folder, name);
        const found = await access(path, constants.X_OK).then(() => true, () => false);
        if (folder !== "" && found) {
            return path;
        }
    }
    throw new BinaryNotFoundError("there is no compactord on PATH: give binary, or set COMPACTORD_BINARY");
}
async function freePort() {
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
