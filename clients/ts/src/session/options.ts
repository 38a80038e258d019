import type { MessageInitShape } from "@bufbuild/protobuf";

import type { CallOptions, WriteOptions } from "../wire/calls.js";
import type { StopReason, UsageSchema } from "../v1.js";
import type { View } from "../view/view.js";
import type { StopReasonName } from "../contract/words.js";

/** How messages are appended. */
export interface AppendOptions extends WriteOptions {
  /** The view that the model's answer was made from. */
  readonly view?: View;
  /** Whether the last message is what a model answered just now: the answer of the call then describes it. Default false. */
  readonly modelAnswer?: boolean;
  /** Refuses what is malformed in place of taking it and telling so. Default false. */
  readonly strict?: boolean;
  /** The index that the first message has to get. Default: whichever it gets. */
  readonly expectedNextIndex?: number;
  /** What the provider reported of the request, where its JSON does not hold it. */
  readonly usage?: MessageInitShape<typeof UsageSchema>;
  /** The model that wrote it, where the provider's JSON does not say. At most 256 bytes. */
  readonly model?: string;
  /** Why the model stopped, where the provider's JSON does not say. */
  readonly stopReason?: StopReasonName | StopReason;
}

/** Where to go back to, one of these. */
export type RevertTarget =
  | { /** A checkpoint's id. */ readonly toCheckpoint: number }
  | { /** A point of the log. */ readonly point: number }
  | { /** So many turns are taken back. */ readonly turns: number }
  | { /** The last change of the view is undone. */ readonly undo: true };

/** What a revert leaves behind. */
export interface RevertOptions extends WriteOptions {
  /** What the model is told of the future that is put aside. At most 1 MiB. */
  readonly messageFromFuture?: string;
  /** Has what is put aside summarized for the model. Default false. */
  readonly summarize?: boolean;
  /** With `summarize`: what the summary is to attend to. */
  readonly focus?: string;
}

/** Which content is recalled. */
export interface RecallOptions extends CallOptions {
  /** The part of the message, from 0. Default: all its text, or its only part. */
  readonly part?: number;
  /** Of a tool result: the piece of it, from 0. */
  readonly resultPart?: number;
  /** Bytes from an offset on; no length is all that follow. */
  readonly bytes?: { readonly offset: number; readonly length?: number };
  /** Lines, the first is 1; no count is all that follow. */
  readonly lines?: { readonly first: number; readonly count?: number };
  /** The lines that match an expression in the syntax of RE2, in the answer's `blocks`. */
  readonly match?: {
    readonly pattern: string;
    readonly ignoreCase?: boolean;
    readonly contextLines?: number;
    readonly firstLine?: number;
  };
  /** Ends the answer before so many bytes; `hasMore` then says whether there is more. Default: the whole content. */
  readonly maxBytes?: number;
}
