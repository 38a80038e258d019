import { isMessage, toJson } from "@bufbuild/protobuf";
import type { DescField, DescMessage } from "@bufbuild/protobuf";

import { checkObject } from "./arguments.js";
import { fromObject } from "./contractJson.js";
import type {
  FileToolJson,
  FileToolsJson,
  Policy,
  PolicyJson,
  SectionJson,
  SectionListJson,
  StrategyJson,
  StrategyListJson,
  SummaryPolicyJson,
  TextListJson,
} from "../v1.js";
import { PolicySchema } from "../v1.js";

/**
 * A policy: a `v1.Policy`, or an object in the JSON of the contract such as `{ preset: "default", contextWindow:
 * 200000, strategy: { summarize: { recentTokens: 8000 } } }`.
 */
export type PolicyLike = Policy | PolicyObject;

/** A policy in the contract's JSON. In place of a message that only contains a list, the list can be given. */
export type PolicyObject = Omit<PolicyJson, "fileTools" | "onAppend" | "onUserMessage" | "summary"> & {
  /** Which tools read and change files. */
  readonly fileTools?: FileToolsJson | readonly FileToolJson[];
  /** Edits made when a message is appended. */
  readonly onAppend?: StrategyListJson | readonly StrategyJson[];
  /** Edits made when a USER message is appended. */
  readonly onUserMessage?: StrategyListJson | readonly StrategyJson[];
  /** Who writes summaries and how. */
  readonly summary?: Omit<SummaryPolicyJson, "extraContext" | "sections"> & {
    /** Text for the summarizer in addition to the conversation. */
    readonly extraContext?: TextListJson | readonly string[];
    /** The sections of a summary. */
    readonly sections?: SectionListJson | readonly SectionJson[];
  };
};

/** Converts a policy to the contract's message. */
export function policyOf(policy: PolicyLike): Policy {
  checkObject("policy", policy);
  return isMessage(policy, PolicySchema) ? policy : fromObject("policy", PolicySchema, withLists(policy, PolicySchema));
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

/** Wraps each bare list in the contract's message for it, which can tell an empty list from none. */
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
