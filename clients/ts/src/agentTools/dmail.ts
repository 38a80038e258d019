import { Arguments } from "./arguments.js";
import { modelText } from "../contract/texts.js";
import { ToolOutput, type Mail } from "../turn/toolCalls.js";
import type { ListedCheckpoint } from "../session/reading.js";

/** The one D-Mail that may be pending. It changes only the conversation, and only when it is delivered. */
export class Mailbox {
  #pending: Mail | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Handles a send_dmail call and returns its result. The calls of a step are handled one after the other, in order, so
   * that the second of two finds the first pending.
   */
  send(json: string, checkpoints: () => AsyncIterable<ListedCheckpoint>): Promise<ToolOutput> {
    const sent = this.#last.then(() => this.#send(json, checkpoints));
    this.#last = sent.catch(() => undefined);
    return sent;
  }

  /** Returns and forgets the pending D-Mail. */
  take(): Mail | undefined {
    const mail = this.#pending;
    this.#pending = undefined;
    return mail;
  }

  async #send(json: string, checkpoints: () => AsyncIterable<ListedCheckpoint>): Promise<ToolOutput> {
    if (this.#pending !== undefined) {
      return refused(modelText("mail_pending"));
    }
    const given = new Arguments("send_dmail", json);
    const mail = { checkpointId: given.number("checkpoint_id") ?? 0, message: given.trimmed("message") };
    const why = await unreachable(mail.checkpointId, checkpoints());
    if (why !== undefined) {
      return refused(why);
    }
    this.#pending = mail;
    // The delivery puts this result aside, so the model only reads it where nothing was delivered.
    return new ToolOutput(modelText("mail_sent"));
  }
}

async function unreachable(id: number, checkpoints: AsyncIterable<ListedCheckpoint>): Promise<string | undefined> {
  let last = 0;
  for await (const { checkpoint, putAside } of checkpoints) {
    last = checkpoint.id;
    if (last === id) {
      return putAside ? modelText("mail_to_put_aside", { checkpoint: id }) : undefined;
    }
  }
  return modelText("mail_to_unknown", { checkpoint: id, last });
}

function refused(why: string): ToolOutput {
  return new ToolOutput(why, { isError: true });
}
