import { checkList } from "./arguments.js";
import {
  BlockPlace,
  ChildrenOnDelete,
  CompactionReason,
  Estimator,
  MessageState,
  RecordKind,
  Role,
  StopReason,
  ThinkingPolicy,
} from "../v1.js";
import type { SkipReason } from "../v1.js";

/** How tokens are counted. */
export type EstimatorName = "chars4" | "o200k_base" | "cl100k_base" | "calibrated";

/** Who speaks. */
export type RoleName = "system" | "developer" | "user" | "assistant" | "tool";

/** The state of a message. */
export type StateName = "active" | "covered" | "put_aside" | "replaced";

/** The kind of a record. */
export type RecordKindName =
  | "compaction"
  | "prune"
  | "attempt"
  | "checkpoint"
  | "revert"
  | "pin"
  | "unpin"
  | "policy_change"
  | "context_blocks"
  | "instructions"
  | "child_end";

/** What becomes of the children of a session that is deleted. */
export type ChildrenOnDeleteName = "keep" | "delete" | "refuse";

/** Where views show a context block: after the instructions, or before the user's newest message. */
export type BlockPlaceName = "leading" | "latest";

/** Why a model stopped. */
export type StopReasonName =
  "end" | "tool_use" | "length" | "stop_sequence" | "refusal" | "error" | "aborted" | "pause";

/** Why a compaction was skipped. */
export type SkipReasonName = Word<typeof SkipReason>;

/** The words for the values of an enum of the contract; "" for an unset one, `unknown` for a newer one. */
export type Word<E> = Lowercase<Exclude<keyof E, "UNSPECIFIED"> & string>;

/**
 * The word for a value of one of the contract's enums, as options take it: `word(MessageState, MessageState.COVERED)` is
 * `covered`. It is empty for an unset value, and `unknown` for one that is newer than this package.
 */
export function word<E extends Readonly<Record<string, string | number>>>(of: E, value: number): Word<E> | "" {
  const name = of[value];
  return (name === "UNSPECIFIED" ? "" : typeof name === "string" ? name.toLowerCase() : "unknown") as Word<E> | "";
}

const estimators: Readonly<Record<EstimatorName, Estimator>> = {
  chars4: Estimator.CHARS4,
  o200k_base: Estimator.O200K_BASE,
  cl100k_base: Estimator.CL100K_BASE,
  calibrated: Estimator.CALIBRATED,
};

const roles: Readonly<Record<RoleName, Role>> = {
  system: Role.SYSTEM,
  developer: Role.DEVELOPER,
  user: Role.USER,
  assistant: Role.ASSISTANT,
  tool: Role.TOOL,
};

const states: Readonly<Record<StateName, MessageState>> = {
  active: MessageState.ACTIVE,
  covered: MessageState.COVERED,
  put_aside: MessageState.PUT_ASIDE,
  replaced: MessageState.REPLACED,
};

const recordKinds: Readonly<Record<RecordKindName, RecordKind>> = {
  compaction: RecordKind.COMPACTION,
  prune: RecordKind.PRUNE,
  attempt: RecordKind.ATTEMPT,
  checkpoint: RecordKind.CHECKPOINT,
  revert: RecordKind.REVERT,
  pin: RecordKind.PIN,
  unpin: RecordKind.UNPIN,
  policy_change: RecordKind.POLICY_CHANGE,
  context_blocks: RecordKind.CONTEXT_BLOCKS,
  instructions: RecordKind.INSTRUCTIONS,
  child_end: RecordKind.CHILD_END,
};

const childrenOnDelete: Readonly<Record<ChildrenOnDeleteName, ChildrenOnDelete>> = {
  keep: ChildrenOnDelete.KEEP,
  delete: ChildrenOnDelete.DELETE,
  refuse: ChildrenOnDelete.REFUSE,
};

const places: Readonly<Record<BlockPlaceName, BlockPlace>> = {
  leading: BlockPlace.LEADING,
  latest: BlockPlace.LATEST,
};

const stopReasons: Readonly<Record<StopReasonName, StopReason>> = {
  end: StopReason.END,
  tool_use: StopReason.TOOL_USE,
  length: StopReason.LENGTH,
  stop_sequence: StopReason.STOP_SEQUENCE,
  refusal: StopReason.REFUSAL,
  error: StopReason.ERROR,
  aborted: StopReason.ABORTED,
  pause: StopReason.PAUSE,
};

/** The contract's value of an estimator. */
export function estimatorOf(given: EstimatorName | Estimator): Estimator {
  return valueOf("estimator", estimators, given);
}

/** The contract's values of roles. */
export function rolesOf(given: readonly (RoleName | Role)[]): Role[] {
  checkList("roles", given);
  return given.map((one) => valueOf("roles", roles, one));
}

/** The contract's values of states. */
export function statesOf(given: readonly (StateName | MessageState)[]): MessageState[] {
  checkList("states", given);
  return given.map((one) => valueOf("states", states, one));
}

/** The contract's values of record kinds. */
export function recordKindsOf(given: readonly (RecordKindName | RecordKind)[]): RecordKind[] {
  checkList("kinds", given);
  return given.map((one) => valueOf("kinds", recordKinds, one));
}

/** The contract's value of what becomes of children. */
export function childrenOnDeleteOf(given: ChildrenOnDeleteName | ChildrenOnDelete): ChildrenOnDelete {
  return valueOf("children", childrenOnDelete, given);
}

/** The contract's value of a context block's place. */
export function placeOf(given: BlockPlaceName | BlockPlace): BlockPlace {
  return valueOf("place", places, given);
}

/** The contract's value of a stop reason. */
export function stopReasonOf(given: StopReasonName | StopReason): StopReason {
  return valueOf("stopReason", stopReasons, given);
}

/** The contract's value of a name. A value of the contract is returned unchanged. */
function valueOf<K extends string, V extends number>(
  argument: string,
  values: Readonly<Record<K, V>>,
  given: K | V,
): V {
  if (typeof given === "number") {
    return given;
  }
  if (!Object.hasOwn(values, given)) {
    throw new TypeError(
      `${argument}: ${JSON.stringify(given)} is unknown: use one of ${Object.keys(values).join(", ")}`,
    );
  }
  return values[given];
}

/** Why a compaction is requested. */
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
      throw new TypeError(`reason: ${JSON.stringify(name)} is unknown: use one of manual, threshold or overflow`);
  }
}

/**
 * Which thinking a view shows. `adaptive` is for requests with Anthropic's adaptive thinking: what the model writes after a
 * compaction within a tool loop stays, and thinking is never turned off.
 */
export type ThinkingName = "keep_valid" | "keep_all" | "strip" | "adaptive";

/** The contract's value of a thinking policy. */
export function thinkingOf(name: ThinkingName): ThinkingPolicy {
  switch (name) {
    case "keep_valid":
      return ThinkingPolicy.KEEP_VALID;
    case "keep_all":
      return ThinkingPolicy.KEEP_ALL;
    case "strip":
      return ThinkingPolicy.STRIP;
    case "adaptive":
      return ThinkingPolicy.ADAPTIVE;
    default:
      throw new TypeError(
        `thinking: ${JSON.stringify(name)} is unknown: use one of keep_valid, keep_all, strip or adaptive`,
      );
  }
}
