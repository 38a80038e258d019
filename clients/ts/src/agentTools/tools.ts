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

/** The arguments of a call by name. */
export type Arguments = Readonly<Record<string, string | number | boolean>>;

/**
 * Checks the arguments that a model wrote against the tool's parameters. Returns them, or a sentence for the model
 * about what is wrong.
 */
export function checkedArguments(tool: ToolDefinition, json: string): Arguments | string {
  const given = parsedObject(json);
  if (given === undefined) {
    return "The arguments are no JSON object.";
  }
  const { properties, required } = tool.parameters;
  const missing = (required ?? []).filter((name) => isBlank(given[name]));
  if (missing.length > 0) {
    return `Missing: ${missing.join(", ")}.`;
  }
  const checked: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(given)) {
    const parameter = properties[name];
    if (parameter === undefined) {
      return `There is no ${JSON.stringify(name)}; there are ${Object.keys(properties).join(", ")}.`;
    }
    if (isBlank(value)) {
      continue;
    }
    if (!fits(parameter, value)) {
      return `${name} must be ${wanted(parameter)}.`;
    }
    checked[name] = value;
  }
  return checked;
}

/** Drops empty values: some models write all parameters, with empty values for those that they do not use. */
function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function parsedObject(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = json.trim() === "" ? {} : JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function fits(parameter: ToolParameter, value: unknown): value is string | number | boolean {
  if (parameter.type !== "integer") {
    return typeof value === parameter.type;
  }
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = 2 ** 32 - 1 } = parameter;
  return Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
}

function wanted({ type, minimum, maximum }: ToolParameter): string {
  if (type !== "integer") {
    return `a ${type}`;
  }
  const from = minimum === undefined ? "" : ` from ${String(minimum)}`;
  const to = maximum === undefined ? "" : ` to ${String(maximum)}`;
  return `an integer${from}${to}`;
}
