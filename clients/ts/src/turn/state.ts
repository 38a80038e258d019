import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";

import type { CompactionPlace, CompactionResult } from "../compaction/compaction.js";
import { leavesOpen, WrongNextIndexError } from "../wire/errors.js";
import { developer, type Appendables } from "../contract/messages.js";
import type { SessionLog } from "../session/log.js";
import type { ToolCall, ToolOutcome } from "./toolCalls.js";
import type { Turn } from "./turn.js";
import { TurnAbortedError, turnRunning } from "./errors.js";
import type { AppendMessagesResponse, ModelAnswer } from "../v1.js";
import { send, sendInTurn, type Write } from "./writes.js";

/**
 * Returns what the model must know again after a compaction, such as running tasks or the state of a plan. It is called
 * with each completed compaction of this session object. A text becomes a DEVELOPER message; for undefined nothing is
 * appended. The message is appended before the next model call, when no tool call is open. The function must not start
 * a turn. The compaction stays committed where the function throws. It is then called again before the next model call,
 * and its error ends that turn.
 */
export type Announce = (result: CompactionResult) => Appendables | undefined | PromiseLike<Appendables | undefined>;

/** An answer of the model, and the progress of its tool calls. */
export interface Step {
  readonly answer: ModelAnswer;
  /** Its calls; undefined before they were read. */
  calls?: readonly ToolCall[];
  /** The outcome of each call; undefined where there is none yet. */
  readonly outcomes: (ToolOutcome | undefined)[];
  /** The appends of results that are not done yet; undefined while tools run. */
  writes?: Write[];
}

/** A turn that can be run and aborted. */
export interface RunningTurn {
  /** Whether a compaction of the turn is running. */
  readonly compacting: boolean;
  /** Runs the turn. */
  run(input: Appendables): Promise<Turn>;
  /** Aborts the turn after its current write. */
  abort(reason: Error): void;
}

/** The state of the turns of one session object, and the order of its turns and compactions. */
export class TurnState {
  /** The function of the program; see {@link Announce}. */
  announce: Announce | undefined;
  /** The current step, or the unfinished step of the last turn. */
  step: Step | undefined;
  /** In order, the appends that are not done yet, or that the daemon may or may not have executed. */
  unsent: Write[] = [];
  /** Whether the provider paused the last answer, so that the model must be called again to continue it. */
  paused = false;
  /** The ids of calls that the end of a child answered, so that a turn must not answer them again. */
  readonly answered = new Set<string>();
  readonly #session: SessionLog;
  readonly #compactions = new Set<Promise<void>>();
  #running: { readonly loop: RunningTurn; readonly settled: Promise<unknown> } | undefined;
  /** The compactions that are not announced yet, each with its append once `announce` has returned it. */
  #unannounced: { readonly result: CompactionResult; said: Write | undefined }[] = [];
  #announcing: Promise<void> | undefined;
  #checkpoint: { readonly announce: boolean; readonly requestId: string } | undefined;
  #mayRetry = true;

  constructor(session: SessionLog) {
    this.#session = session;
  }

  /** Runs a turn. Rejects with the reason `TURN_RUNNING` at once where one is already running. */
  run(make: () => RunningTurn, input: Appendables): Promise<Turn> {
    if (this.#running !== undefined) {
      return Promise.reject(turnRunning());
    }
    const loop = make();
    const turn = loop.run(input).finally(() => {
      this.#running = undefined;
    });
    this.#running = { loop, settled: turn.catch(() => undefined) };
    return turn;
  }

  /** Aborts the running turn and waits for its end. Returns whether one was running. */
  async abort(): Promise<boolean> {
    return (await this.#abort("abortTurn")) !== "none";
  }

  /** Lets new turns wait for a compaction, and with `abortRunning` aborts the running one. */
  async enter(abortRunning: boolean): Promise<CompactionPlace> {
    let release = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#compactions.add(ended);
    const leave = async (result: CompactionResult | undefined): Promise<void> => {
      this.#session.noteReport(result?.report);
      if (result?.done === true) {
        this.#unannounced.push({ result, said: undefined });
      }
      this.#compactions.delete(ended);
      release();
      await this.#announceQuietly();
    };
    const aborted = abortRunning ? await this.#abort("a compaction") : "none";
    return { preempt: aborted === "compacting", leave };
  }

  /** Settles when no compaction from outside of a turn is running, however they end. */
  async compactionsEnded(): Promise<void> {
    while (this.#compactions.size > 0) {
      await Promise.all(this.#compactions);
    }
  }

  /** Called after an append: makes the announcements that had to wait for it. */
  async appended(): Promise<void> {
    if (this.#running === undefined && this.#announcing === undefined) {
      // The program appended something else, so input that could not be appended is given up. Answers and results are
      // kept.
      this.unsent = this.unsent.filter(({ kind }) => kind !== "input");
    }
    await this.#announceQuietly();
  }

  /**
   * Appends the announcements of the compactions so far, unless calls are open or an answer is paused. Settles when no
   * announcement is being made. A failed announcement is tried again later; one that the daemon refuses is not.
   */
  async announced(quietly = false): Promise<void> {
    await this.#announcing;
    const { announce } = this;
    if (announce === undefined || this.between || this.#unannounced.length === 0) {
      return;
    }
    this.#announcing ??= this.#announceAll(announce, quietly).finally(() => {
      this.#announcing = undefined;
    });
    await this.#announcing;
  }

