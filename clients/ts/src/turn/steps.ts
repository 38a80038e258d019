import { randomUUID } from "node:crypto";

import { StopReason } from "../v1.js";
import { errorReason, InvalidRequestError, ToolCallsOpenError } from "../wire/errors.js";
import type { TurnCompactions } from "./compactions.js";
import { endedBadly, type TurnRun } from "./run.js";
import type { Step } from "./state.js";
import { byShape, outcomeOf, toolCallsOf, type RunTool, type ToolCall } from "./toolCalls.js";
import type { Turn } from "./turn.js";
import type { Write } from "./writes.js";

/** The steps of a turn: an answer of the model, its tool calls, and their results. */
export class TurnSteps {
  readonly #run: TurnRun;
  readonly #compactions: TurnCompactions;

  constructor(run: TurnRun, compactions: TurnCompactions) {
    this.#run = run;
    this.#compactions = compactions;
  }

  /** Step 5: runs the calls and appends their results. Returns the result of the turn where it ends here. */
  async finish(step: Step): Promise<Turn | undefined> {
    const { answer } = step;
    if (await this.#compactions.compactedIfOverflow(step)) {
      return undefined;
    }
    const calls = (step.calls ??= await this.#callsOf(step));
    if (calls.length === 0) {
      const paused = answer.stopReason === StopReason.PAUSE;
      return paused && !this.#run.full ? undefined : this.#run.turn(answer, { done: !endedBadly(answer) && !paused });
    }
    if (step.writes === undefined) {
      await this.#runCalls(step, calls);
      this.#run.signal.throwIfAborted();
      if (this.#run.turns.step !== step) {
        // A tool reverted the session to a point before its call.
        return this.#run.full ? this.#run.turn(answer, { done: false }) : undefined;
      }
      step.writes = writesOf(step);
    }
    for (let write = step.writes[0]; write !== undefined; write = step.writes[0]) {
      await this.#writeResults(step, write);
    }
    const toolCalls = calls.filter((_, at) => step.outcomes[at] === undefined);
    const rejections = step.outcomes.flatMap((outcome) => outcome?.rejected ?? []);
    const rejected = rejections.some(({ feedback }) => feedback === "");
    if (toolCalls.length === 0 && rejections.length === 0) {
      await this.#deliverMail();
    } else {
      this.#run.options.tools?.discardMail();
    }
    const ended = rejected || toolCalls.length > 0 || this.#run.full;
    return ended ? this.#run.turn(answer, { done: false, toolCalls, rejected }) : undefined;
  }

  /** Appends results. Where the daemon refuses them, the next turn runs their tools again. */
  async #writeResults(step: Step, write: Write): Promise<void> {
    this.#run.turns.queue(write);
    try {
      await this.#run.write(write);
    } catch (error) {
      const refused =
        error instanceof InvalidRequestError || error instanceof ToolCallsOpenError || error instanceof TypeError;
      if (refused) {
        const content: readonly unknown[] = Array.isArray(write.content) ? write.content : [write.content];
        step.outcomes.forEach((outcome, at) => {
          if (content.includes(outcome?.result)) {
            step.outcomes[at] = undefined;
          }
        });
        delete step.writes;
      }
      throw error;
    }
  }

  /** The calls of an answer. A failed answer has none, since views leave its calls out. */
  async #callsOf({ answer }: Step): Promise<readonly ToolCall[]> {
    if (endedBadly(answer)) {
      return [];
    }
    if (answer.partsLeftOut) {
      answer.parts = await this.#run.partsOf(answer.index);
    }
    return toolCallsOf(answer.index, answer.parts);
  }

  /** Runs the calls that have no outcome yet, all at the same time. */
  async #runCalls({ outcomes }: Step, calls: readonly ToolCall[]): Promise<void> {
    await Promise.all(
      calls.map(async (call, at) => {
        const run = this.#runnerOf(call);
        if (run === undefined || outcomes[at] !== undefined) {
          return;
        }
        const { signal, session } = this.#run;
        const outcome = await outcomeOf(call, run, { signal, dialect: session.dialect });
        outcomes[at] = this.#run.turns.answered.delete(call.id) ? { ...outcome, logged: true } : outcome;
      }),
    );
  }

  #runnerOf(call: ToolCall): RunTool | undefined {
    const { tools, runTool } = this.#run.options;
    if (tools?.handles(call.name) !== true) {
      return runTool;
    }
    return async (one, { signal }) => (await tools.handle(one, { signal })) ?? "";
  }

  /** Delivers the D-Mail of this step: goes back to its checkpoint. */
  async #deliverMail(): Promise<void> {
    const mail = this.#run.options.tools?.takeMail();
    if (mail === undefined) {
      return;
    }
    try {
      const { checkpointId, message } = mail;
      await this.#run.session.revert({ toCheckpoint: checkpointId }, { messageFromFuture: message });
    } catch (error) {
      // A revert of another client put the checkpoint aside. Then nothing is delivered.
      const reason = errorReason(error);
      if (reason !== "CHECKPOINT_PUT_ASIDE" && reason !== "CHECKPOINT_NOT_FOUND") {
        throw error;
      }
    }
  }
}

/** Makes one append of the results of a step. Neutral messages and a provider's JSON need separate appends. */
function writesOf({ outcomes }: Step): Write[] {
  const results = outcomes.flatMap((outcome) =>
    outcome === undefined || outcome.logged === true ? [] : [outcome.result],
  );
  return byShape(results).map((content) => ({ kind: "results", content, requestId: randomUUID() }));
}
