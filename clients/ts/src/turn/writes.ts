import type { Appendables } from "../contract/messages.js";
import type { SessionLog } from "../session/log.js";
import { Origin, type AppendMessagesResponse } from "../v1.js";
import type { View } from "../view/view.js";
import { leavesOpen, WrongNextIndexError } from "../wire/errors.js";

/** The origins of what programs append. All others mark what the daemon adds to a request that is not an append. */
const sentByClients: readonly Origin[] = [Origin.UNSPECIFIED, Origin.CLIENT, Origin.IMPORT];

const conflict =
  "another process, or another session object of this one, has written to the session during this turn: nothing of " +
  "the rejected append was written; run the turns of a session in one process at a time, and start this turn anew";

/** An append of a turn. Its request id makes it safe to send again, even after other appends. */
export interface Write {
  readonly kind: "input" | "answer" | "results";
  readonly content: Appendables;
  readonly requestId: string;
  /** For an answer: the view that it was made from. */
  readonly view?: View;
  /** The index that its first message must get; undefined for any. */
  expectedNextIndex?: number | undefined;
  /**
   * Whether it is unknown if the daemon executed it. It is then sent again unchanged, since the daemon refuses another
   * request with the same id.
   */
  unanswered?: boolean;
}

/** Executes an append. */
export async function send(session: SessionLog, write: Write): Promise<AppendMessagesResponse> {
  const { kind, content, requestId, view, expectedNextIndex } = write;
  try {
    const response = await session.append(content, {
      requestId,
      modelAnswer: kind === "answer",
      ...(view !== undefined && { view }),
      ...(expectedNextIndex !== undefined && { expectedNextIndex }),
    });
    write.unanswered = false;
    return response;
  } catch (error) {
    write.unanswered = leavesOpen(error);
    throw error;
  }
}

/**
 * Executes an append that must directly follow what this session object knows of the log. Throws a WrongNextIndexError
 * where another process has written to the session.
 */
export async function sendInTurn(session: SessionLog, write: Write): Promise<AppendMessagesResponse> {
  const { position } = session;
  for (;;) {
    if (write.unanswered !== true) {
      write.expectedNextIndex = position.nextIndex;
    }
    try {
      return await send(session, write);
    } catch (error) {
      if (!(error instanceof WrongNextIndexError)) {
        throw error;
      }
      await takeIn(session, error.nextIndex ?? 0);
      if ((position.nextIndex ?? 0) <= (write.expectedNextIndex ?? 0)) {
        error.message = conflict;
        throw error;
      }
    }
  }
}

/**
 * Moves the position to the end of the log, unless another process has appended to it. The response to another append of
 * this object may come later than the refusal. What the daemon adds by itself, such as the message after a compaction that
 * lets the agent go on, belongs to no turn.
 */
async function takeIn(session: SessionLog, end: number): Promise<void> {
  const { position } = session;
  await position.settled();
  const fromIndex = position.nextIndex ?? end;
  if (fromIndex >= end) {
    return;
  }
  for await (const { index, message } of session.messages({ fromIndex })) {
    if (index >= end) {
      break;
    }
    if (sentByClients.includes(message?.origin ?? Origin.UNSPECIFIED) && !position.isOwn(index)) {
      return;
    }
  }
  position.start(end);
}
