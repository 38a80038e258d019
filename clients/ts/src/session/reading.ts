import type { MessageInitShape } from "@bufbuild/protobuf";

import { checkedIndex, checkKeys, onlyKey } from "../contract/arguments.js";
import type { CallOptions } from "../wire/calls.js";
import { callKeys, callOptions } from "../wire/calls.js";
import { pages } from "../wire/pages.js";
import { recallAll } from "./recall.js";
import type { RecallOptions } from "./options.js";
import { SessionView } from "../view/sessionView.js";
import type {
  Checkpoint,
  CompactionEntry,
  LoggedMessage,
  MessageState,
  RecallContentResponse,
  Record as LogRecord,
  Role,
  SearchHit,
  SearchMessagesRequestSchema,
} from "../v1.js";
import { MessageListing, RecordKind } from "../v1.js";
import type { RecordKindName, RoleName, StateName } from "../contract/words.js";
import { recordKindsOf, rolesOf, statesOf } from "../contract/words.js";

/** A search: words that must all occur, or a regular expression in RE2 syntax; with filters. */
export type SearchQuery = (
  { readonly words: string; readonly pattern?: never } | { readonly pattern: string; readonly words?: never }
) &
  Pick<MessageInitShape<typeof SearchMessagesRequestSchema>, "newestFirst" | "snippetChars" | "includeChildren"> & {
    /** Only messages of these roles. Default: all. */ readonly roles?: readonly (RoleName | Role)[];
    /** Only messages in these states. Default: all. */ readonly states?: readonly (StateName | MessageState)[];
  };

/** Which records to list, and in which order. */
export interface RecordFilter {
  /** Only records of these kinds. Default: all. */
  readonly kinds?: readonly (RecordKindName | RecordKind)[];
  /** Only the compaction with this id. */
  readonly compactionId?: string;
  /** Whether the newest record comes first. Default false: the order of the log. */
  readonly newestFirst?: boolean;
  /** The sequence where to begin. Default: the start of the log; with `newestFirst`, its end. */
  readonly fromSequence?: number;
}

/** All filters of records. Other keys are refused: they may be misspelt. */
const takenByRecords: Readonly<Record<keyof RecordFilter, true>> = {
  kinds: true,
  compactionId: true,
  newestFirst: true,
  fromSequence: true,
};

/** A checkpoint, and whether a revert put it aside. */
export interface ListedCheckpoint {
  readonly checkpoint: Checkpoint;
  /** Whether a revert put it aside. A revert to it is then possible only by its point. */
  readonly putAside: boolean;
  /** The number of messages in the log when it was made. */
  readonly nextIndex: number;
  /** When it was made. */
  readonly createdAt: LogRecord["createdAt"];
}

/** The part of a session that reads its log, including content that views hide. */
export class SessionReading extends SessionView {
  /** Iterates over the checkpoints by ascending id, including those that a revert put aside. */
  checkpoints(options: CallOptions = {}): AsyncGenerator<ListedCheckpoint, void, undefined> {
    checkKeys("checkpoints", options, callKeys);
    return pages(async (pageToken) => {
      const request = { sessionId: this.id, kinds: [RecordKind.CHECKPOINT], pageToken };
      const page = await this.client.sessions.listRecords(request, callOptions(options));
      return [page.records.flatMap(listedCheckpoints), page.nextPageToken];
    });
  }

  /**
   * Returns content of the log word for word. `what` is the index of a message, or a reference such as `#12.0`, or
   * `SESSION_ID#12` for the log of a child. Without `maxBytes` the whole range is fetched, in several requests where it is large.
   */
  async recall(what: number | string, options: RecallOptions = {}): Promise<RecallContentResponse> {
    return recallAll(this.client.sessions, this.id, what, options);
  }

