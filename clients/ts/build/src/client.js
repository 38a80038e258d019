import { randomUUID } from "node:crypto";
import { Connection, defaultAddress } from "./connection.js";
import { SessionExistsError } from "./errors.js";
import { checkHealth } from "./health.js";
import { policyOf } from "./options.js";
import { pages } from "./pages.js";
import { callOptions, requestIdOf, Session } from "./session.js";
import { stubsOf } from "./stubs.js";
import { CompactionService, SessionOrder, SessionService } from "./v1.js";
/**
 * A connection to a compactord daemon. It opens when the first call is made, and again when it broke. One client is enough
 * for a program.
 *
 * ```ts
 * await using client = new Client({ address: "127.0.0.1:7440" });
 * ```
 *
 * An open connection without a call on it does not keep the program alive; a watch or a compaction does.
 */
export class Client {
    /** Where the daemon listens. */
    address;
    /** The stubs of sessions, for what is not wrapped: with time limits, repetitions and this package's errors. */
    sessions;
    /** The stubs of compactions and views. */
    compactions;
    /** @internal */
    connection;
    /** @internal */
    retry;
    /** Makes no call. Throws a TypeError or RangeError for options that make no sense. */
    constructor(options = {}) {
        this.address = options.address ?? (process.env["COMPACTORD_ADDR"] || defaultAddress);
        this.connection = new Connection(this.address, options);
        this.retry = options.retry ?? true;
        this.sessions = stubsOf(SessionService, this.connection);
        this.compactions = stubsOf(CompactionService, this.connection);
    }
    /** Ends the connection and all calls on it, which reject with ClientClosedError. Later calls do, too. */
    close() {
        this.connection.close();
        return Promise.resolve();
    }
    /** The same as {@link close}. */
    async [Symbol.asyncDispose]() {
        await this.close();
    }
    /** Begins a session. Throws SessionExistsError where the id is in use. */
    async createSession(options = {}) {
        const session = this.session(options.sessionId ?? randomUUID(), options.dialect);
        await this.sessions.createSession({
            sessionId: session.id,
            labels: { ...options.labels },
            title: options.title ?? "",
            requestId: requestIdOf(options),
            ...(options.estimator !== undefined && { estimator: options.estimator }),
            ...(options.policy !== undefined && { policy: policyOf(options.policy) }),
        }, callOptions(options));
        return session;
    }
    /** Goes on with the session of this id, or begins it where there is none: then with these options. */
    async openSession(sessionId, options = {}) {
        try {
            return await this.createSession({ ...options, sessionId });
        }
        catch (e) {
            if (!(e instanceof SessionExistsError)) {
                throw e;
            }
            return this.session(sessionId, options.dialect);
        }
    }
    /** The session of this id, without asking whether there is one. */
    session(sessionId, dialect) {
        return new Session(this, sessionId, dialect);
    }
    /** The sessions that have all of these labels, newest first. */
    listSessions(options = {}) {
        const order = options.order === "changed" ? SessionOrder.CHANGED : SessionOrder.CREATED;
        return pages(async (pageToken) => {
            const page = await this.sessions.listSessions({ labels: { ...options.labels }, order, pageToken }, callOptions(options));
            return [page.sessions, page.nextPageToken];
        });
    }
    /** Removes a session and its log for good. */
    async deleteSession(sessionId, options = {}) {
        await this.sessions.deleteSession({ sessionId }, callOptions(options));
    }
    /** Whether a provider's error is a context overflow. */
    async classifyError(error, options = {}) {
        return this.compactions.classifyError(error, callOptions(options));
    }
    /** How many tokens a session's view, messages or a text are. */
    async countTokens(what, options = {}) {
        return this.compactions.countTokens(what, callOptions(options));
    }
    /** The strategies with their parameters, the presets for a model, and the summarizers. */
    async strategies(model = {}, options = {}) {
        return this.compactions.listStrategies(model, callOptions(options));
    }
    /** Whether the daemon serves. Throws UnavailableError where it is out of reach. */
    async health(options = {}) {
        return checkHealth(this.connection, options);
    }
}
