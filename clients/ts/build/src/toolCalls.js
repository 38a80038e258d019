import { isMessage } from "@bufbuild/protobuf";
import { orAborted } from "./abort.js";
import { toolResult } from "./messages.js";
import { MessageSchema } from "./v1.js";
/** What a tool answers, where a text alone does not say it. */
export class ToolOutput {
    /** The text for the model. */
    text;
    /** Whether the tool failed. */
    isError;
    /** Files that it read or changed. */
    files;
    constructor(text, options = {}) {
        this.text = text;
        this.isError = options.isError ?? false;
        this.files = options.files ?? [];
    }
}
/**
 * Thrown by a tool's runner where the user does not want the call made. The model is told so; without `feedback` the turn
 * ends after the step, and with it the model goes on, knowing it. A pending D-Mail is discarded either way.
 */
export class ToolRejected extends Error {
    name = "ToolRejected";
    /** What the user wants the model to know; empty where nothing. */
    feedback;
    constructor(feedback = "") {
        super("the call was rejected");
        this.feedback = feedback;
    }
}
/** The tool calls of the answer with this index, in order, of all its parts. */
export function toolCallsOf(index, parts) {
    return parts.flatMap(({ kind }, at) => {
        if (kind.case !== "toolCall") {
            return [];
        }
        const { id, name, arguments: written } = kind.value;
        const json = () => (written.trim() === "" ? {} : JSON.parse(written));
        return [{ id: id === "" ? `call_${String(index)}_${String(at)}` : id, name, arguments: written, index, json }];
    });
}
/** Divides results into runs of neighbours of one shape, neutral or a provider's: an append takes but one. */
export function byShape(results) {
    const runs = [];
    let lastNeutral;
    for (const result of results) {
        const neutral = typeof result === "string" || isMessage(result, MessageSchema);
        if (neutral !== lastNeutral) {
            runs.push([]);
            lastNeutral = neutral;
        }
        runs.at(-1)?.push(result);
    }
    return runs;
}
/** Runs one call to its outcome. Only an abort of the signal is thrown: all else is told to the model. */
export async function outcomeOf(call, run, signal) {
    try {
        const answer = await orAborted(Promise.resolve().then(() => run(call, { signal })), signal);
        return { result: resultOf(call, answer) };
    }
    catch (error) {
        signal.throwIfAborted();
        if (error instanceof ToolRejected) {
            const told = error.feedback === "" ? "" : ` The user says: ${error.feedback}`;
            const text = `The user rejected this call; it was not made.${told}`;
            return { result: toolResult(call, text, { isError: true }), rejected: error };
        }
        const text = error instanceof Error ? error.message : String(error);
        return { result: toolResult(call, text, { isError: true }) };
    }
}
function resultOf(call, answer) {
    if (typeof answer === "string") {
        return toolResult(call, answer);
    }
    if (answer instanceof ToolOutput) {
        return toolResult(call, answer.text, { isError: answer.isError, files: answer.files });
    }
    return answer;
}
