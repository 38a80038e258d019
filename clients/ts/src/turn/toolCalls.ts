import { clone, isMessage } from "@bufbuild/protobuf";

import { orAborted } from "../wire/abort.js";
import { isObject } from "../contract/arguments.js";
import {
  neutralMessage,
  toolResult,
  type Appendable,
  type DialectName,
  type ProviderJson,
} from "../contract/messages.js";
import { modelText } from "../contract/texts.js";
import { MessageSchema, Role, type FileTouch, type Message, type Part } from "../v1.js";

/** A tool call of the model. */
export interface ToolCall {
  /** The id for its result: the provider's, or the one that views show where the provider gave none. */
  readonly id: string;
  /** The tool's name. */
  readonly name: string;
  /** The arguments as the model wrote them. Usually JSON, but models make mistakes. Empty where there are none. */
  readonly arguments: string;
  /** The index in the log of the message with the call. */
  readonly index: number;
  /** Parses the arguments; `{}` where there are none. Throws a SyntaxError where they are not JSON. */
  json(): unknown;
}

/** A file that a tool read or changed, for the file lists of summaries. */
export type TouchedFile = Pick<FileTouch, "path"> & Partial<Pick<FileTouch, "modified">>;

/** The result of a tool, where a text alone is not enough. */
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
 * `runTool` throws it where the user did not allow the call. The model gets a result that says so. The turn ends after
 * the step, unless there is `feedback` for the model. A pending D-Mail is discarded in both cases.
 */
export class ToolRejected extends Error {
  override readonly name: string = "ToolRejected";
  /** The user's text for the model; empty where there is none. */
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
  /** The message. */
  readonly message: string;
}

/**
 * The result of `runTool`: a text, a ToolOutput, a neutral TOOL message, or the provider's JSON of a result: bytes, or
 * an object with a `role` or a `type`. Another object and a list are data, whose JSON is the result. undefined and null
 * are an empty result.
 */
export type ToolAnswer = string | ToolOutput | Message | Uint8Array | ProviderJson | null | undefined;

/** Runs one call. The calls of one answer run at the same time. An error becomes an error result for the model. */
export type RunTool = (
  call: ToolCall,
  context: { readonly signal: AbortSignal },
) => ToolAnswer | PromiseLike<ToolAnswer>;

/** The outcome of one call. */
export interface ToolOutcome {
  /** The result to append. */
  readonly result: Appendable;
  /** Set where the log has a result already, since the end of a child answered the call. */
  readonly logged?: true;
  /** Set where the user rejected it. */
  readonly rejected?: ToolRejected;
}

/** Finds the tool calls in all parts of the answer with this index, in order. */
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

/**
 * Divides results into groups of neighbours with one shape, neutral or a provider's, since an append accepts only one.
 */
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

/**
 * Runs one call. Its errors become error results for the model. Throws where the signal aborts, and a TypeError where
 * `runTool` returned what cannot be the result of the call.
 */
export async function outcomeOf(
  call: ToolCall,
  run: RunTool,
  { signal, dialect }: { readonly signal: AbortSignal; readonly dialect: DialectName | undefined },
): Promise<ToolOutcome> {
  let answer: ToolAnswer;
  try {
    answer = await orAborted(
      Promise.resolve().then(() => run(call, { signal })),
      signal,
    );
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolRejected) {
      const { feedback } = error;
      const text = feedback === "" ? modelText("rejected") : modelText("rejected_with_feedback", { feedback });
      return { result: toolResult(call, text, { isError: true }), rejected: error };
    }
    const text = error instanceof Error ? error.message || error.name : String(error);
    return { result: toolResult(call, text, { isError: true }) };
  }
  try {
    return { result: resultOf(call, answer, dialect) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TypeError(`runTool returned ${kindOf(answer)} for call ${call.id} of ${call.name}: ${why}`, {
      cause: error,
    });
  }
}

function resultOf(call: ToolCall, answer: ToolAnswer, dialect: DialectName | undefined): Appendable {
  if (typeof answer === "string") {
    return toolResult(call, answer);
  }
  if (answer instanceof ToolOutput) {
    if (typeof (answer.text as unknown) !== "string") {
      throw new TypeError(`its text is ${kindOf(answer.text)} and must be a string`);
    }
    return toolResult(call, answer.text, { isError: answer.isError, files: answer.files });
  }
  if (answer === undefined || answer === null) {
    return toolResult(call, "");
  }
  if (isMessage(answer, MessageSchema)) {
    return answering(call, answer);
  }
  if (answer instanceof Uint8Array) {
    return answer;
  }
  const json: unknown = typeof answer === "object" ? JSON.stringify(answer) : undefined;
  if (typeof json !== "string") {
    throw new TypeError("it must be a string, a ToolOutput, a message, or an object or list with data");
  }
  const plain: unknown = JSON.parse(json);
  if (!isObject(plain) || !("role" in plain || "type" in plain)) {
    return toolResult(call, json);
  }
  return dialect === undefined ? answering(call, neutralMessage(plain)) : answer;
}

/** A neutral message as the result of a call. Results in it without an id get the call's. */
function answering(call: ToolCall, message: Message): Message {
  const results = message.parts.flatMap(({ kind }) => (kind.case === "toolResult" ? [kind.value] : []));
  if (message.role !== Role.TOOL || results.length === 0) {
    throw new TypeError("it is not a TOOL message with a toolResult");
  }
  if (results.some(({ callId }) => callId !== "" && callId !== call.id)) {
    throw new TypeError("its callId belongs to another call");
  }
  const own = clone(MessageSchema, message);
  for (const { kind } of own.parts) {
    if (kind.case === "toolResult") {
      kind.value.callId = call.id;
    }
  }
  return own;
}

function kindOf(value: unknown): string {
  const name = typeof value === "object" ? (value?.constructor.name ?? "null") : typeof value;
  return `${/^[aeiou]/i.test(name) ? "an" : "a"} ${name}`;
}
