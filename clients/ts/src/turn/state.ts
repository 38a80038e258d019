import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";

import type { CompactionPlace, CompactionResult } from "../compaction/compaction.js";
import { leavesOpen } from "../wire/errors.js";
import { developer, type Appendables } from "../contract/messages.js";
import type { SessionLog } from "../session/log.js";
import type { ToolCall, ToolOutcome } from "./toolCalls.js";
import type { Turn } from "./turn.js";
import { TurnAbortedError, TurnRunningError } from "./errors.js";
import type { ModelAnswer } from "../v1.js";
import type { View } from "../view/view.js";

/**
 * Tells the model what it must know again after a compaction, such as background tasks that run, the state of a plan, or
 * attachments. Called with each completed compaction of this session object; a text becomes a DEVELOPER message, and
 * undefined nothing. It is appended before the model is called again, and once all calls are answered. It must not begin a
 * turn. Where it throws, the compaction is done all the same: it is asked again before the model is called next, and what it
 * throws then ends that turn.
 */
export type Announce = (result: CompactionResult) => Appendables | undefined | PromiseLike<Appendables | undefined>;

/** An append of a turn. Its request id makes it safe to send again, whatever else was appended meanwhile. */
export interface Write {
  readonly kind: "input" | "answer" | "results";
  readonly content: Appendables;
  readonly requestId: string;
  /** Of an answer: the view that it was made from. */
  readonly view?: View;
}

/** An answer of the model, and how far it is dealt with. */
export interface Step {
  readonly answer: ModelAnswer;
  /** Its calls; undefined where they have not been looked for. */
  calls?: readonly ToolCall[];
  /** What became of each call; undefined where nobody has answered it. */
  readonly outcomes: (ToolOutcome | undefined)[];
  /** The appends of the results that are still to be made; undefined as long as tools run. */
  writes?: Write[];
}

/** A turn that can run, as who lets turns begin and aborts them sees it. */
export interface RunningTurn {
  /** Whether a compaction of it is under way. */
  readonly compacting: boolean;
  /** Takes the turn. */
  run(input: Appendables): Promise<Turn>;
  /** Ends it as soon as what it is writing is written. */
  abort(reason: Error): void;
}

/** The turns of one session object, and the compactions beside them: who goes first, and who waits. */
export class TurnState {
  /** Set by the session's owner. */
  announce: Announce | undefined;
  /** The step that a turn is in, or broke off in. */
  step: Step | undefined;
  /** What a turn appends, or broke off while it did, in order. */
  unsent: Write[] = [];
  /** Whether the last answer is to be gone on with. */
  paused = false;
  readonly #session: SessionLog;
  readonly #compactions = new Set<Promise<void>>();
  #running: { readonly loop: RunningTurn; readonly settled: Promise<unknown> } | undefined;
  /** The compactions that are to be announced, each with what was said of it, once that was asked. */
  #unannounced: { readonly result: CompactionResult; said: Write | undefined }[] = [];
  #announcing: Promise<void> | undefined;
  #checkpoint: { readonly announce: boolean; readonly requestId: string } | undefined;
  #mayRetry = true;

  constructor(session: SessionLog) {
    this.#session = session;
  }

  /** Takes a turn. Rejects with a TurnRunningError at once where one runs. */
  run(make: () => RunningTurn, input: Appendables): Promise<Turn> {
    if (this.#running !== undefined) {
      return Promise.reject(new TurnRunningError());
    }
    const loop = make();
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
        this.#unannounced.push({ result, said: undefined });
      }
      this.#compactions.delete(ended);
      release();
      await this.#announceQuietly();
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

  /** Takes note of an append: makes the announcements that had to wait for its end. */
  async appended(): Promise<void> {
    if (this.#running === undefined && this.#announcing === undefined) {
      // Who says something else has given up what could not be said. Answers and results are not given up.
      this.unsent = this.unsent.filter(({ kind }) => kind !== "input");
    }
    await this.#announceQuietly();
  }

  /**
   * Appends what is to be announced after the compactions so far, unless a message here would come between what belongs
   * together. Settles once no announcement is being made. One that could not be made is due again; one that the daemon
   * refuses is not.
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

  /** Whether a message now would come between what belongs together: calls and their results, or an answer that goes on. */
  get between(): boolean {
    return this.paused || (this.#session.report?.openCallCount ?? 0) > 0;
  }

  /** Drops what an aborted turn was at: its open calls are the log's matter. */
  forget(): void {
    this.step = undefined;
    this.unsent = [];
    this.paused = false;
    this.#checkpoint = undefined;
  }

  /** Drops the step that a turn broke off in, with the results that it could not append. */
  forgetStep(): void {
    this.step = undefined;
    this.paused = false;
    this.unsent = this.unsent.filter(({ kind }) => kind !== "results");
  }

  /** Begins anew with input: an earlier answer is not gone on with. */
  begin(): void {
    this.step = undefined;
    this.paused = false;
    this.#checkpoint = undefined;
    this.permitRetry();
  }

  /** Keeps what is to be appended. Input that is given once more is kept once. */
  queue(write: Write): void {
    const last = this.unsent.at(-1);
    if (last === write || (last?.kind === "input" && isDeepStrictEqual(last.content, write.content))) {
      return;
    }
    this.unsent.push(write);
  }

  /** Takes note that an append was made, or refused. */
  written(write: Write): void {
    this.unsent = this.unsent.filter((other) => other !== write);
  }

  /** The request id of the checkpoint to be made now: that of the last one, as long as it is not known to be made. */
  checkpointId(announce: boolean): string {
    if (this.#checkpoint?.announce !== announce) {
      this.#checkpoint = { announce, requestId: randomUUID() };
    }
    return this.#checkpoint.requestId;
  }

  /** Takes note that the checkpoint was made, or refused. */
  checkpointed(): void {
    this.#checkpoint = undefined;
  }

  /** Whether a compaction after an overflow, and another call of the model, are permitted. */
  get mayRetry(): boolean {
    return this.#mayRetry;
  }

  /** Gives back the permission to compact after an overflow and call the model again. */
  permitRetry(): void {
    this.#mayRetry = true;
  }

  /** Takes the permission. */
  takeRetry(): void {
    this.#mayRetry = false;
  }

  /**
   * The same where nobody waits for it: what was appended or compacted is so, whether it can be announced or not. It does
   * not wait for announcements that are being made, since it may be one of them that appends or compacts.
   */
  async #announceQuietly(): Promise<void> {
    if (this.#announcing === undefined && this.#unannounced.length > 0) {
      await this.announced(true).catch(() => undefined);
    }
  }

  async #announceAll(announce: Announce, quietly: boolean): Promise<void> {
    for (let due = this.#unannounced[0]; due !== undefined; due = this.#unannounced[0]) {
      const { result } = due;
      const told = (): void => {
        this.#unannounced = this.#unannounced.filter((other) => other.result !== result);
      };
      if (due.said === undefined) {
        const said = await announce(result);
        if (said === undefined) {
          told();
          continue;
        }
        const content = typeof said === "string" ? developer(said) : said;
        due.said = { kind: "input", content, requestId: randomUUID() };
      }
      try {
        await this.#session.append(due.said.content, { requestId: due.said.requestId });
      } catch (error) {
        if (!leavesOpen(error)) {
          due.said = undefined;
          if (!quietly) {
            told();
          }
        }
        throw error;
      }
      told();
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