  /** Iterates over the messages of the log that match, including hidden, covered and put aside ones. */
  search(query: SearchQuery, options: CallOptions = {}): AsyncGenerator<SearchHit, void, undefined> {
    checkKeys("the options of search", options, callKeys);
    checkKeys("search", query, [
      "words",
      "pattern",
      "roles",
      "states",
      "newestFirst",
      "snippetChars",
      "includeChildren",
    ]);
    const asked = onlyKey("search", query, ["words", "pattern"]);
    const { roles, states, newestFirst, snippetChars, includeChildren } = query;
    const filter = {
      roles: rolesOf(roles ?? []),
      states: statesOf(states ?? []),
      newestFirst: newestFirst ?? false,
      snippetChars: snippetChars ?? 0,
      includeChildren: includeChildren ?? false,
    };
    const value = query[asked] ?? "";
    const what = asked === "words" ? ({ case: asked, value } as const) : ({ case: asked, value } as const);
    return pages(async (pageToken) => {
      const request = { sessionId: this.id, query: what, pageToken, ...filter };
      const page = await this.client.sessions.searchMessages(request, callOptions(options));
      return [page.hits, page.nextPageToken];
    });
  }

  /** Iterates over the messages of the log: all of them, or with `dialogue` the active text of user and assistant. */
  messages(
    options: CallOptions & { readonly listing?: "transcript" | "dialogue"; readonly fromIndex?: number } = {},
  ): AsyncGenerator<LoggedMessage, void, undefined> {
    checkKeys("messages", options, [...callKeys, "listing", "fromIndex"]);
    const listing = listingOf(options.listing);
    const fromIndex = checkedIndex("fromIndex", options.fromIndex ?? 0);
    return pages(async (pageToken) => {
      const request = { sessionId: this.id, listing, fromIndex, pageToken };
      const page = await this.client.sessions.listMessages(request, callOptions(options));
      return [page.messages, page.nextPageToken];
    });
  }

  /** Iterates over the records of the log, including those that a revert put aside. */
  records(options: CallOptions & RecordFilter = {}): AsyncGenerator<LogRecord, void, undefined> {
    checkKeys("records", options, [...callKeys, ...Object.keys(takenByRecords)]);
    const { fromSequence } = options;
    const filter = {
      kinds: recordKindsOf(options.kinds ?? []),
      compactionId: options.compactionId ?? "",
      newestFirst: options.newestFirst ?? false,
      ...(fromSequence !== undefined && { fromSequence: checkedIndex("fromSequence", fromSequence) }),
    };
    return pages(async (pageToken) => {
      const request = { sessionId: this.id, pageToken, ...filter };
      const page = await this.client.sessions.listRecords(request, callOptions(options));
      return [page.records, page.nextPageToken];
    });
  }

  /** Iterates over the compactions, newest first, including those that a revert put aside. */
  compactions(options: CallOptions = {}): AsyncGenerator<CompactionEntry, void, undefined> {
    checkKeys("compactions", options, callKeys);
    return pages(async (pageToken) => {
      const request = { sessionId: this.id, kinds: [RecordKind.COMPACTION], newestFirst: true, pageToken };
      const page = await this.client.sessions.listRecords(request, callOptions(options));
      return [page.records.flatMap(compactionsOf), page.nextPageToken];
    });
  }
}

function listedCheckpoints({ kind, putAside, nextIndex, createdAt }: LogRecord): ListedCheckpoint[] {
  return kind.case === "checkpoint" ? [{ checkpoint: kind.value, putAside, nextIndex, createdAt }] : [];
}

function compactionsOf({ kind }: LogRecord): CompactionEntry[] {
  return kind.case === "compaction" ? [kind.value] : [];
}

function listingOf(name: "transcript" | "dialogue" | undefined): MessageListing {
  switch (name) {
    case undefined:
    case "transcript":
      return MessageListing.TRANSCRIPT;
    case "dialogue":
      return MessageListing.DIALOGUE;
    default:
      throw new TypeError(`listing: ${JSON.stringify(name)} is none: transcript or dialogue`);
  }
}
