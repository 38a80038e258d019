import { readFileSync } from "node:fs";
import { connect as connectSocket } from "node:net";
import { connect as connectTLS } from "node:tls";
import type { Duplex } from "node:stream";
import type { ClientSessionOptions, SecureClientSessionOptions } from "node:http2";

import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type {
  CallOptions as ConnectOptions,
  ContextValues,
  Interceptor,
  StreamResponse,
  Transport,
  UnaryResponse,
} from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";

import { checkedNumber, checkedSignal, checkedTimeout, isObject } from "../contract/arguments.js";
import { defaults } from "./defaults.js";
import { clientClosed, DeadlineExceededError } from "./errors.js";
import { SteadySessionManager } from "./http2Sessions.js";
import { busyForMs, forward, isSafeToRepeat, pause, repeated } from "./retry.js";
import { absence, errorOfCall } from "./status.js";
import { tokenFault, tokenInterceptors, tokenOrigin } from "./token.js";

/**
 * The TLS settings, for a proxy in front of the daemon. Certificates and keys are paths of PEM files, or PEM itself.
 */
export interface TLSOptions {
  /** The certificates of the authorities to trust. Default: those that Node trusts. */
  readonly ca?: string | Uint8Array;
  /** The client's certificate, where the server asks for one. */
  readonly cert?: string | Uint8Array;
  /** The private key of `cert`. */
  readonly key?: string | Uint8Array;
  /** The name in the server's certificate. Default: the host of the address. */
  readonly serverName?: string;
}

/** The settings of a connection. */
export interface ConnectionOptions {
  /** Whether to use TLS; `true` trusts the certificates that Node trusts. Default: no TLS. */
  readonly tls?: TLSOptions | boolean;
  /**
   * The token, sent with each call as `authorization: Bearer ...`. A function is called before each call and returns
   * it. Needs `tls` or an address of this machine, since others on the network could read it otherwise. Default: that of
   * `COMPACTORD_TOKEN`, of the file `COMPACTORD_TOKEN_FILE`, or of the user's own daemon on this machine.
   */
  readonly token?: string | (() => string | Promise<string>);
  /** Whether a token may be sent without TLS to another machine. Default false. */
  readonly allowPlaintextToken?: boolean;
  /** The time limit of a call with its retries, in milliseconds; `Infinity` for none. Default 30,000. */
  readonly timeoutMs?: number;
  /** The time limit of a call that waits for a summary, in milliseconds. Default 900,000. */
  readonly compactionTimeoutMs?: number;
  /** The size of the largest request and response, in bytes. Default 67,108,864. */
  readonly maxMessageBytes?: number;
  /** Milliseconds without data on a used connection before it is checked. At least 10,000; default 30,000. */
  readonly keepaliveMs?: number;
  /**
   * Whether to send calls again: those that are safe to repeat where no daemon answers, and others than streams where
   * the daemon was too busy, when it says. Default true.
   */
  readonly retry?: boolean;
  /**
   * Interceptors of Connect, the first one outermost: for example one that sends the `traceparent` of the program's
   * trace. They see each call, and each repetition of it, before the token is added. Default: none.
   */
  readonly interceptors?: readonly Interceptor[];
}

/** The most bytes of a view in one response. The daemon makes the whole view again for each of them. */
const maxPageBytes = 32 << 20;
/** The length of a message is a number of 32 bits. */
const maxMaxMessageBytes = 2 ** 32 - 1;

/** The argument of `new Headers`. */
type HeaderFields = ConstructorParameters<typeof Headers>[0];

/** The options of a stub. */
export type StubOptions = Omit<ConnectOptions, "headers"> & { readonly headers?: HeaderFields };

/** The address of a daemon. */
interface Place {
  /** The URL of requests. */
  readonly url: string;
  /** The path of the Unix socket; undefined for a host and port. */
  readonly socket: string | undefined;
}

/**
 * A connection to a daemon. It is opened at the first call and again after it broke. It gives each call a time limit,
 * sends calls again that are safe to repeat, and converts errors to those of this package.
 */
export class Connection implements Transport {
  private readonly address: string;
  private readonly manager: SteadySessionManager;
  private readonly inner: Transport;
  private readonly closing = new AbortController();
  /** The most bytes of a view in one response. Half of the message limit is left for the rest of the response. */
  readonly pageBytes: number;
  private readonly timeoutMs: number;
  private readonly compactionTimeoutMs: number;
  private readonly retry: boolean;
  private readonly tokenOrigin: () => string;
  /** Whether a daemon was ever there. */
  private found = false;