  /** Whether calls are open or the last answer is paused. No other message may be appended then. */
  get between(): boolean {
    return this.paused || (this.#session.report?.openCallCount ?? 0) > 0;
  }

  /** Forgets the unfinished work of an aborted turn. Views show its open calls as given up. */
  forget(): void {
    this.step = undefined;
    this.unsent = [];
    this.paused = false;
    this.#checkpoint = undefined;
  }

  /** Forgets an unfinished step, with the results that could not be appended. */
  forgetStep(): void {
    this.step = undefined;
    this.paused = false;
    this.unsent = this.unsent.filter(({ kind }) => kind !== "results");
  }

  /** Starts over with input: an earlier answer is not continued. */
  begin(): void {
    this.step = undefined;
    this.paused = false;
    this.#checkpoint = undefined;
    this.permitRetry();
  }

  /** Keeps an append until it is done. The same input given again is kept once. */
  queue(write: Write): void {
    const last = this.unsent.at(-1);
    if (last === write || (last?.kind === "input" && isDeepStrictEqual(last.content, write.content))) {
      return;
    }
    this.unsent.push(write);
  }

  /** Forgets an append that was executed or refused. */
  written(write: Write): void {
    this.unsent = this.unsent.filter((other) => other !== write);
  }

  /**
   * Executes an append of the running turn. The messages that begin a turn may follow those of another process. All else
   * must follow what the turn knows: else it throws a WrongNextIndexError, and the step cannot go on.
   */
  async send(write: Write): Promise<AppendMessagesResponse> {
    const { position } = this.#session;
    if (write.kind === "input") {
      const response = await send(this.#session, write);
      position.start(response.nextIndex);
      return response;
    }
    try {
      return await sendInTurn(this.#session, write);
    } catch (error) {
      if (error instanceof WrongNextIndexError) {
        this.forgetStep();
        position.forget();
      }
      throw error;
    }
  }

  /** The request id of the next checkpoint: that of the last one, where it is unknown whether that was made. */
  checkpointId(announce: boolean): string {
    if (this.#checkpoint?.announce !== announce) {
      this.#checkpoint = { announce, requestId: randomUUID() };
    }
    return this.#checkpoint.requestId;
  }

  /** Called when the checkpoint was made or refused. */
  checkpointed(): void {
    this.#checkpoint = undefined;
  }

  /** Whether the turn may compact after an overflow and call the model again. */
  get mayRetry(): boolean {
    return this.#mayRetry;
  }

  /** Permits a compaction after an overflow again. */
  permitRetry(): void {
    this.#mayRetry = true;
  }

  /** Notes that the compaction after an overflow was used. */
  takeRetry(): void {
    this.#mayRetry = false;
  }

  /**
   * Makes the announcements without failing: the append or compaction before it is done in any case. Does not wait for
   * announcements that are being made, since one of them may be the caller.
   */
  async #announceQuietly(): Promise<void> {
    if (this.#announcing === undefined && this.#unannounced.length > 0) {
      await this.announced(true).catch(() => undefined);
    }
  }

  async #announceAll(announce: Announce, quietly: boolean): Promise<void> {
    for (let due = this.#unannounced[0]; due !== undefined; due = this.#unannounced[0]) {
      const { result } = due;
      const announced = (): void => {
        this.#unannounced = this.#unannounced.filter((other) => other.result !== result);
      };
      if (due.said === undefined) {
        const said = await announce(result);
        if (said === undefined) {
          announced();
          continue;
        }
        const content = typeof said === "string" ? developer(said) : said;
        due.said = { kind: "input", content, requestId: randomUUID() };
      }
      try {
        // In a turn it is one of the turn's appends.
        await (this.#running === undefined ? send : sendInTurn)(this.#session, due.said);
      } catch (error) {
        if (!leavesOpen(error) && !(error instanceof WrongNextIndexError)) {
          due.said = undefined;
          if (!quietly) {
            announced();
          }
        }
        throw error;
      }
      announced();
    }
  }

  async #abort(by: string): Promise<"none" | "aborted" | "compacting"> {
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
