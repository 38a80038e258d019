import { isMessage } from "@bufbuild/protobuf";
import type { DescField, DescMessage, MessageInitShape } from "@bufbuild/protobuf";

import { checkObject } from "./arguments.js";
import { fromObject } from "./contractJson.js";
import type { Appendable } from "./messages.js";
import type {
  CompactionEvent,
  FileToolJson,
  FileToolsJson,
  Policy,
  PolicyJson,
  StrategyJson,
  StrategyListJson,
  SummaryPolicyJson,
  TextListJson,
} from "./v1.js";
import { CompactionReason, PolicySchema, ThinkingPolicy } from "./v1.js";
import type { StopReason, UsageSchema } from "./v1.js";
import type { View } from "./view.js";
import type { StopReasonName } from "./words.js";

/** What every call takes. */
export interface CallOptions {
  /** Cancels the call: it rejects with the signal's reason, as `fetch` does. */
  readonly signal?: AbortSignal;
  /** The time limit in milliseconds, in place of the client's; `Infinity` is none. */
  readonly timeoutMs?: number;
}

/** What every call takes that writes. */
export interface WriteOptions extends CallOptions {
  /** By which the daemon knows the call if it is sent again. Default: a new UUID. At most 128 bytes. */
  readonly requestId?: string;
}

/**
 * A policy: a `v1.Policy`, or an object in the JSON of the contract such as `{ preset: "default", contextWindow: 200000,
 * strategy: { summarize: { recentTokens: 8000 } } }`.
 */
export type PolicyLike = Policy | PolicyObject;

/** A policy in the JSON of the contract, but that a list may be given as such: `{ onAppend: [] }`. */
export type PolicyObject = Omit<PolicyJson, "fileTools" | "onAppend" | "onUserMessage" | "summary"> & {
  /** Which tools read and change files. */
  readonly fileTools?: FileToolsJson | readonly FileToolJson[];
  /** Edits made when a message is appended. */
  readonly onAppend?: StrategyListJson | readonly StrategyJson[];
  /** Edits made when a user speaks. */
  readonly onUserMessage?: StrategyListJson | readonly StrategyJson[];
  /** Who writes summaries and how. */
  readonly summary?: Omit<SummaryPolicyJson, "extraContext"> & {
    /** Text given to the summarizer beside the conversation. */
    readonly extraContext?: TextListJson | readonly string[];
  };
};

/** Makes a policy of what was given for one. */
export function policyOf(policy: PolicyLike): Policy {
  checkObject("policy", policy);
  return isMessage(policy, PolicySchema) ? policy : fromObject("policy", PolicySchema, withLists(policy, PolicySchema));
}

/** What is given, with each list in the message that the contract has for it: so an empty one can be told from none. */
function withLists(given: object, schema: DescMessage): object {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]: [string, unknown]) => {
      const field = schema.fields.find((one) => one.jsonName === name || one.name === name);
      return [name, field === undefined ? value : withList(value, field)];
    }),
  );
}

function withList(value: unknown, field: DescField): unknown {
  if (field.fieldKind !== "message" || typeof value !== "object" || value === null) {
    return value;
  }
  if (!Array.isArray(value)) {
    return withLists(value, field.message);
  }
  const [list, ...others] = field.message.fields;
  return list?.fieldKind === "list" && others.length === 0 ? { [list.name]: value } : value;
}

/** Why a compaction is asked for. */
export type CompactionReasonName = "manual" | "threshold" | "overflow";

/** The contract's value of a reason. */
export function reasonOf(name: CompactionReasonName | undefined): CompactionReason {
  switch (name) {
    case undefined:
    case "manual":
      return CompactionReason.MANUAL;
    case "threshold":
      return CompactionReason.THRESHOLD;
    case "overflow":
      return CompactionReason.OVERFLOW;
    default:
      throw new TypeError(`reason: ${JSON.stringify(name)} is none: manual, threshold or overflow`);
  }
}

/** What happens to thinking in a view. */
export type ThinkingName = "keep_valid" | "keep_all" | "strip";

/** The contract's value of it. */
export function thinkingOf(name: ThinkingName): ThinkingPolicy {
  switch (name) {
    case "keep_valid":
      return ThinkingPolicy.KEEP_VALID;
    case "keep_all":
      return ThinkingPolicy.KEEP_ALL;
    case "strip":
      return ThinkingPolicy.STRIP;
    default:
      throw new TypeError(`thinking: ${JSON.stringify(name)} is none: keep_valid, keep_all or strip`);
  }
}

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

/** How a view is drawn. */
export interface ViewOptions extends CallOptions {
  /** What happens to thinking, in place of the policy's. */
  readonly thinking?: ThinkingName;
  /** Marks places for the provider's prompt cache, where the dialect has such marks. Default false. */
  readonly markCacheBreakpoints?: boolean;
  /** The point to draw the view of. Default: now. Such a view is fetched whole. */
  readonly asOf?: number;
  /**
   * The most that one answer of the daemon holds, in bytes; the pages are joined here. Default half of maxMessageBytes, and
   * at most 32 MiB.
   */
  readonly maxBytes?: number;
}

/** How a compaction goes about it. */
export interface CompactionOptions extends WriteOptions {
  /** Why. A `threshold` one is skipped where none is due. Default `manual`. */
  readonly reason?: CompactionReasonName;
  /** What the summary is to attend to. At most 16 KiB. */
  readonly focus?: string;
  /** After an overflow: whether the last user message is shown again behind the summary. Default: as the policy says. */
  readonly replay?: boolean;
  /** Cancels a running compaction of the session first. Default false. */
  readonly preempt?: boolean;
  /** Goes on when the call ends. Default false. */
  readonly detach?: boolean;
  /** Only plans. Default false. */
  readonly dryRun?: boolean;
  /** In place of the session's policy, field by field. */
  readonly policy?: PolicyLike;
  /** Whether the model is called again after it: told to those who watch. Default false. */
  readonly willRetry?: boolean;
  /** Whether it aborts a turn that runs in this session object; else it goes on beside it. Default true. */
  readonly abortRunning?: boolean;
}

/** How {@link CompactionOptions}' compaction goes about it, and who is told. */
export interface CompactOptions extends CompactionOptions {
  /** Called with each event, and awaited. What it throws, or rejects with, cancels the compaction and is thrown. */
  readonly onEvent?: (event: CompactionEvent) => unknown;
}

/** How a prune goes about it. */
export interface PruneOptions extends WriteOptions {
  /** Why. Default `manual`. */
  readonly reason?: CompactionReasonName;
  /** Only plans. Default false. */
  readonly dryRun?: boolean;
  /** In place of the session's policy, field by field. */
  readonly policy?: PolicyLike;
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

/** Messages that can be given where one is wanted. */
export type Appendables = Appendable | readonly Appendable[];
