import { checkedArguments, definitionOf } from "./tools.js";
import { ToolOutput } from "./toolCalls.js";
/** Holds the one D-Mail that may be pending. It never touches anything but the conversation, and that only on delivery. */
export class Mailbox {
    #pending;
    #last = Promise.resolve();
    /**
     * Takes the arguments of a send_dmail call and answers what the model reads. Calls of one step are taken one after the
     * other, in their order, so that the first of two is pending before the second is looked at.
     */
    send(json, checkpoints) {
        const sent = this.#last.then(() => this.#send(json, checkpoints));
        this.#last = sent.catch(() => undefined);
        return sent;
    }
    /** Takes the pending D-Mail out. */
    take() {
        const mail = this.#pending;
        this.#pending = undefined;
        return mail;
    }
    async #send(json, checkpoints) {
        if (this.#pending !== undefined) {
            return failed("Another one is pending, and there can be only one at a time.");
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
            return failed(why);
        }
        this.#pending = mail;
        // Delivery puts this result aside. So who can read it has not been taken back.
        return new ToolOutput("The D-Mail was not delivered: if you can read this, the conversation was not taken back.");
    }
}
async function unreachable(id, checkpoints) {
    for await (const { checkpoint, putAside } of checkpoints) {
        if (checkpoint?.id === id) {
            return putAside ? `Checkpoint ${String(id)} was taken back.` : undefined;
        }
    }
    return `There is no checkpoint ${String(id)}.`;
}
function failed(why) {
    return new ToolOutput(`The D-Mail was not sent. ${why}`, { isError: true });
}
