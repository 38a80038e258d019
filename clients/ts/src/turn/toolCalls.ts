import { isMessage } from "@bufbuild/protobuf";

import { orAborted } from "../wire/abort.js";
import { isObject } from "../contract/arguments.js";
import { toolResult, type Appendable, type ProviderJson } from "../contract/messages.js";
import { told } from "../contract/texts.js";
import { MessageSchema, type FileTouch, type Message, type Part } from "../v1.js";

/** A tool that the model wants called. */
export interface ToolCall {
  /** The id that its result must name: the provider's, or the one that views show where the provider gave none. */
  readonly id: string;
  /** The tool's name. */
  readonly name: string;
  /** The arguments as the model wrote them: JSON as a rule, but models err. Empty where it gave none. */
  readonly arguments: string;
  /** The index in the log of the message that holds it. */
  readonly index: number;
  /** The arguments as JSON; `{}` where there are none. Throws a SyntaxError where they are no JSON. */
  json(): unknown;
}

/** A file that a tool read or changed, for the file lists of summaries. */
export type TouchedFile = Pick<FileTouch, "path"> & Partial<Pick<FileTouch, "modified">>;

/** What a tool answers, where a text alone does not say it. */
export class ToolOutput {
  /** The text for the model. */
  readonly text: string;
  /** Whether the tool failed. */
  readonly isError: boolean;
  /** Files that it read or changed. */
  readonly files: readonly TouchedFile[];

  constructor(text: string, options: { isError?: boolean; files?: readonly TouchedFile[] } = {}) {
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
  override readonly name: string = "ToolRejected";
  /** What the user wants the model to know; empty where nothing. */
  readonly feedback: string;

  constructor(feedback = "") {
    super("the call was rejected");
    this.feedback = feedback;
  }
}

/** A message that the model sends to itself at an earlier checkpoint. */
export interface Mail {
  /** The checkpoint to go back to. */
  readonly checkpointId: number;
  /** What the model is to know there. */
  readonly message: string;
}

/**
 * What a tool's runner may answer: a text, a ToolOutput, a neutral TOOL message, or the provider's own JSON of a result: bytes,
 * or an object with a `role` or a `type`. Any other object and a list is data, whose JSON is the result; undefined and null
 * are an empty one.
 */
export type ToolAnswer = string | ToolOutput | Message | Uint8Array | ProviderJson | null | undefined;

/** Runs one call. The calls of one answer run at once. What it throws is told to the model as the tool's failure. */
export type RunTool = (
  call: ToolCall,
  context: { readonly signal: AbortSignal },
) => ToolAnswer | PromiseLike<ToolAnswer>;

/** What became of one call. */
export interface ToolOutcome {
  /** What is appended for it. */
  readonly result: Appendable;
  /** Set where the user rejected it. */
  readonly rejected?: ToolRejected;
}

/** The tool calls of the answer with this index, in order, of all its parts. */
export function toolCallsOf(index: number, parts: readonly Part[]): ToolCall[] {
  return parts.flatMap(({ kind }, at) => {
    if (kind.case !== "toolCall") {
      return [];
    }
    const { id, name, arguments: written } = kind.value;
    const json = (): unknown => (written.trim() === "" ? {} : JSON.parse(written));
    return [{ id: id === "" ? `call_${String(index)}_${String(at)}` : id, name, arguments: written, index, json }];
  });
}

/** Divides results into runs of neighbours of one shape, neutral or a provider's: an append takes but one. */
export function byShape(results: readonly Appendable[]): Appendable[][] {
  const runs: Appendable[][] = [];
  let lastNeutral: boolean | undefined;
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
export async function outcomeOf(call: ToolCall, run: RunTool, signal: AbortSignal): Promise<ToolOutcome> {
  try {
    const answer = await orAborted(
      Promise.resolve().then(() => run(call, { signal })),
      signal,
    );
    return { result: resultOf(call, answer) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolRejected) {
      const { feedback } = error;
      const text = feedback === "" ? told("rejected") : told("rejected_with_feedback", { feedback });
      return { result: toolResult(call, text, { isError: true }), rejected: error };
    }
    const text = error instanceof Error ? error.message : String(error);
    return { result: toolResult(call, text, { isError: true }) };
  }
}

function resultOf(call: ToolCall, answer: ToolAnswer): Appendable {
  if (typeof answer === "string") {
    return toolResult(call, answer);
  }
  if (answer instanceof ToolOutput) {
    return toolResult(call, answer.text, { isError: answer.isError, files: answer.files });
  }
  if (answer === undefined || answer === null) {
    return toolResult(call, "");
  }
  if (answer instanceof Uint8Array || isMessage(answer, MessageSchema)) {
    return answer;
  }
  const json: unknown = JSON.stringify(answer);
  if (typeof json !== "string") {
    throw new TypeError(`${call.name}: a ${typeof answer} is no result`);
  }
  const plain: unknown = JSON.parse(json);
  return isObject(plain) && ("role" in plain || "type" in plain) ? answer : toolResult(call, json);
}
