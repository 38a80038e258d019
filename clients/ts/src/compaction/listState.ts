import { createHash } from "node:crypto";

import { clone, fromBinary, toBinary } from "@bufbuild/protobuf";

import type { CompactionResult } from "./compaction.js";
import type { ElementList } from "../contract/lists.js";
import type { DialectName } from "../contract/messages.js";
import { isObject } from "../contract/arguments.js";
import type { CompactionEntry, PruneEntry } from "../v1.js";
import { CompactionEntrySchema, PruneEntrySchema } from "../v1.js";

const version = 1;

/** The fields of a state. */
interface Facts {
  /** The dialect of the list; null for neutral messages. */
  readonly dialect: DialectName | null;
  /** How many elements the system prompt has that stands apart. */
  readonly apart: number;
  /** How many elements of the list are SYSTEM and DEVELOPER messages at its start. They may change. */
  readonly leading: number;
  /** How many elements of the list the entries name messages of, with the leading ones. */
  readonly covered: number;
  /** Stands for what these have, the leading ones apart. */
  readonly digest: string;
  /** How many elements the list had when it was the shortest since the newest entry was made. */
  readonly elements: number;
}

/** What a caller keeps between two compactions of a list: the entries, and which elements they are of. */
export class ListState {
  private constructor(
    readonly facts: Facts,
    readonly compaction: CompactionEntry | undefined,
    readonly prunes: readonly PruneEntry[],
  ) {}

  /** A state without entries. */
  static none(dialect: DialectName | undefined): ListState {
    const facts = { dialect: dialect ?? null, apart: 0, leading: 0, covered: 0, digest: "", elements: 0 };
    return new ListState(facts, undefined, []);
  }

  /** Reads a state. Throws a TypeError where it is none, a newer client's, or one of a list in another dialect. */
  static read(text: string | undefined, dialect: DialectName | undefined): ListState {
    const given: unknown = text;
    if (given === undefined || given === "") {
      return ListState.none(dialect);
    }
    if (typeof given !== "string") {
      throw new TypeError(`state: must be the text that an earlier call returned, and is ${typeof given}`);
    }
    const kept = parsed(given);
    if (kept["version"] !== version) {
      throw kept["version"] === undefined
        ? notAState()
        : new TypeError("state: it was made by a newer client than this");
    }
    const held = kept["dialect"];
    if (held !== (dialect ?? null)) {
      throw new TypeError(
        `state: it is of a list in ${shapeOf(held)}, and this list is in ${shapeOf(dialect ?? null)}: begin without a state`,
      );
    }
    return ListState.from(kept, dialect ?? null);
  }

  private static from(kept: Readonly<Record<string, unknown>>, dialect: DialectName | null): ListState {
    const { apart, leading, covered, digest, elements, compaction, prunes } = kept;
    const numbers = [apart, leading, covered, elements];
    if (!numbers.every((one) => typeof one === "number") || typeof digest !== "string" || !Array.isArray(prunes)) {
      throw notAState();
    }
    try {
      const entry = typeof compaction === "string" ? fromBinary(CompactionEntrySchema, bytesOf(compaction)) : undefined;
      const edits = prunes.map((prune) => fromBinary(PruneEntrySchema, bytesOf(String(prune))));
      const [apartNow = 0, leadingNow = 0, coveredNow = 0, elementsNow = 0] = numbers;
      const facts = {
        dialect,
        apart: apartNow,
        leading: leadingNow,
        covered: coveredNow,
        digest,
        elements: elementsNow,
      };
      return new ListState(facts, entry, edits);
    } catch {
      throw notAState();
    }
  }

  /** Whether there are no entries. */
  get empty(): boolean {
    return this.compaction === undefined && this.prunes.length === 0;
  }

  /** The index behind the last message that the entries name. */
  get namedMessages(): number {
    const replayed = this.compaction?.replayedIndex;
    return Math.max(
      this.compaction?.firstKeptIndex ?? 0,
      replayed === undefined ? 0 : replayed + 1,
      ...this.prunes.map(reach),
    );
  }

  /** Whether the entries are of a list. */
  fits(listed: ElementList, apart: number): boolean {
    const { facts } = this;
    return (
      this.empty ||
      (facts.apart === apart && facts.leading === listed.leading && facts.digest === digestOf(listed, facts.covered))
    );
  }

  /** The entries after a compaction. Edits of messages that the summary stands for are dropped. */
  after(result: CompactionResult): ListState {
    const entry = result.compaction ?? this.compaction;
    const prunes = [...this.prunes, ...(result.prune === undefined ? [] : [result.prune])];
    const kept =
      entry === undefined || entry.replayedIndex !== undefined
        ? prunes
        : prunes.filter((prune) => reach(prune) > entry.firstKeptIndex);
    return new ListState(this.facts, entry, kept);
  }

  /** The same entries with the elements that they are of. */
  of(listed: ElementList, apart: number, covered: number): ListState {
    const { leading, elements } = listed;
    const digest = digestOf(listed, covered);
    const facts = { ...this.facts, apart, leading, covered, digest, elements: elements.length };
    return new ListState(facts, this.compaction, this.prunes);
  }

  /** The same entries for a list that has lost its end since, and has fewer elements and messages now. */
  shortened(elements: number, messages: number): ListState {
    const entry = this.compaction && clone(CompactionEntrySchema, this.compaction);
    const prunes = this.prunes.map((prune) => clone(PruneEntrySchema, prune));
    for (const { viewChange } of [...prunes, ...(entry === undefined ? [] : [entry])]) {
      if (viewChange !== undefined) {
        viewChange.nextIndex = Math.min(viewChange.nextIndex, messages);
      }
    }
    return new ListState({ ...this.facts, elements }, entry, prunes);
  }

  /** The state as a text; empty without entries. */
  text(): string {
    if (this.empty) {
      return "";
    }
    const compaction = this.compaction === undefined ? null : textOf(toBinary(CompactionEntrySchema, this.compaction));
    const prunes = this.prunes.map((prune) => textOf(toBinary(PruneEntrySchema, prune)));
    return JSON.stringify({ version, ...this.facts, compaction, prunes });
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notAState();
  }
  if (!isObject(value)) {
    throw notAState();
  }
  return value;
}

function notAState(): TypeError {
  return new TypeError("state: it is not what an earlier call returned: begin without a state");
}

function shapeOf(name: unknown): string {
  return name === null ? "neutral messages" : `the dialect ${typeof name === "string" ? name : "of no one"}`;
}

/** What stands for the elements up to the covered ones; another text where there are not so many. */
function digestOf({ digests, leading }: ElementList, covered: number): string {
  if (covered > digests.length) {
    return "short";
  }
  return createHash("sha256")
    .update(Buffer.from(digests.slice(leading, covered).join(""), "hex"))
    .digest("hex");
}

/** The index behind the last message that edits name. */
function reach({ edits }: PruneEntry): number {
  return Math.max(0, ...edits.map((edit) => Math.max(edit.index + 1, edit.foldEnd)));
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

function bytesOf(text: string): Uint8Array {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    throw notAState();
  }
  return Buffer.from(text, "base64");
}
