import type { MessageInitShape } from "@bufbuild/protobuf";

import { pages } from "../wire/pages.js";
import type { CallOptions, WriteOptions } from "../wire/calls.js";
import { callKeys, callOptions, requestIdOf, writeKeys } from "../wire/calls.js";
import { checkedIndex, checkKeys, checkList, checkText } from "../contract/arguments.js";
import type { PolicyLike } from "../contract/policy.js";
import { modelText } from "../contract/texts.js";
import { SessionTurns } from "../turn/turns.js";
import type { ToolCall } from "../turn/toolCalls.js";
import { CompactordError } from "../wire/errors.js";
import type { ChildContextSchema, EndChildResponse, Session as SessionState } from "../v1.js";
import { ChildSees } from "../v1.js";

/** The most characters of an error that the result of a failed child quotes. */
const errorChars = 64 * 1024;

/** What a child sees, and how it begins. */
export interface ChildOptions extends WriteOptions {
  /** Whether it sees a copy of the whole log, or nothing but what is chosen here. Default `nothing`. */
  readonly sees?: "everything" | "nothing";
  /** Indexes of the messages that it sees. With a message come the others of its tool group. */
  readonly messages?: readonly number[];
  /** Names of the context blocks that it sees. */
  readonly blocks?: readonly string[];
  /** Whether it begins with the parent's instructions. Default false. */
  readonly instructions?: boolean;
  /** The checkpoint at which it begins. */
  readonly atCheckpoint?: number;
  /** The point at which it begins. Default: the end of the log. */
  readonly point?: number;
  /**
   * The open tool call that its result answers, or the call's id. A turn of the parent's session object knows then that
   * the call is answered, whatever `runTool` returns. Default: the result is a USER message, which starts no turn.
   */
  readonly call?: Pick<ToolCall, "id"> | string;
  /** Its id. Default: a UUID. */
  readonly sessionId?: string;
  /** Its policy. Default: the parent's. */
  readonly policy?: PolicyLike;
  /** Its labels. Default: the parent's. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Its title, which its result names. */
  readonly title?: string;
}

/** All options of a child. Other keys are refused: they may be misspelt. */
const takenByChild: Readonly<Record<keyof ChildOptions, true>> = {
  signal: true,
  timeoutMs: true,
  requestId: true,
  sees: true,
  messages: true,
  blocks: true,
  instructions: true,
  atCheckpoint: true,
  point: true,
  call: true,
  sessionId: true,
  policy: true,
  labels: true,
  title: true,
};

/** How a child ends. */
export interface EndOptions extends WriteOptions {
  /** Whether the child failed. The result then says why. Default false. */
  readonly isError?: boolean;
  /** The open call of the parent that the result answers, or its id. Default: the one that the child was made with. */
  readonly call?: Pick<ToolCall, "id"> | string;
}

/** The part of a session that lists its children, and that ends it where it is a child itself. */
export class SessionChildren extends SessionTurns {
  private parent: SessionTurns | undefined;
  private callId = "";
  private outcome: EndChildResponse | undefined;

  /** How {@link end} of this object ended the child; undefined where it has not. */
  get ended(): EndChildResponse | undefined {
    return this.outcome;
  }

  /**
   * Ends this session, which is a child, and appends its result to the parent's log. The log of the child takes nothing
   * more; the parent's model is told how to recall it. Without a result, it is the text of the child's newest ASSISTANT
   * message. Ending it again with the same result, or without one, does nothing. Throws with the reason `CHILD_ENDED` where it has
   * ended with another result, and `NO_PARENT` where it is no child or its parent was deleted.
   */
  async end(result = "", options: EndOptions = {}): Promise<EndChildResponse> {
    checkText("result", result);
    checkKeys("end", options, [...writeKeys, "isError", "call"]);
    const callId = options.call === undefined ? this.callId : idOf(options.call);
    const request = {
      sessionId: this.id,
      result,
      callId,
      isError: options.isError ?? false,
      requestId: requestIdOf(options),
    };
    const answer = await this.client.sessions.endChild(request, callOptions(options));
    this.outcome = answer;
    this.parent?.noteReport(answer.report);
    this.parent?.noteWritten(answer.index);
    if (answer.answersCall) {
      this.parent?.noteAnswered(callId);
    }
    return answer;
  }

  /** Iterates over the children of this session, newest first, including those that have ended. */
  children(options: CallOptions = {}): AsyncGenerator<SessionState, void, undefined> {
    checkKeys("children", options, callKeys);
    return pages(async (pageToken) => {
      const request = { parentSessionId: this.id, pageToken };
      const page = await this.client.sessions.listSessions(request, callOptions(options));
      return [page.sessions, page.nextPageToken];
    });
  }

  /**
   * Notes whose child this is, and which call its result answers.
   *
   * @internal
   */
  belongsTo(parent: SessionTurns, call: Pick<ToolCall, "id"> | string | undefined): void {
    this.parent = parent;
    this.callId = call === undefined ? "" : idOf(call);
  }
}

/** Lets a child work, and ends it: with the text that `work` returns, or with the error that it throws. */
export async function endedAfter<S extends SessionChildren>(
  child: S,
  work: (child: S) => unknown,
  options: CallOptions,
): Promise<EndChildResponse> {
  try {
    const result = await work(child);
    return child.ended ?? (await child.end(typeof result === "string" ? result : "", callOptions(options)));
  } catch (error) {
    if (child.ended === undefined) {
      await child.end(failureOf(error), { isError: true }).catch((second: unknown) => {
        // The caller must see the error that ended the work.
        if (!(second instanceof CompactordError)) {
          throw second;
        }
      });
    }
    throw error;
  }
}

/** What a child sees, as the contract says it. */
export function sightOf(options: ChildOptions): MessageInitShape<typeof ChildContextSchema> {
  checkKeys("child", options, Object.keys(takenByChild));
  const { sees = "nothing", messages = [], blocks = [], instructions = false } = options;
  checkList("messages", messages);
  checkList("blocks", blocks);
  switch (sees) {
    case "everything":
      if (messages.length > 0 || blocks.length > 0 || instructions) {
        throw new TypeError("child: with everything it sees the messages, blocks and instructions anyway");
      }
      return { sees: ChildSees.EVERYTHING };
    case "nothing":
      return {
        sees: messages.length > 0 || blocks.length > 0 ? ChildSees.CHOSEN : ChildSees.NOTHING,
        indexes: messages.map((index) => checkedIndex("messages", index)),
        blocks: [...blocks],
        instructions,
      };
    default:
      throw new TypeError(`sees: ${JSON.stringify(sees)} is none: everything or nothing`);
  }
}

function idOf(call: Pick<ToolCall, "id"> | string): string {
  const id = typeof call === "string" ? call : (call as Partial<typeof call> | null)?.id;
  if (typeof id !== "string") {
    throw new TypeError("call: must be a tool call or its id");
  }
  return id;
}

/** The result of a child that failed, for the parent's model. */
function failureOf(error: unknown): string {
  const aborted = error instanceof Error && error.name === "AbortError";
  const text = error instanceof Error ? error.message : String(error);
  return aborted || text === ""
    ? modelText("child_stopped")
    : modelText("child_failed", { error: text.slice(0, errorChars) });
}
