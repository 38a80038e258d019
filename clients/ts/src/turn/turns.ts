import type { CompactionPlace } from "../compaction/compaction.js";
import { SessionSync } from "../compaction/syncing.js";
import { TurnLoop } from "./loop.js";
import type { CallModel, LoopOptions } from "./options.js";
import type { Appendables } from "../contract/messages.js";
import type { Turn } from "./turn.js";
import { TurnState, type Announce } from "./state.js";

/**
 * The part of a session that runs an agent's turns: one at a time, and none during a compaction from outside of the
 * turn.
 */
export class SessionTurns extends SessionSync {
  private readonly turns = new TurnState(this);

  /**
   * Aborts the running turn of this session object. The turn appends nothing after that. False where none is running.
   */
  async abortTurn(): Promise<boolean> {
    return this.turns.abort();
  }

  /** The function that returns a message for the model after each completed compaction; undefined for none. */
  get announce(): Announce | undefined {
    return this.turns.announce;
  }

  set announce(announce: Announce | undefined) {
    this.turns.announce = announce;
  }

  /**
   * Notes that the end of a child answered a call.
   *
   * @internal
   */
  noteAnswered(callId: string): void {
    this.turns.answered.add(callId);
  }

  /**
   * Runs a turn.
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
