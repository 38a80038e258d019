import { connect as connectSocket } from "node:net";
import { connect as connectTLS } from "node:tls";
import { Code, ConnectError } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { ClientClosedError, DeadlineExceededError } from "./errors.js";
import { forward, isSafeToRepeat, pause, repeated } from "./retry.js";
import { errorOfCall } from "./status.js";
/** Where the daemon listens unless told otherwise. */
export const defaultAddress = "127.0.0.1:7440";
/** The daemon answers pings that come faster by closing the connection. */
const minKeepaliveMs = 10_000;
/**
 * A connection to a daemon: opens it when the first call is made and again when it broke, gives each call a time limit,
 * repeats what may be repeated, and turns errors into this package's.
 */
export class Connection {
    manager;
    inner;
    closing = new AbortController();
    timeoutMs;
    compactionTimeoutMs;
    retry;
    constructor(address, options) {
        const tls = options.tls === true ? {} : options.tls === false ? undefined : options.tls;
        const place = placeOf(address, tls !== undefined);
        this.timeoutMs = atLeast(0, "timeoutMs", options.timeoutMs ?? 30_000);
        this.compactionTimeoutMs = atLeast(0, "compactionTimeoutMs", options.compactionTimeoutMs ?? 15 * 60_000);
        this.retry = options.retry ?? true;
        this.manager = new Http2SessionManager(place.url, { pingIntervalMs: atLeast(minKeepaliveMs, "keepaliveMs", options.keepaliveMs ?? 30_000) }, sessionOptions(place, tls));
        const maxBytes = atLeast(1, "maxMessageBytes", options.maxMessageBytes ?? 64 << 20);
        this.inner = createGrpcTransport({
            baseUrl: place.url,
            sessionManager: this.manager,
            acceptCompression: [],
            readMaxBytes: maxBytes,
            writeMaxBytes: maxBytes,
            interceptors: tokenInterceptors(options, tls !== undefined || place.socket !== undefined),
        });
    }
    /** Ends the connection and all calls. */
    close() {
        this.closing.abort(new ClientClosedError());
        this.manager.abort(new ConnectError("the client was closed", Code.Canceled));
    }
    /** Waits so many milliseconds, at most until the connection is closed or a signal fires: then it throws. */
    async pause(ms, ...signals) {
        await pause(ms, this.closing.signal, ...signals);
    }
    async unary(method, signal, timeoutMs, header, input, contextValues) {
        const end = deadline(timeoutMs ?? this.timeoutOf(method.name, input));
        let broken;
        const once = async () => {
            this.checkMayCall(signal);
            try {
                return await this.inner.unary(method, signal, remaining(end, broken), header, input, contextValues);
            }
            catch (e) {
                broken = this.errorOf(e, signal);
                throw broken;
            }
        };
        if (!this.retry || !isSafeToRepeat(method, input)) {
            return once();
        }
        return repeated(once, (ms) => this.pause(Math.min(ms, end - Date.now()), signal));
    }
    async stream(method, signal, timeoutMs, header, input, contextValues) {
        // A watch lasts as long as its reader wants: pings tell whether the daemon is there.
        const limit = timeoutMs ?? (method.name === "WatchSession" ? 0 : this.compactionTimeoutMs);
        return this.inner.stream(method, signal, limit, header, input, contextValues);
    }
    /** Makes a call that streams its answers. Its reader cancels it by leaving the loop. */
    async *events(method, input, options) {
        const { signal, timeoutMs, headers, contextValues } = options;
        this.checkMayCall(signal);
        const call = new AbortController();
        const release = forward([signal], call);
        try {
            const response = await this.stream(method, call.signal, timeoutMs, headers, only(input), contextValues);
            options.onHeader?.(response.header);
            const answers = response.message[Symbol.asyncIterator]();
            // connect stops the timer of a call that was aborted only when its answers are asked for once more.
            call.signal.addEventListener("abort", () => {
                answers.next().catch(() => undefined);
            });
            for (let next = await answers.next(); next.done !== true; next = await answers.next()) {
                yield next.value;
            }
            call.signal.throwIfAborted();
            options.onTrailer?.(response.trailer);
        }
        catch (e) {
            throw this.errorOf(e, signal);
        }
        finally {
            release();
            call.abort();
        }
    }
    timeoutOf(method, input) {
        const writesSummary = method === "RevertToCheckpoint" && "summarize" in input && input.summarize === true;
        return writesSummary || method === "CommitCompaction" ? this.compactionTimeoutMs : this.timeoutMs;
    }
    /** Who aborts a call gets the reason that they gave, as from fetch. */
    errorOf(thrown, signal) {
        if (signal?.aborted) {
            return signal.reason;
        }
        return this.closing.signal.aborted ? new ClientClosedError() : errorOfCall(thrown);
    }
    checkMayCall(signal) {
        signal?.throwIfAborted();
        if (this.closing.signal.aborted) {
            throw new ClientClosedError();
        }
    }
}
/** What a call that streams only its answers sends. */
async function* only(message) {
    yield await Promise.resolve(message);
}
/** When a call with this time limit has to have ended, by Date.now(). */
function deadline(limitMs) {
    return limitMs <= 0 ? Number.POSITIVE_INFINITY : Date.now() + limitMs;
}
/** What is left until then, as connect wants it: 0 is no limit. `broken` is why the call has to be made again. */
function remaining(end, broken) {
    if (end === Number.POSITIVE_INFINITY) {
        return 0;
    }
    const left = end - Date.now();
    if (left <= 0) {
        throw new DeadlineExceededError("the daemon was out of reach until the call's time limit had passed", {
            code: Code.DeadlineExceeded,
            reason: "DEADLINE_EXCEEDED",
            cause: broken,
        });
    }
    return left;
}
/** Where HOST:PORT or unix:PATH is. */
function placeOf(address, tls) {
    const scheme = tls ? "https" : "http";
    if (address.startsWith("unix:")) {
        const path = address.slice("unix:".length);
        if (path === "") {
            throw new TypeError("address: unix: needs the path of a socket after it");
        }
        return { url: `${scheme}://localhost`, socket: path };
    }
    if (!/^(\[[0-9a-fA-F:.]+\]|[^:/?#@\s]+):\d{1,5}$/.test(address)) {
        throw new TypeError(`address: ${JSON.stringify(address)} is none: write HOST:PORT or unix:PATH`);
    }
    return { url: `${scheme}://${address}`, socket: undefined };
}
function sessionOptions(place, tls) {
    const secure = tls === undefined ? {} : secureOptions(tls);
    const path = place.socket;
    if (path === undefined) {
        return secure;
    }
    const open = () => tls === undefined
        ? connectSocket(path)
        : connectTLS({ path, ALPNProtocols: ["h2"], servername: "localhost", ...secure });
    return { ...secure, createConnection: open };
}
function secureOptions({ ca, cert, key, serverName }) {
    return {
        ...(ca !== undefined && { ca: pem(ca) }),
        ...(cert !== undefined && { cert: pem(cert) }),
        ...(key !== undefined && { key: pem(key) }),
        ...(serverName !== undefined && { servername: serverName }),
    };
}
function pem(text) {
    return typeof text === "string" ? text : Buffer.from(text);
}
function tokenInterceptors({ token, allowPlaintextToken }, isPrivate) {
    if (token === undefined) {
        return [];
    }
    if (!isPrivate && allowPlaintextToken !== true) {
        throw new TypeError("token: without tls the network could read it; set tls, or allowPlaintextToken");
    }
    return [
        (next) => async (request) => {
            request.header.set("authorization", `Bearer ${typeof token === "string" ? token : await token()}`);
            return next(request);
        },
    ];
}
function atLeast(minimum, name, value) {
    if (!(value >= minimum)) {
        throw new RangeError(`${name}: ${String(value)} is less than ${String(minimum)}`);
    }
    return value;
}
