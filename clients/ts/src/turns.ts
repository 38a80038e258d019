import type { CompactionResult } from "./compaction.js";
import { developer } from "./messages.js";
import type { Appendables } from "./options.js";
import type { Session } from "./session.js";
import { TurnLoop, type CallModel, type Step, type Turn, type TurnOptions, type Unsent } from "./turn.js";
import { TurnAbortedError, TurnRunningError } from "./turnErrors.js";

/**
 * Tells the model what it must know again after a compaction, such as background tasks that run, the state of a plan, or
 * attachments. Called with each completed compaction of this session object; a text becomes a DEVELOPER message, and
 * undefined nothing. It is appended before the model is called again, and once all calls are answered. It must not begin a
 * turn.
 */
export type Announce = (result: CompactionResult) => Appendables | undefined | PromiseLike<Appendables | undefined>;

/** A compaction's place beside the turns of its session, from before it begins until after its end. */
export interface CompactionPlace {
  /** Whether the daemon may not have seen yet that the compaction of an aborted turn has ended. */
  readonly preempt: boolean;
  /** Leaves it: turns go on. Announces the result, if there is one. */
  leave(result: CompactionResult | undefined): Promise<void>;
}

/** The turns of one session object, and the compactions beside them: who goes first, and who waits. */
export class Turns {
  /** Set by the session's owner. */
  announce: Announce | undefined;
  /** The step that a turn is in, or broke off in. */
  step: Step | undefined;
  /** The answer that a turn appends, or broke off while it did. */
  unsent: Unsent | undefined;
  /** Whether the last answer is to be gone on with. */
  paused = false;
  readonly #session: Session;
  readonly #compactions = new Set<Promise<void>>();
  #running: { readonly loop: TurnLoop; readonly settled: Promise<unknown> } | undefined;
  #unannounced: CompactionResult[] = [];
  #announcing: Promise<unknown> = Promise.resolve();
  #mayRetry = true;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Takes a turn. Rejects with a TurnRunningError at once where one runs. */
  run(callModel: CallModel, input: Appendables, options: TurnOptions): Promise<Turn> {
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
  async abort(): Promise<boolean> {
    return (await this.#abort("abortTurn")) !== "none";
  }

  /** Makes way for a compaction: turns that begin wait for its end, and with `abortRunning` the one that runs is aborted. */
  async enter(abortRunning: boolean): Promise<CompactionPlace> {
    let release = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#compactions.add(ended);
    const leave = async (result: CompactionResult | undefined): Promise<void> => {
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
  async compactionsEnded(): Promise<void> {
    while (this.#compactions.size > 0) {
      await Promise.all(this.#compactions);
    }
  }

  /** Makes the announcements that had to wait for the end of what was just appended. */
  async appended(): Promise<void> {
    if (this.#unannounced.length > 0) {
      await this.announced();
    }
  }

  /**
   * Appends what is to be announced after the compactions so far, unless a message here would come between what belongs
   * together. Settles once no announcement is being made. One that could not be made is due again.
   */
  async announced(): Promise<void> {
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
  get between(): boolean {
    return this.paused || (this.#session.report?.openCallCount ?? 0) > 0;
  }

  /** Drops what an aborted turn was at: its open calls are the log's matter. */
  forget(): void {
    this.step = undefined;
    this.unsent = undefined;
    this.paused = false;
  }

  /** Gives back the permission to compact after an overflow and call the model again. */
  permitRetry(): void {
    this.#mayRetry = true;
  }

  /** Takes the permission; false where it was taken before. */
  takeRetry(): boolean {
    const may = this.#mayRetry;
    this.#mayRetry = false;
    return may;
  }

  async #announceAll(due: CompactionResult[], announce: Announce): Promise<void> {
    for (let result = due[0]; result !== undefined; result = due[0]) {
      try {
        const said = await announce(result);
        if (said !== undefined) {
          await this.#session.append(typeof said === "string" ? developer(said) : said);
        }
        due.shift();
      } catch (error) {
        this.#unannounced.unshift(...due);
        throw error;
      }
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
