import { developer } from "./messages.js";
import { TurnLoop } from "./turn.js";
import { TurnAbortedError, TurnRunningError } from "./turnErrors.js";
/** The turns of one session object, and the compactions beside them: who goes first, and who waits. */
export class Turns {
    /** Set by the session's owner. */
    announce;
    /** The step that a turn is in, or broke off in. */
    step;
    /** The answer that a turn appends, or broke off while it did. */
    unsent;
    /** Whether the last answer is to be gone on with. */
    paused = false;
    #session;
    #compactions = new Set();
    #running;
    #unannounced = [];
    #announcing = Promise.resolve();
    #mayRetry = true;
    constructor(session) {
        this.#session = session;
    }
    /** Takes a turn. Rejects with a TurnRunningError at once where one runs. */
    run(callModel, input, options) {
        if (this.#running !== undefined) {
            return Promise.reject(new TurnRunningError());
        }
        const loop = new TurnLoop(this.#session, this, callModel, options);
        const turn = loop.run(input).finally(() => {
            this.#running = undefined;
        });
        this.#running = { loop, settled: turn.catch(() => undefined) };
        return turn;
    }
    /** Aborts the turn that runs, and waits until it has come to rest. Answers whether one ran. */
    async abort() {
        return (await this.#abort("abortTurn")) !== "none";
    }
    /** Makes way for a compaction: turns that begin wait for its end, and with `abortRunning` the one that runs is aborted. */
    async enter(abortRunning) {
        let release = () => undefined;
        const ended = new Promise((resolve) => {
            release = resolve;
        });
        this.#compactions.add(ended);
        const leave = async (result) => {
            this.#session.noteReport(result?.report);
            if (result?.done === true) {
                this.#unannounced.push(result);
            }
            this.#compactions.delete(ended);
            release();
            await this.announced();
        };
        const aborted = abortRunning ? await this.#abort("a compaction") : "none";
        return { preempt: aborted === "compacting", leave };
    }
    /** Settles once no compaction runs beside the turns of this session object, however they end. */
    async compactionsEnded() {
        while (this.#compactions.size > 0) {
            await Promise.all(this.#compactions);
        }
    }
    /** Makes the announcements that had to wait for the end of what was just appended. */
    async appended() {
        if (this.#unannounced.length > 0) {
            await this.announced();
        }
    }
    /**
     * Appends what is to be announced after the compactions so far, unless a message here would come between what belongs
     * together. Settles once no announcement is being made. One that could not be made is due again.
     */
    async announced() {
        const { announce } = this;
        if (announce === undefined || this.between || this.#unannounced.length === 0) {
            await this.#announcing;
            return;
        }
        const due = this.#unannounced;
        this.#unannounced = [];
        const work = this.#announcing.then(() => this.#announceAll(due, announce));
        this.#announcing = work.catch(() => undefined);
        await work;
    }
    /** Whether a message now would come between what belongs together: calls and their results, or an answer that goes on. */
    get between() {
        return this.paused || (this.#session.report?.openCallCount ?? 0) > 0;
    }
    /** Drops what an aborted turn was at: its open calls are the log's matter. */
    forget() {
        this.step = undefined;
        this.unsent = undefined;
        this.paused = false;
    }
    /** Gives back the permission to compact after an overflow and call the model again. */
    permitRetry() {
        this.#mayRetry = true;
    }
    /** Takes the permission; false where it was taken before. */
    takeRetry() {
        const may = this.#mayRetry;
        this.#mayRetry = false;
        return may;
    }
    async #announceAll(due, announce) {
        for (let result = due[0]; result !== undefined; result = due[0]) {
            try {
                const said = await announce(result);
                if (said !== undefined) {
                    await this.#session.append(typeof said === "string" ? developer(said) : said);
                }
                due.shift();
            }
            catch (error) {
                this.#unannounced.unshift(...due);
                throw error;
            }
        }
    }
    async #abort(by) {
        if (this.#running === undefined) {
            return "none";
        }
        const { loop, settled } = this.#running;
        const compacting = loop.compacting;
        loop.abort(new TurnAbortedError(by));
        await settled;
        return compacting ? "compacting" : "aborted";
    }
}