  constructor(address: string, options: ConnectionOptions) {
    const tls = tlsOf(options.tls);
    const place = placeOf(address, tls !== undefined);
    this.address = address;
    this.timeoutMs = checkedTimeout("timeoutMs", options.timeoutMs ?? defaults.timeoutMs);
    this.compactionTimeoutMs = checkedTimeout(
      "compactionTimeoutMs",
      options.compactionTimeoutMs ?? defaults.compactionTimeoutMs,
    );
    this.retry = options.retry ?? true;
    const pingIntervalMs = options.keepaliveMs ?? defaults.keepaliveMs;
    checkedNumber("keepaliveMs", pingIntervalMs, defaults.leastKeepaliveMs);
    this.manager = new SteadySessionManager(place.url, { pingIntervalMs }, sessionOptions(place, tls));
    const maxBytes = checkedNumber(
      "maxMessageBytes",
      options.maxMessageBytes ?? defaults.maxMessageBytes,
      1,
      maxMaxMessageBytes,
    );
    this.pageBytes = Math.min(maxPageBytes, Math.floor(maxBytes / 2));
    this.tokenOrigin = () => tokenOrigin(options, { local: isLocal(place) });
    this.inner = createGrpcTransport({
      baseUrl: place.url,
      sessionManager: this.manager,
      acceptCompression: [],
      readMaxBytes: maxBytes,
      writeMaxBytes: maxBytes,
      interceptors: [
        ...(options.interceptors ?? []),
        ...tokenInterceptors(options, { local: isLocal(place), encrypted: tls !== undefined }),
      ],
    });
  }

  /** Closes the connection and ends all calls. */
  close(): void {
    this.closing.abort(clientClosed());
    this.manager.abort(new ConnectError("the client was closed", Code.Canceled));
  }

  /**
   * Whether a call that failed with this error may find a daemon later. One that was there once is waited for, as while it
   * restarts.
   */
  mayFindDaemon(error: unknown): boolean {
    return this.found || absence(error) === undefined;
  }

  /** Waits for the milliseconds. Throws where the connection is closed or a signal aborts before. */
  async pause(ms: number, ...signals: (AbortSignal | undefined)[]): Promise<void> {
    await pause(ms, this.closing.signal, ...signals);
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeaderFields,
    input: MessageInitShape<I>,
    contextValues?: ContextValues,
  ): Promise<UnaryResponse<I, O>> {
    checkedSignal(signal);
    const end = Date.now() + checkedTimeout("timeoutMs", timeoutMs ?? this.timeoutOf(method.name, input));
    const call = new AbortController();
    const release = forward([signal, this.closing.signal], call);
    let broken: unknown;
    const once = async (): Promise<UnaryResponse<I, O>> => {
      this.checkMayCall(signal);
      try {
        const left = remaining(end, broken);
        const answer = await this.inner.unary(method, call.signal, left, header, input, contextValues);
        this.found = true;
        return answer;
      } catch (e) {
        broken = this.errorOf(e, signal);
        this.found ||= absence(e) === undefined;
        throw broken;
      }
    };
    try {
      if (!this.retry) {
        return await once();
      }
      const wait = async (ms: number): Promise<void> => {
        const left = end - Date.now();
        if (ms >= left && busyForMs(broken) !== undefined) {
          throw broken;
        }
        await this.pause(Math.min(ms, left), signal);
      };
      return await repeated(once, wait, () => this.found && isSafeToRepeat(method, input));
    } finally {
      release();
    }
  }

  async stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeaderFields,
    input: AsyncIterable<MessageInitShape<I>>,
    contextValues?: ContextValues,
  ): Promise<StreamResponse<I, O>> {
    // A watch has no time limit. Pings find out whether the daemon is still there.
    const usual = method.name === "WatchSession" ? Number.POSITIVE_INFINITY : this.compactionTimeoutMs;
    const limit = checkedTimeout("timeoutMs", timeoutMs ?? usual);
    // In connect 0 means no limit.
    const limitMs = limit === Number.POSITIVE_INFINITY ? 0 : limit;
    return this.inner.stream(method, signal, limitMs, header, input, contextValues);
  }

  /** Makes a call with a stream of responses. Leaving the loop cancels it. */
  async *events<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    input: MessageInitShape<I>,
    options: StubOptions,
  ): AsyncGenerator<MessageShape<O>, void, undefined> {
    const { signal, timeoutMs, headers, contextValues } = options;
    checkedSignal(signal);
    this.checkMayCall(signal);
    const call = new AbortController();
    const release = forward([signal, this.closing.signal], call);
    try {
      const response = await this.stream(method, call.signal, timeoutMs, headers, only(input), contextValues);
      options.onHeader?.(response.header);
      const answers = response.message[Symbol.asyncIterator]();
      // connect stops the timer of an aborted call only when its last response, or its error, was requested.
      call.signal.addEventListener("abort", () => {
        drain(answers).catch(() => undefined);
      });
      for (let next = await answers.next(); next.done !== true; next = await answers.next()) {
        this.found = true;
        yield next.value;
      }
      call.signal.throwIfAborted();
      options.onTrailer?.(response.trailer);
    } catch (e) {
      throw this.errorOf(e, signal);
    } finally {
      release();
      call.abort();
    }
  }

  private timeoutOf(method: string, input: object): number {
    const writesSummary = method === "RevertToCheckpoint" && "summarize" in input && input.summarize === true;
    return writesSummary || method === "CommitCompaction" ? this.compactionTimeoutMs : this.timeoutMs;
  }

  /** Returns the reason of the signal for a call that it aborted, as fetch does. */
  private errorOf(thrown: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) {
      return signal.reason;
    }
    if (this.closing.signal.aborted) {
      return clientClosed();
    }
    const fault = tokenFault(thrown);
    return fault === undefined ? errorOfCall(thrown, this.address, this.tokenOrigin) : fault.cause;
  }

  private checkMayCall(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.closing.signal.aborted) {
      throw clientClosed();
    }
  }
}

