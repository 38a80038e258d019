import { definitions } from "../gen/tools.js";
import type { DialectName } from "../contract/messages.js";

/** The JSON Schema of a parameter. */
export interface ToolParameter {
  /** The type. */
  readonly type: "string" | "integer" | "boolean";
  /** The description for the model. */
  readonly description: string;
  /** The lowest value. Default: no limit. */
  readonly minimum?: number;
  /** The highest value. Default: no limit. */
  readonly maximum?: number;
}

/** The JSON Schema of a tool's parameters. A type, not an interface, since SDKs accept only a type as JSON Schema. */
export type ToolParameters = {
  readonly type: "object";
  readonly properties: Readonly<Record<string, ToolParameter>>;
  readonly required?: string[];
};

/** The definition of a tool, independent of the provider. */
export interface ToolDefinition {
  /** The name by which the model calls it. */
  readonly name: string;
  /** The description for the model. */
  readonly description: string;
  /** The JSON Schema of its parameters. */
  readonly parameters: ToolParameters;
}

/** A tool in the shape of each dialect. */
export interface ToolShapes {
  /** OpenAI Chat Completions: an element of `tools`. */
  openai_chat: { type: "function"; function: { name: string; description: string; parameters: ToolParameters } };
  /** OpenAI Responses: an element of `tools`. */
  openai_responses: { type: "function"; name: string; description: string; parameters: ToolParameters; strict: false };
  /** Anthropic Messages: an element of `tools`. */
  anthropic: { name: string; description: string; input_schema: ToolParameters };
  /** Gemini: an element of `tools` that contains all tools. */
  gemini: { functionDeclarations: { name: string; description: string; parameters: ToolParameters }[] };
}

/** The names of the agent tools. */
export type AgentToolName = "recall_content" | "search_messages" | "send_dmail" | "fold_since";

/** A type without readonly: copies of the generated definitions may be changed. */
type Writable<T> = { -readonly [K in keyof T]: Writable<T[K]> };

/** The definition of an agent tool. A new object each time, so that changes do not affect other callers. */
export function definitionOf(name: AgentToolName): ToolDefinition {
  const found = definitions.find((definition) => definition.name === name);
  if (found === undefined) {
    throw new TypeError(`there is no agent tool ${name}`);
  }
  return structuredClone(found) as Writable<typeof found>;
}

/** Converts tools to elements of a provider's `tools`. */
export function inShapeOf<D extends DialectName>(dialect: D, tools: readonly ToolDefinition[]): ToolShapes[D][] {
  return shapers[dialect](tools);
}

const shapers: { readonly [D in DialectName]: (tools: readonly ToolDefinition[]) => ToolShapes[D][] } = {
  openai_chat: (tools) => tools.map((tool) => ({ type: "function", function: { ...tool } })),
  openai_responses: (tools) => tools.map((tool) => ({ type: "function", ...tool, strict: false })),
  anthropic: (tools) =>
    tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
  gemini: (tools) => (tools.length === 0 ? [] : [{ functionDeclarations: tools.map((tool) => ({ ...tool })) }]),
};
