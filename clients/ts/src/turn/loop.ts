import { randomUUID } from "node:crypto";

import type { SessionCompactions } from "../compaction/compacting.js";
import type { Appendable, Appendables } from "../contract/messages.js";
import { MessageState } from "../v1.js";
import { orAborted, reasonOf } from "../wire/abort.js";
import { errorReason, leavesOpen, WrongNextIndexError } from "../wire/errors.js";
import { TurnCompactions } from "./compactions.js";
import { wholeOf } from "./modelOutput.js";
import { checkTurn, type CallModel, type LoopOptions } from "./options.js";
import { TurnRun } from "./run.js";
import type { Step, TurnState } from "./state.js";
import { TurnSteps } from "./steps.js";
import type { Turn } from "./turn.js";
import type { Write } from "./writes.js";

/** One turn: the five steps of an agent's loop, repeated until the model makes no more tool calls. */
export class TurnLoop {
  readonly #callModel: CallModel;
  readonly #run: TurnRun;
  readonly #compactions: TurnCompactions;
  readonly #steps: TurnSteps;

  constructor(session: SessionCompactions, turns: TurnState, callModel: CallModel, options: LoopOptions) {
    checkTurn(callModel, options);
    this.#callModel = callModel;
    this.#run = new TurnRun(session, turns, options);
    this.#compactions = new TurnCompactions(this.#run);
    this.#steps = new TurnSteps(this.#run, this.#compactions);
  }

  /** Whether a compaction of this turn is running. */
  get compacting(): boolean {
    return this.#compactions.compacting;
  }

  /** Aborts the turn after its current write. */
  abort(reason: Error): void {
    this.#run.abort(reason);
  }

  /** Runs the turn. After an abort it rejects with the reason of the abort, whatever failed because of it. */
  async run(input: Appendables): Promise<Turn> {
    const outer = this.#run.options.signal;
    const follow = (): void => {
      if (outer !== undefined) {
        this.abort(reasonOf(outer));
      }
    };
    outer?.addEventListener("abort", follow, { once: true });
    try {
      outer?.throwIfAborted();
      return await this.#take(input);
    } catch (error) {
      if (this.#run.signal.aborted) {
        this.#run.turns.forget();
        throw reasonOf(this.#run.signal);
      }
      throw error;
    } finally {
      outer?.removeEventListener("abort", follow);
      this.#run.options.tools?.discardMail();
    }
  }

  async #take(input: Appendables): Promise<Turn> {
    let step = await this.#takeUp(input);
    await orAborted(this.#run.turns.compactionsEnded(), this.#run.signal);
    for (;;) {
      this.#run.signal.throwIfAborted();
      step ??= await this.#nextStep();
      const turn = await this.#steps.finish(step);
      this.#run.turns.step = undefined;
      if (turn !== undefined) {
        return turn;
      }
      step = undefined;
    }
  }

  /**
   * Appends the messages that an earlier turn could not append, then the input. Without input, the turn continues where
   * the earlier one stopped, which may be within a step.
   */
  async #takeUp(input: Appendables): Promise<Step | undefined> {
    const isNew = !(Array.isArray(input) && input.length === 0);
    if (isNew) {
      this.#run.turns.queue({ kind: "input", content: input, requestId: randomUUID() });
    }
    await this.#dropReverted();
    if (this.#run.turns.unsent.length === 0 && this.#run.turns.step === undefined) {
      // The turn goes on with what is in the log, whoever wrote it.
      const { session } = await this.#run.session.info({ signal: this.#run.signal });
      this.#run.session.position.start(session?.nextIndex ?? 0);
    }
    for (let write = this.#run.turns.unsent[0]; write !== undefined; write = this.#run.turns.unsent[0]) {
      try {
        await this.#run.write(write);
      } catch (error) {
        // Others have written since the earlier turn: the input starts over without its step.
        const overtaken = error instanceof WrongNextIndexError && isNew && write.kind !== "input";
        // A revert came after the view of this answer, so the answer is not needed any more.
        const reverted = write.kind === "answer" && errorReason(error) === "HISTORY_REVERTED";
        if (!overtaken && !reverted) {
          throw error;
        }
      }
    }
    if (isNew) {
      this.#run.turns.begin();
    }
    return this.#run.turns.step;
  }

  /** Forgets the unfinished step of an earlier turn where a revert put its answer aside: its tools must not run. */
  async #dropReverted(): Promise<void> {
    const { step } = this.#run.turns;
    if (step === undefined) {
      return;
    }
    const { index } = step.answer;
    for await (const { state } of this.#run.session.messages({ fromIndex: index, signal: this.#run.signal })) {
      if (state === MessageState.PUT_ASIDE) {
        this.#run.turns.forgetStep();
      }
      return;
    }
  }

  async #nextStep(): Promise<Step> {
    await this.#compactions.ifDue();
    await this.#checkpoint();
    return this.#answer();
  }

  /**
   * Steps 2 to 4: calls the model and appends its answer. After an overflow it compacts and calls the model once more.
   */
  async #answer(): Promise<Step> {
    for (;;) {
      await orAborted(this.#run.turns.announced(), this.#run.signal);
      const view = await orAborted(this.#run.view(), this.#run.signal);
      let output: Appendable;
      try {
        output = await wholeOf(this.#callModel(view, { signal: this.#run.signal }), this.#run.signal);
      } catch (error) {
        this.#run.signal.throwIfAborted();
        const why = await this.#compactions.overflowOf(error);
        if (why === undefined) {
          throw error;
        }
        await this.#compactions.makeRoom(why, error);
        continue;
      }
      this.#run.signal.throwIfAborted();
      const write: Write = { kind: "answer", content: output, requestId: randomUUID(), view };
      this.#run.turns.queue(write);
      await this.#run.write(write);
      const { step } = this.#run.turns;
      if (step !== undefined && !(await this.#compactions.compactedIfOverflow(step))) {
        return step;
      }
    }
  }

  /** Makes the checkpoint of a step. It is announced where a tool takes its number. */
  async #checkpoint(): Promise<void> {
    const announce = this.#run.options.tools?.nameCheckpoints ?? false;
    if ((!announce && this.#run.options.checkpointSteps !== true) || this.#run.turns.between) {
      return;
    }
    // A retry after an error without a response does not make a second one.
    const requestId = this.#run.turns.checkpointId(announce);
    try {
      await this.#run.session.checkpoint({ announce, requestId });
    } catch (error) {
      if (!leavesOpen(error)) {
        this.#run.turns.checkpointed();
      }
      throw error;
    }
    this.#run.turns.checkpointed();
  }
}
