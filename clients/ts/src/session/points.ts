import type { MessageInitShape } from "@bufbuild/protobuf";

import { checkedIndex, checkKeys, checkList, onlyKey } from "../contract/arguments.js";
import type { WriteOptions } from "../wire/calls.js";
import { callOptions, present, requestIdOf, writeKeys } from "../wire/calls.js";
import { SessionContext } from "./context.js";
import type { RevertOptions, RevertTarget } from "./options.js";
import { Position } from "./position.js";
import type {
  Checkpoint,
  ClearSessionResponse,
  PinMessagesResponse,
  RevertToCheckpointRequestSchema,
  RevertToCheckpointResponse,
  UnpinMessagesResponse,
} from "../v1.js";

/** The part of a session that makes checkpoints, reverts and pins. It removes nothing from the log. */
export abstract class SessionPoints extends SessionContext {
  /**
   * Where this object is in the log.
   *
   * @internal
   */
  readonly position = new Position();

  /** Makes a checkpoint at the end of the log, so that a later revert can go back to it. */
  async checkpoint(
    options: WriteOptions & {
      /** Its title. At most 512 bytes. */ readonly title?: string;
      /** Shows its number to the model. Refused while calls are open. Default false. */ readonly announce?: boolean;
    } = {},
  ): Promise<Checkpoint> {
    checkKeys("checkpoint", options, [...writeKeys, "title", "announce"]);
    const request = {
      sessionId: this.id,
      title: options.title ?? "",
      announce: options.announce ?? false,
      requestId: requestIdOf(options),
    };
    const { checkpoint, report } = await this.client.sessions.createCheckpoint(request, callOptions(options));
    this.noteReport(report);
    this.noteWritten(checkpoint?.markerIndex);
    return present(checkpoint, "checkpoint");
  }

  /** Goes back to a checkpoint or a point, or by some turns, or undoes the last change. Nothing is removed. */
  async revert(target: RevertTarget, options: RevertOptions = {}): Promise<RevertToCheckpointResponse> {
    checkKeys("the options of revert", options, [...writeKeys, "messageFromFuture", "summarize", "focus"]);
    const request = {
      sessionId: this.id,
      target: targetOf(target),
      messageFromFuture: options.messageFromFuture ?? "",
      summarize: options.summarize ?? false,
      focus: options.focus ?? "",
      requestId: requestIdOf(options),
    };
    const answer = await this.client.sessions.revertToCheckpoint(request, callOptions(options));
    this.noteWritten(answer.record?.kind.case === "revert" ? answer.record.kind.value.futureIndex : undefined);
    this.takenBack();
    this.wentBack(answer);
    this.noteReport(answer.report);
    return answer;
  }

  /** Puts all messages aside except the SYSTEM and DEVELOPER messages at the start. Nothing is removed. */
  async clear(options: WriteOptions = {}): Promise<ClearSessionResponse> {
    checkKeys("clear", options, writeKeys);
    const request = { sessionId: this.id, requestId: requestIdOf(options) };
    const answer = await this.client.sessions.clearSession(request, callOptions(options));
    this.takenBack();
    this.wentBack(answer);
    this.noteReport(answer.report);
    return answer;
  }

  /** Keeps messages word for word in every view, each with its tool group. */
  async pin(indexes: readonly number[], options: WriteOptions = {}): Promise<PinMessagesResponse> {
    checkKeys("pin", options, writeKeys);
    const request = { sessionId: this.id, indexes: checkedIndexes(indexes), requestId: requestIdOf(options) };
    const answer = await this.client.sessions.pinMessages(request, callOptions(options));
    this.noteReport(answer.report);
    return answer;
  }

  /** Unpins messages, so that they can be covered and edited again. */
  async unpin(indexes: readonly number[], options: WriteOptions = {}): Promise<UnpinMessagesResponse> {
    checkKeys("unpin", options, writeKeys);
    const request = { sessionId: this.id, indexes: checkedIndexes(indexes), requestId: requestIdOf(options) };
    const answer = await this.client.sessions.unpinMessages(request, callOptions(options));
    this.noteReport(answer.report);
    return answer;
  }

  /**
   * Notes a message that the daemon has added for this object.
   *
   * @internal
   */
  noteWritten(index: number | undefined): void {
    if (index !== undefined) {
      this.position.wrote(index, index + 1);
    }
  }

  /**
   * Called after each revert and clear.
   *
   * @internal
   */
  protected abstract takenBack(): void;

  /**
   * Called with the answer to each revert and clear of this object.
   *
   * @internal
   */
  protected abstract wentBack(answer: RevertToCheckpointResponse | ClearSessionResponse): void;
}

function checkedIndexes(indexes: readonly number[]): number[] {
  checkList("indexes", indexes);
  return indexes.map((index) => checkedIndex("indexes", index));
}

function targetOf(
  target: RevertTarget,
): NonNullable<MessageInitShape<typeof RevertToCheckpointRequestSchema>["target"]> {
  const keys = ["toCheckpoint", "point", "turns", "undo"] as const;
  checkKeys("revert", target, keys);
  const key = onlyKey("revert", target, keys);
  const { [key]: value }: Readonly<Partial<Record<typeof key, number | true>>> = target;
  switch (key) {
    case "toCheckpoint":
      return { case: "checkpointId", value: checkedIndex(key, value) };
    case "point":
    case "turns":
      return { case: key, value: checkedIndex(key, value) };
    case "undo":
      if (value !== true) {
        throw new TypeError("undo: must be true");
      }
      return { case: key, value };
  }
}
