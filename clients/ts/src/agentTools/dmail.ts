import { checkedArguments, definitionOf } from "./tools.js";
import { told } from "../contract/texts.js";
import { ToolOutput, type Mail } from "../turn/toolCalls.js";
import type { ListedCheckpoint } from "../session/reading.js";

/** Holds the one D-Mail that may be pending. It never touches anything but the conversation, and that only on delivery. */
export class Mailbox {
  #pending: Mail | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Takes the arguments of a send_dmail call and answers what the model reads. Calls of one step are taken one after the
   * other, in their order, so that the first of two is pending before the second is looked at.
   */
  send(json: string, checkpoints: () => AsyncIterable<ListedCheckpoint>): Promise<ToolOutput> {
    const sent = this.#last.then(() => this.#send(json, checkpoints));
    this.#last = sent.catch(() => undefined);
    return sent;
  }

  /** Takes the pending D-Mail out. */
  take(): Mail | undefined {
    const mail = this.#pending;
    this.#pending = undefined;
    return mail;
  }

  async #send(json: string, checkpoints: () => AsyncIterable<ListedCheckpoint>): Promise<ToolOutput> {
    if (this.#pending !== undefined) {
      return refused(told("mail_pending"));
    }
    const given = checkedArguments(definitionOf("send_dmail"), json);
    if (typeof given === "string") {
      return failed(given);
    }
    const mail = { checkpointId: Number(given["checkpoint_id"]), message: String(given["message"]) };
    if (mail.message.trim() === "") {
      return failed("The message is empty.");
    }
    const why = await unreachable(mail.checkpointId, checkpoints());
    if (why !== undefined) {
      return refused(why);
    }
    this.#pending = mail;
    // Delivery puts this result aside. So who can read it has not been taken back.
    return new ToolOutput(told("mail_sent"));
  }
}

async function unreachable(id: number, checkpoints: AsyncIterable<ListedCheckpoint>): Promise<string | undefined> {
  let last = 0;
  for await (const { checkpoint, putAside } of checkpoints) {
    last = checkpoint.id;
    if (last === id) {
      return putAside ? told("mail_to_put_aside", { checkpoint: id }) : undefined;
    }
  }
  return told("mail_to_unknown", { checkpoint: id, last });
}

function refused(why: string): ToolOutput {
  return new ToolOutput(why, { isError: true });
}

function failed(why: string): ToolOutput {
  return refused(`The message was not sent: ${why}`);
}
