import { orAborted, pause, reasonOf } from "./abort.js";
import { CheckpointNotFoundError, CheckpointPutAsideError, CompactionRunningError, DeadlineExceededError, OperationCancelledError, UnavailableError, } from "./errors.js";
import { wholeOf } from "./modelOutput.js";
import { providerError } from "./providerError.js";
import { byShape, outcomeOf, toolCallsOf } from "./toolCalls.js";
import { ContextOverflowError } from "./turnErrors.js";
import { StopReason } from "./v1.js";
/** One turn: the five steps of an agent's loop, until the model has no more calls to make. */
export class TurnLoop {
    #session;
    #turns;
    #callModel;
    #options;
    #abort = new AbortController();
    #compactions = [];
    #steps = 0;
    #thresholdFailed = false;
    #compacting = false;
    constructor(session, turns, callModel, options) {
        this.#session = session;
        this.#turns = turns;
        this.#callModel = callModel;
        this.#options = options;
    }
    /** Whether a compaction of this turn is under way. */
    get compacting() {
        return this.#compacting;
    }
    /** Ends the turn as soon as what it is writing is written. */
    abort(reason) {
        this.#abort.abort(reason);
    }
    /** Takes the turn. Rejects with the reason of the abort where it is aborted, whatever failed because of it. */
    async run(input) {
        const outer = this.#options.signal;
        const follow = () => {
            if (outer !== undefined) {
                this.abort(reasonOf(outer));
            }
        };
        outer?.addEventListener("abort", follow, { once: true });
        try {
            outer?.throwIfAborted();
            return await this.#run(input);
        }
        catch (error) {
            if (this.#signal.aborted) {
                this.#turns.forget();
                throw reasonOf(this.#signal);
            }
            throw error;
        }
        finally {
            outer?.removeEventListener("abort", follow);
            this.#options.tools?.discardMail();
        }
    }
    get #signal() {
        return this.#abort.signal;
    }
    async #run(input) {
        let step = await this.#takeUp(input);
        await orAborted(this.#turns.compactionsEnded(), this.#signal);
        for (;;) {
            this.#signal.throwIfAborted();
            step ??= await this.#nextStep();
            const turn = await this.#finish(step);
            this.#turns.step = undefined;
            if (turn !== undefined) {
                return turn;
            }
            step = undefined;
        }
    }
    /** Appends the input. Without one, goes on where an earlier turn broke off, which may be amid a step. */
    async #takeUp(input) {
        const { unsent } = this.#turns;
        if (unsent !== undefined) {
            const step = await this.#appendAnswer(unsent);
            this.#turns.step = step;
        }
        if (Array.isArray(input) && input.length === 0) {
            return this.#turns.step;
        }
        await this.#session.append(input);
        this.#turns.permitRetry();
        this.#turns.step = undefined;
        return undefined;
    }
    async #nextStep() {
        await this.#compactIfDue();
        await this.#checkpoint();
        const step = await this.#answer();
        this.#turns.step = step;
        return step;
    }
    /** Step 1: compacts where the report says so. A failure is no reason to end the turn, and is not tried again in it. */
    async #compactIfDue() {
        const report = this.#session.report ?? (await orAborted(this.#session.info(), this.#signal)).report;
        if (report?.shouldCompact !== true || this.#thresholdFailed) {
            return;
        }
        try {
            await this.#compact({ reason: "threshold" });
        }
        catch (error) {
            this.#signal.throwIfAborted();
            this.#thresholdFailed = true;
            this.#compactions.push(asError(error));
        }
    }
    /** Steps 2 to 4: the model's answer to the view, appended. An overflow has it called once more, after a compaction. */
    async #answer() {
        for (;;) {
            await orAborted(this.#turns.announced(), this.#signal);
            const view = await orAborted(this.#session.view({ signal: this.#signal }), this.#signal);
            let output;
            try {
                output = await wholeOf(this.#callModel(view, { signal: this.#signal }), this.#signal);
            }
            catch (error) {
                this.#signal.throwIfAborted();
                const why = await this.#overflowOf(error);
                if (why === undefined || !(await this.#makeRoom(why, error))) {
                    throw error;
                }
                continue;
            }
            this.#signal.throwIfAborted();
            const step = await this.#appendAnswer({ output, view });
            if (step !== undefined) {
                return step;
            }
        }
    }
    /** Appends an answer. Undefined where it is an overflow, and there is room now for another. */
    async #appendAnswer(said) {
        this.#turns.unsent = said;
        const appended = await this.#session
            .append(said.output, { view: said.view, modelAnswer: true })
            .catch((error) => {
            if (!leavesOpen(error)) {
                this.#turns.unsent = undefined;
            }
            throw error;
        });
        this.#turns.unsent = undefined;
        const { answer } = appended;
        if (answer === undefined) {
            throw new TypeError("the daemon does not describe answers: it is older than this client");
        }
        if (answer.overflow) {
            if (!(await this.#makeRoom(answer.why))) {
                throw this.#overflow("the context overflowed, and there is nothing to compact", answer.why);
            }
            return undefined;
        }
        this.#steps++;
        this.#turns.paused = answer.stopReason === StopReason.PAUSE;
        if (!endedBadly(answer)) {
            this.#turns.permitRetry();
        }
        const parts = answer.partsLeftOut ? await this.#partsOf(answer.index) : answer.parts;
        return { answer: { ...answer, parts }, calls: toolCallsOf(answer.index, parts), outcomes: [], sent: 0 };
    }
    /** All parts of a message of the log. */
    async #partsOf(index) {
        for await (const { message } of this.#session.messages({ fromIndex: index, signal: this.#signal })) {
            return message?.parts ?? [];
        }
        return [];
    }
    /** Why what the call of the model threw is an overflow; undefined where it is none, or nobody can tell. */
    async #overflowOf(thrown) {
        try {
            const { id: sessionId, client } = this.#session;
            const asked = { ...providerError(thrown), sessionId };
            const judged = await client.compactions.classifyError(asked, { signal: this.#signal });
            return judged.overflow ? judged.why : undefined;
        }
        catch {
            this.#signal.throwIfAborted();
            // The caller is to see what the provider said, not that nobody could judge it.
            return undefined;
        }
    }
    /** Step 4: compacts after an overflow, so that the model can be called again. False where there is nothing to compact. */
    async #makeRoom(why, cause) {
        if (!this.#turns.takeRetry()) {
            throw this.#overflow("the context overflowed again after a compaction", why, cause);
        }
        const { result, waited } = await this.#compact({ reason: "overflow", willRetry: true });
        // Another client's compaction may have made the room while this one waited for it.
        return result.done || waited;
    }
    #overflow(message, why, cause) {
        const { tokens, contextWindow } = this.#session.report ?? {};
        return new ContextOverflowError(message, { why, tokens, contextWindow, cause });
    }
    /** Compacts; while another client's compaction runs, waits for its end first. */
    async #compact(options) {
        const { onEvent, summarizeWith } = this.#options;
        const asked = { ...options, abortRunning: false, signal: this.#signal };
        this.#compacting = true;
        try {
            for (let attempt = 0;; attempt++) {
                try {
                    const compaction = summarizeWith === undefined
                        ? this.#session.compact({ ...asked, ...(onEvent !== undefined && { onEvent }) })
                        : this.#session.compactWith(summarizeWith, asked);
                    const result = await orAborted(compaction, this.#signal);
                    if (result.done) {
                        this.#compactions.push(result);
                    }
                    return { result, waited: attempt > 0 };
                }
                catch (error) {
                    if (!(error instanceof CompactionRunningError)) {
                        throw error;
                    }
                    await pause(Math.min(5_000, 200 * 2.5 ** attempt) * (0.8 + 0.4 * Math.random()), this.#signal);
                }
            }
        }
        finally {
            this.#compacting = false;
        }
    }
    /** With D-Mail the model is told of the checkpoints that it can send one to. */
    async #checkpoint() {
        const announce = this.#options.tools?.dmail ?? false;
        if ((announce || this.#options.checkpointSteps === true) && !this.#turns.between) {
            await this.#session.checkpoint({ announce });
        }
    }
    /** Step 5: runs the calls and appends their results. Answers the turn where that was its end. */
    async #finish(step) {
        const { answer, calls } = step;
        if (endedBadly(answer) || calls.length === 0) {
            const goesOn = answer.stopReason === StopReason.PAUSE && !this.#full;
            return goesOn ? undefined : this.#turn(answer, { done: !endedBadly(answer) && !this.#turns.paused });
        }
        await this.#runCalls(step);
        this.#signal.throwIfAborted();
        await this.#appendResults(step);
        const toolCalls = calls.filter((_, at) => step.outcomes[at] === undefined);
        const rejections = step.outcomes.flatMap((outcome) => outcome?.rejected ?? []);
        const rejected = rejections.some(({ feedback }) => feedback === "");
        if (toolCalls.length === 0 && rejections.length === 0) {
            await this.#deliverMail();
        }
        else {
            this.#options.tools?.discardMail();
        }
        const ended = rejected || toolCalls.length > 0 || this.#full;
        return ended ? this.#turn(answer, { done: false, toolCalls, rejected }) : undefined;
    }
    /** Whether the turn may have no more answers of the model. */
    get #full() {
        return this.#steps >= (this.#options.maxSteps ?? Number.POSITIVE_INFINITY);
    }
    /** Runs the calls that have no outcome yet, all at once. */
    async #runCalls({ calls, outcomes }) {
        await Promise.all(calls.map(async (call, at) => {
            const run = this.#runnerOf(call);
            if (run !== undefined) {
                outcomes[at] ??= await outcomeOf(call, run, this.#signal);
            }
        }));
    }
    #runnerOf(call) {
        const { tools, runTool } = this.#options;
        if (tools?.handles(call.name) !== true) {
            return runTool;
        }
        return async (one, { signal }) => (await tools.handle(one, { signal })) ?? "";
    }
    /** Appends the results of a step at once; where some are a provider's JSON, neighbours of one shape at once. */
    async #appendResults(step) {
        const results = step.outcomes.flatMap((outcome) => outcome?.result ?? []);
        for (const some of byShape(results).slice(step.sent)) {
            await this.#session.append(some);
            step.sent++;
        }
    }
    /** Goes back to the checkpoint that the model has sent a D-Mail to in this step. */
    async #deliverMail() {
        const mail = this.#options.tools?.takeMail();
        if (mail === undefined) {
            return;
        }
        try {
            const { checkpointId, message } = mail;
            await this.#session.revert({ toCheckpoint: checkpointId }, { messageFromFuture: message });
        }
        catch (error) {
            // Another client went back to before the checkpoint meanwhile: the model reads that nothing was delivered.
            if (!(error instanceof CheckpointPutAsideError || error instanceof CheckpointNotFoundError)) {
                throw error;
            }
        }
    }
    #turn(answer, end) {
        return {
            text: textOf(answer.parts),
            answer,
            toolCalls: [],
            report: this.#session.report,
            steps: this.#steps,
            compactions: this.#compactions,
            rejected: false,
            ...end,
        };
    }
}
/** Whether views leave the answer out, with its calls: there is nothing to go on with. */
function endedBadly({ stopReason }) {
    return stopReason === StopReason.ERROR || stopReason === StopReason.ABORTED;
}
/** Whether an error leaves open if the daemon did what it was asked for. */
function leavesOpen(error) {
    return (error instanceof UnavailableError ||
        error instanceof DeadlineExceededError ||
        error instanceof OperationCancelledError);
}
function textOf(parts) {
    return parts.map(({ kind }) => (kind.case === "text" ? kind.value.text : "")).join("");
}
function asError(thrown) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
}
