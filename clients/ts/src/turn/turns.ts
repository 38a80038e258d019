import type { CompactionPlace } from "../compaction/compaction.js";
import { SessionCompactions } from "../compaction/compacting.js";
import { TurnLoop } from "./loop.js";
import type { CallModel, LoopOptions } from "./options.js";
import type { Appendables } from "../contract/messages.js";
import type { Turn } from "./turn.js";
import { TurnState, type Announce } from "./state.js";

/** The part of a session that takes an agent's turns: one at a time, and none beside a compaction that it did not ask for. */
export class SessionTurns extends SessionCompactions {
  private readonly turns = new TurnState(this);

  /** Aborts the turn that runs in this session object: nothing is appended any more once it returns. False where none runs. */
  async abortTurn(): Promise<boolean> {
    return this.turns.abort();
  }

  /** What is told to the model after each completed compaction of this session object; undefined for nothing. */
  get announce(): Announce | undefined {
    return this.turns.announce;
  }

  set announce(announce: Announce | undefined) {
    this.turns.announce = announce;
  }

  /**
   * Takes a turn.
   *
   * @internal
   */
  protected takeTurn(callModel: CallModel, input: Appendables, options: LoopOptions): Promise<Turn> {
    return this.turns.run(() => new TurnLoop(this, this.turns, callModel, options), input);
  }

  /** @internal */
  protected override takenBack(): void {
    this.turns.forget();
  }

  /** @internal */
  protected override appended(): Promise<void> {
    return this.turns.appended();
  }

  /** @internal */
  protected override makeWay(abortRunning: boolean): Promise<CompactionPlace> {
    return this.turns.enter(abortRunning);
  }
}