/** Takes what has come of a call that was aborted. */
async function drain(answers: AsyncIterator<unknown>): Promise<void> {
  while ((await answers.next()).done !== true) {
    // Nobody wants it.
  }
}

/** The requests of a call that streams only its responses. */
async function* only<T>(message: T): AsyncGenerator<T> {
  yield await Promise.resolve(message);
}

/** The time left, in the form of connect: 0 means no limit. `broken` is why the call is made again. */
function remaining(end: number, broken: unknown): number {
  if (end === Number.POSITIVE_INFINITY) {
    return 0;
  }
  const left = end - Date.now();
  if (left <= 0) {
    throw new DeadlineExceededError("the daemon could not be reached within the call's time limit", {
      code: Code.DeadlineExceeded,
      reason: "DEADLINE_EXCEEDED",
      cause: broken,
    });
  }
  return left;
}

function tlsOf(tls: ConnectionOptions["tls"]): TLSOptions | undefined {
  switch (tls) {
    case undefined:
    case false:
      return undefined;
    case true:
      return {};
    default:
      if (!isObject(tls)) {
        throw new TypeError("tls: must be true, false or the options of TLS");
      }
      return tls;
  }
}

/** Parses HOST:PORT or unix:PATH. */
function placeOf(address: string, tls: boolean): Place {
  const scheme = tls ? "https" : "http";
  // Programs without type checks can pass other values.
  const given: unknown = address;
  if (typeof given !== "string") {
    throw new TypeError(`address: must be a string, and is ${typeof given}`);
  }
  if (address.startsWith("unix:")) {
    const path = address.slice("unix:".length);
    if (path === "") {
      throw new TypeError("address: unix: has no path: write unix:PATH");
    }
    return { url: `${scheme}://localhost`, socket: path };
  }
  const url = `${scheme}://${address}`;
  if (!/^(\[[0-9a-fA-F:.]+\]|[^:/?#@\s]+):\d{1,5}$/.test(address) || !URL.canParse(url)) {
    throw new TypeError(`address: ${JSON.stringify(address)} is not an address: write HOST:PORT or unix:PATH`);
  }
  return { url, socket: undefined };
}

/** Whether only this machine can reach a place. Of names, only localhost: what others mean may change. */
function isLocal({ url, socket }: Place): boolean {
  const host = socket === undefined ? new URL(url).hostname : "localhost";
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function sessionOptions(place: Place, tls: TLSOptions | undefined): ClientSessionOptions | SecureClientSessionOptions {
  const secure = tls === undefined ? {} : secureOptions(tls);
  const path = place.socket;
  if (path === undefined) {
    return secure;
  }
  const open = (): Duplex =>
    tls === undefined
      ? connectSocket(path)
      : connectTLS({ path, ALPNProtocols: ["h2"], servername: "localhost", ...secure });
  return { ...secure, createConnection: open };
}

function secureOptions({ ca, cert, key, serverName }: TLSOptions): SecureClientSessionOptions {
  return {
    ...(ca !== undefined && { ca: pem(ca) }),
    ...(cert !== undefined && { cert: pem(cert) }),
    ...(key !== undefined && { key: pem(key) }),
    ...(serverName !== undefined && { servername: serverName }),
  };
}

/** Returns PEM unchanged, or reads it from the file. */
function pem(given: string | Uint8Array): string | Buffer {
  if (typeof given !== "string") {
    return Buffer.from(given);
  }
  return given.includes("-----BEGIN ") ? given : readFileSync(given);
}
