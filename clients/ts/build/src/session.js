import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { Compaction, CompactionResult } from "./compaction.js";
import { compactWithModel } from "./clientModel.js";
import { DeadlineExceededError, UnavailableError } from "./errors.js";
import { appendKey, contentOf, dialectOf } from "./messages.js";
import { policyOf, reasonOf, thinkingOf } from "./options.js";
import { pages } from "./pages.js";
import { recallAll } from "./recall.js";
import { AppendMessagesRequestSchema, CompactRequestSchema, MessageListing } from "./v1.js";
import { Turns } from "./turns.js";
import { JoinedView, View } from "./view.js";
import { watchSession } from "./watch.js";
/**
 * A conversation. It keeps the view that was fetched last, so that the next fetch moves only what is new. One object may be
 * used by several tasks at once.
 */
export class Session {
    /** The session's id. */
    id;
    /** The provider's shape of what is appended and viewed; undefined: neutral messages. */
    dialect;
    /** The client that it is used through. */
    client;
    kept = { joined: JoinedView.empty, token: "" };
    lastReport;
    turns = new Turns(this);
    /** The request ids of appends that failed without a word on whether they were written, by what was appended. */
    unsure = new Map();
    /** Use {@link Client.createSession}, {@link Client.openSession} or {@link Client.session}. */
    constructor(client, id, dialect) {
        dialectOf(dialect);
        this.client = client;
        this.id = id;
        this.dialect = dialect;
    }
    /** How full the context was when the daemon last told it; undefined until then. */
    get report() {
        return this.lastReport;
    }
    /**
     * Appends messages, all or none, see {@link Appendable}. They are on disk before it returns. If an append fails and it is
     * unknown whether it was written, append the same again: it is not doubled.
     */
    async append(messages, options = {}) {
        const request = create(AppendMessagesRequestSchema, {
            sessionId: this.id,
            ...contentOf(messages, this.dialect),
            viewToken: options.view?.token ?? "",
            strict: options.strict ?? false,
            modelAnswer: options.modelAnswer ?? false,
            ...(options.expectedNextIndex !== undefined && { expectedNextIndex: options.expectedNextIndex }),
        });
        const key = this.unsure.size > 0 ? appendKey(request) : "";
        request.requestId = options.requestId ?? this.unsure.get(key) ?? randomUUID();
        try {
            const response = await this.client.sessions.appendMessages(request, callOptions(options));
            this.unsure.clear();
            this.noteReport(response.report);
            await this.turns.appended();
            return response;
        }
        catch (e) {
            this.noteUnsure(request, e, options.signal);
            throw e;
        }
    }
    /** Fetches the view: what the model needs to go on. Only what is new since the last fetch is moved. */
    async view(options = {}) {
        let { joined, token } = options.asOf === undefined ? this.kept : { joined: JoinedView.empty, token: "" };
        let moved = 0;
        for (;;) {
            const answer = await this.client.compactions.getLLMView({
                target: { case: "sessionId", value: this.id },
                dialect: dialectOf(this.dialect),
                viewToken: token,
                maxBytes: options.maxBytes ?? 0,
                markCacheBreakpoints: options.markCacheBreakpoints ?? false,
                ...(options.asOf !== undefined && { asOf: options.asOf }),
                ...(options.thinking !== undefined && { thinking: thinkingOf(options.thinking) }),
            }, callOptions(options));
            joined = joined.with(answer);
            token = answer.viewToken;
            moved += answer.messages.length + answer.messagesJson.length;
            if (!answer.hasMore) {
                if (options.asOf === undefined) {
                    this.kept = { joined, token };
                    this.noteReport(answer.report);
                }
                return new View(this.dialect, joined, answer, moved);
            }
        }
    }
    /**
     * Compacts, and returns how it ended: done, skipped with the reason, or planned with `dryRun`. Throws the error of its
     * reason where it fails, such as SummarizerUnavailableError. A turn that runs is aborted first, unless `abortRunning` is
     * false.
     */
    async compact(options = {}) {
        return this.compactionEvents(options).finish(options.onEvent);
    }
    /** Compacts, and yields the events as it goes on. It begins, and aborts a running turn, when the first is asked for. */
    compactionEvents(options = {}) {
        const request = create(CompactRequestSchema, {
            target: { case: "sessionId", value: this.id },
            reason: reasonOf(options.reason),
            focus: options.focus ?? "",
            preempt: options.preempt ?? false,
            detach: options.detach ?? false,
            dryRun: options.dryRun ?? false,
            willRetry: options.willRetry ?? false,
            requestId: options.requestId ?? randomUUID(),
            ...(options.replay !== undefined && { replay: options.replay }),
            ...(options.policy !== undefined && { policy: policyOf(options.policy) }),
        });
        return new Compaction({
            stub: this.client.compactions,
            connection: this.client.connection,
            sessionId: this.id,
            request,
            signal: options.signal,
            timeoutMs: options.timeoutMs,
            retry: this.client.retry,
            enter: () => this.turns.enter(abortsTurn(options)),
        });
    }
    /** Cancels the compaction that runs in the session, whoever asked for it, and waits for its end. */
    async cancelCompaction(options = {}) {
        const request = { sessionId: this.id, operationId: options.operationId ?? "" };
        return this.client.compactions.cancelCompaction(request, callOptions(options));
    }
    /**
     * Compacts with summaries that the program's own model writes: `write` is called with each prompt, in order, and returns
     * the model's answer. Where an answer does not pass the daemon's checks, all prompts are asked once more with
     * `prompt.complaint` set, and then the policy's fallback writes what still does not pass.
     */
    async compactWith(write, options = {}) {
        const place = await this.turns.enter(abortsTurn(options));
        let result;
        try {
            result = await compactWithModel(this, write, options);
            return result;
        }
        finally {
            await place.leave(result);
        }
    }
    /** Makes the edits of the policy's prune strategy, such as hiding old tool results, without a summarizer. */
    async prune(options = {}) {
        const answer = await this.client.compactions.prune({
            target: { case: "sessionId", value: this.id },
            reason: reasonOf(options.reason),
            dryRun: options.dryRun ?? false,
            requestId: requestIdOf(options),
            ...(options.policy !== undefined && { policy: policyOf(options.policy) }),
        }, callOptions(options));
        this.noteReport(answer.report);
        const { prune, report, skipReason: reason, message } = answer;
        if (prune === undefined) {
            return new CompactionResult("skipped", { report, reason, message });
        }
        return new CompactionResult(options.dryRun === true ? "planned" : "completed", { prune, report, message });
    }
    /** Names the end of the log, to go back to it later. */
    async checkpoint(options = {}) {
        const request = {
            sessionId: this.id,
            title: options.title ?? "",
            announce: options.announce ?? false,
            requestId: requestIdOf(options),
        };
        const { checkpoint, report } = await this.client.sessions.createCheckpoint(request, callOptions(options));
        this.noteReport(report);
        return present(checkpoint, "checkpoint");
    }
    /** The checkpoints, the first one first, also those that a revert put aside. */
    checkpoints(options = {}) {
        return pages(async (pageToken) => {
            const page = await this.client.sessions.listCheckpoints({ sessionId: this.id, pageToken }, callOptions(options));
            return [page.checkpoints, page.nextPageToken];
        });
    }
    /** Goes back to a checkpoint or a point, takes back turns, or undoes the last change. Nothing is removed. */
    async revert(target, options = {}) {
        const request = {
            sessionId: this.id,
            target: targetOf(target),
            messageFromFuture: options.messageFromFuture ?? "",
            summarize: options.summarize ?? false,
            focus: options.focus ?? "",
            requestId: requestIdOf(options),
        };
        const answer = await this.client.sessions.revertToCheckpoint(request, callOptions(options));
        this.noteReport(answer.report);
        return answer;
    }
    /** Puts all aside but the leading system and developer messages. Nothing is removed. */
    async clear(options = {}) {
        const request = { sessionId: this.id, requestId: requestIdOf(options) };
        const answer = await this.client.sessions.clearSession(request, callOptions(options));
        this.noteReport(answer.report);
        return answer;
    }
    /** Makes a new session of this one's log: up to a checkpoint, up to a point, or all of it. */
    async fork(options = {}) {
        const id = options.newSessionId ?? randomUUID();
        const answer = await this.client.sessions.forkSession({
            sessionId: this.id,
            newSessionId: id,
            labels: { ...options.labels },
            title: options.title ?? "",
            requestId: requestIdOf(options),
            at: forkPoint(options),
            ...(options.policy !== undefined && { policy: policyOf(options.policy) }),
        }, callOptions(options));
        const fork = new Session(this.client, id, this.dialect);
        fork.noteReport(answer.report);
        return fork;
    }
    /** Keeps messages word for word in every view, each with its tool group. */
    async pin(indexes, options = {}) {
        const request = { sessionId: this.id, indexes: [...indexes], requestId: requestIdOf(options) };
        const answer = await this.client.sessions.pinMessages(request, callOptions(options));
        this.noteReport(answer.report);
        return answer;
    }
    /** Lets messages be covered and edited again. */
    async unpin(indexes, options = {}) {
        const request = { sessionId: this.id, indexes: [...indexes], requestId: requestIdOf(options) };
        const answer = await this.client.sessions.unpinMessages(request, callOptions(options));
        this.noteReport(answer.report);
        return answer;
    }
    /**
     * Content of the log word for word: of a message's index, or of a reference as views show it, such as `#12.0`. Without
     * `maxBytes` all of the range comes, however many calls that takes.
     */
    async recall(what, options = {}) {
        return recallAll(this.client.sessions, this.id, what, options);
    }
    /** Finds messages in all that the log holds, and yields the places. */
    search(query, options = {}) {
        const { roles, states, newestFirst, snippetChars } = query;
        const filter = {
            roles: roles ?? [],
            states: states ?? [],
            newestFirst: newestFirst ?? false,
            snippetChars: snippetChars ?? 0,
        };
        const what = "words" in query
            ? { case: "words", value: query.words }
            : { case: "pattern", value: query.pattern };
        return pages(async (pageToken) => {
            const request = { sessionId: this.id, query: what, pageToken, ...filter };
            const page = await this.client.sessions.searchMessages(request, callOptions(options));
            return [page.hits, page.nextPageToken];
        });
    }
    /** The messages of the log from an index on: the whole transcript, or what user and assistant said that is in force. */
    messages(options = {}) {
        const listing = options.listing === "dialogue" ? MessageListing.DIALOGUE : MessageListing.TRANSCRIPT;
        return pages(async (pageToken) => {
            const request = { sessionId: this.id, listing, fromIndex: options.fromIndex ?? 0, pageToken };
            const page = await this.client.sessions.listMessages(request, callOptions(options));
            return [page.messages, page.nextPageToken];
        });
    }
    /** The records of the log from a sequence on: compactions, reverts, changes of policy, failed attempts. */
    records(options = {}) {
        return pages(async (pageToken) => {
            const request = { sessionId: this.id, fromSequence: options.fromSequence ?? 0, pageToken };
            const page = await this.client.sessions.listRecords(request, callOptions(options));
            return [page.records, page.nextPageToken];
        });
    }
    /** The committed compactions, the newest first, also those that a revert put aside. */
    compactions(options = {}) {
        return pages(async (pageToken) => {
            const page = await this.client.compactions.listCompactions({ sessionId: this.id, pageToken }, callOptions(options));
            return [page.compactions, page.nextPageToken];
        });
    }
    /**
     * Takes a turn: appends the input, compacts where that is due, calls the model with the view, appends its answer, runs its
     * tool calls, and goes on until it has none. After an overflow it compacts and calls the model once more. What `callModel`
     * throws is thrown as it is, and nothing was appended of that answer; the next turn goes on where this one broke off.
     *
     * `input` is what the user says, or results of calls that the last turn left open; an empty list where the log has it
     * already. Rejects with TurnRunningError where a turn runs, TurnAbortedError where a compaction or {@link abortTurn} ends
     * it, and ContextOverflowError where no compaction helps.
     */
    async runTurn(callModel, input, options = {}) {
        return this.turns.run(callModel, input, options);
    }
    /** Aborts the turn that runs in this session object: nothing is appended any more once it returns. False where none runs. */
    async abortTurn() {
        return this.turns.abort();
    }
    /** What is told to the model after each completed compaction of this session object; undefined for nothing. */
    get announce() {
        return this.turns.announce;
    }
    set announce(announce) {
        this.turns.announce = announce;
    }
    /** Follows the session until the loop is left, over breaks of the connection, without a gap and nothing twice. */
    watch(options = {}) {
        const { sessions: stub, connection, retry } = this.client;
        return watchSession({ stub, connection, retry, sessionId: this.id, options });
    }
    /** Replaces the session's policy, labels or title, whichever is given. */
    async update(changes, options = {}) {
        const { session } = await this.client.sessions.updateSession({
            sessionId: this.id,
            updateMask: { paths: Object.keys(changes) },
            labels: { ...changes.labels },
            title: changes.title ?? "",
            requestId: requestIdOf(options),
            ...(changes.policy !== undefined && { policy: policyOf(changes.policy) }),
        }, callOptions(options));
        return present(session, "session");
    }
    /** The session's state, its policy as given and as resolved, and how full its context is. */
    async info(options = {}) {
        const answer = await this.client.sessions.getSession({ sessionId: this.id }, callOptions(options));
        this.noteReport(answer.report);
        return answer;
    }
    /** Removes the session and its log for good. */
    async delete(options = {}) {
        await this.client.deleteSession(this.id, options);
    }
    /** @internal */
    noteReport(report) {
        this.lastReport = report ?? this.lastReport;
    }
    noteUnsure(request, thrown, signal) {
        if (thrown instanceof UnavailableError || thrown instanceof DeadlineExceededError || signal?.aborted === true) {
            this.unsure.set(appendKey(request), request.requestId);
        }
    }
}
/** Whether a compaction is to abort a turn first. A dry run changes nothing that a turn could trip over. */
function abortsTurn({ abortRunning, dryRun }) {
    return (abortRunning ?? true) && dryRun !== true;
}
/** The options that a stub takes, of those that a method was given. */
export function callOptions({ signal, timeoutMs }) {
    return { ...(signal !== undefined && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
}
/** The given request id, or a new one. */
export function requestIdOf(options) {
    return options.requestId ?? randomUUID();
}
/** A message of an answer that every daemon sends. */
export function present(message, field) {
    if (message === undefined) {
        throw new TypeError(`the daemon's answer has no ${field}`);
    }
    return message;
}
function targetOf(target) {
    if ("toCheckpoint" in target) {
        return { case: "checkpointId", value: target.toCheckpoint };
    }
    if ("point" in target) {
        return { case: "point", value: target.point };
    }
    return "turns" in target ? { case: "turns", value: target.turns } : { case: "undo", value: target.undo };
}
function forkPoint(options) {
    if (options.atCheckpoint !== undefined) {
        return { case: "checkpointId", value: options.atCheckpoint };
    }
    return options.point === undefined
        ? { case: undefined }
        : { case: "point", value: options.point };
}
