import type { MessageInitShape } from "@bufbuild/protobuf";

import type { CallOptions, WriteOptions } from "../wire/calls.js";
import type { StopReason, UsageSchema } from "../v1.js";
import type { View } from "../view/view.js";
import type { StopReasonName } from "../contract/words.js";

/** The options of an append. */
export interface AppendOptions extends WriteOptions {
  /** The view that the model's answer was made from. */
  readonly view?: View;
  /** Whether the last message is what a model has just answered. The response then describes it. Default false. */
  readonly modelAnswer?: boolean;
  /** Whether to refuse malformed input even where its meaning is clear. Default false. */
  readonly strict?: boolean;
  /** The index that the first message must get. Default: any. */
  readonly expectedNextIndex?: number;
  /** The usage that the provider reported, where its JSON does not have it. */
  readonly usage?: MessageInitShape<typeof UsageSchema>;
  /** The model, where the provider's JSON does not name it. At most 256 bytes. */
  readonly model?: string;
  /** Why the model stopped, where the provider's JSON does not say. */
  readonly stopReason?: StopReasonName | StopReason;
}

/** All options of an append. Other keys are refused: they may be misspelt, or those of a second message. */
export const takenOptions: Readonly<Record<keyof AppendOptions, true>> = {
  signal: true,
  timeoutMs: true,
  requestId: true,
  view: true,
  modelAnswer: true,
  strict: true,
  expectedNextIndex: true,
  usage: true,
  model: true,
  stopReason: true,
};

/** Where to go back to: exactly one of these. */
export type RevertTarget =
  | { /** A checkpoint's id. */ readonly toCheckpoint: number }
  | { /** A point. */ readonly point: number }
  | { /** The number of turns to go back. */ readonly turns: number }
  | { /** Undoes the newest change of the view, or the newest revert. */ readonly undo: true };

/** The options of a revert. */
export interface RevertOptions extends WriteOptions {
  /** A text for the model about the messages that are put aside. At most 1 MiB. */
  readonly messageFromFuture?: string;
  /** Whether to add a summary of the messages that are put aside. Default false. */
  readonly summarize?: boolean;
  /** With `summarize`: what the summary must pay attention to. */
  readonly focus?: string;
}

/** Which content to recall. */
export interface RecallOptions extends CallOptions {
  /** The part of the message, from 0. Default: all its text, or its only part. */
  readonly part?: number;
  /** The part of a tool result, from 0. */
  readonly resultPart?: number;
  /** A range of bytes. Without a length: all that follow. */
  readonly bytes?: { readonly offset: number; readonly length?: number };
  /** A range of lines. The first line is 1. Without a count: all that follow. */
  readonly lines?: { readonly first: number; readonly count?: number };
  /** A regular expression in RE2 syntax. The matching lines are in `blocks` of the response. */
  readonly match?: {
    readonly pattern: string;
    readonly ignoreCase?: boolean;
    readonly contextLines?: number;
    readonly firstLine?: number;
  };
  /** The most bytes of the response; `hasMore` says whether there is more content. Default: all of it. */
  readonly maxBytes?: number;
}
