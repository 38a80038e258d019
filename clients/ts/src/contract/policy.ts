import { isMessage, toJson } from "@bufbuild/protobuf";
import type { DescField, DescMessage } from "@bufbuild/protobuf";

import { fromObject } from "./contractJson.js";
import { contractFields } from "./policyFields.js";
import type { ThinkingName } from "./words.js";
import type {
  FileToolJson,
  FileToolsJson,
  Policy,
  PolicyJson,
  SectionJson,
  SectionListJson,
  StrategyJson,
  StrategyListJson,
  SummaryFallbackJson,
  SummaryPlacementJson,
  SummaryPolicyJson,
  TextListJson,
  ThinkingPolicyJson,
} from "../v1.js";
import { PolicySchema } from "../v1.js";

/**
 * A policy: a `v1.Policy`, or an object in the JSON of the contract such as `{ preset: "default", contextWindow:
 * 200000, strategy: { summarize: { recentTokens: 8000 } } }`.
 */
export type PolicyLike = Policy | PolicyObject;

/** The word for a value of an enum, such as `strip` for `THINKING_POLICY_STRIP`. */
type Word<Name, Prefix extends string> = Name extends `${Prefix}_${infer Own}`
  ? Exclude<Lowercase<Own>, "unspecified">
  : never;

/**
 * A policy in the contract's JSON. In place of a message that only contains a list, the list can be given, and in place of
 * the name of an enum's value its word.
 */
export type PolicyObject = Omit<PolicyJson, "fileTools" | "onAppend" | "onUserMessage" | "summary" | "thinking"> & {
  /** Which tools read and change files. */
  readonly fileTools?: FileToolsJson | readonly FileToolJson[];
  /** Edits made when a message is appended. */
  readonly onAppend?: StrategyListJson | readonly StrategyJson[];
  /** Edits made when a USER message is appended. */
  readonly onUserMessage?: StrategyListJson | readonly StrategyJson[];
  /** Which thinking views show. */
  readonly thinking?: ThinkingPolicyJson | ThinkingName;
  /** Who writes summaries and how. */
  readonly summary?: Omit<SummaryPolicyJson, "extraContext" | "sections" | "placement" | "fallback"> & {
    /** Which role the summary has in the view. */
    readonly placement?: SummaryPlacementJson | Word<SummaryPlacementJson, "SUMMARY_PLACEMENT">;
    /** What replaces a summary that cannot be written. */
    readonly fallback?: SummaryFallbackJson | Word<SummaryFallbackJson, "SUMMARY_FALLBACK">;
    /** Text for the summarizer in addition to the conversation. */
    readonly extraContext?: TextListJson | readonly string[];
    /** The sections of a summary. */
    readonly sections?: SectionListJson | readonly SectionJson[];
  };
};

/** Converts a policy to the contract's message. */
export function policyOf(policy: PolicyLike): Policy {
  return isMessage(policy, PolicySchema)
    ? policy
    : fromObject("policy", PolicySchema, contractFields(policy, PolicySchema, "policy"));
}

/**
 * The names of the given fields that a session's policy does not hold, in the order of the contract. It may hold more:
 * what the operator's own policy adds.
 */
export function differingFields(given: Policy, held: Policy | undefined): string[] {
  return missing(PolicySchema, toJson(PolicySchema, given), held === undefined ? {} : toJson(PolicySchema, held));
}

/** The fields of a message in JSON that another one does not hold. */
function missing(schema: DescMessage, given: object, held: object): string[] {
  const [own, others] = [given, held] as Record<string, unknown>[];
  return schema.fields
    .filter((field) => {
      const [value, other] = [own?.[field.jsonName], others?.[field.jsonName]];
      if (value === undefined || other === undefined || !isMerged(field)) {
        return value !== undefined && JSON.stringify(value) !== JSON.stringify(other);
      }
      return missing(field.message, value as object, other as object).length > 0;
    })
    .map((field) => field.jsonName);
}

/** Whether the daemon merges policies in a field. It replaces lists, oneofs and times as a whole. */
function isMerged(field: DescField): field is DescField & { fieldKind: "message" } {
  if (field.fieldKind !== "message" || field.oneof !== undefined) {
    return false;
  }
  const { fields, file } = field.message;
  const isList = fields.length === 1 && fields[0]?.fieldKind === "list";
  return !isList && file.proto.package !== "google.protobuf";
}
