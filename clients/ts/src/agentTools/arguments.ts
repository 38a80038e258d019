import { modelText } from "../contract/texts.js";
import { definitionOf, type AgentToolName, type ToolParameter } from "./tools.js";

/** The arguments of a call are wrong. The text is for the model that wrote them. */
export class ArgumentError extends Error {
  override readonly name: string = "ArgumentError";

  constructor(...text: Parameters<typeof modelText>) {
    super(modelText(...text));
  }
}

/**
 * The arguments of a call that match the tool's definition. Empty values count as not given: some models write all
 * parameters, with empty values for those that they do not use.
 */
export class Arguments {
  readonly #values: ReadonlyMap<string, string | number | boolean>;

  /** Checks the arguments. Throws an ArgumentError where they are not a JSON object, or do not match the definition. */
  constructor(tool: AgentToolName, json: string) {
    const { properties, required = [] } = definitionOf(tool).parameters;
    const given = objectOf(json);
    const known = Object.keys(properties);
    const [unknown] = [...given.keys()]
      .filter((name) => !known.includes(name))
      .map(shown)
      .sort();
    if (unknown !== undefined) {
      throw new ArgumentError("argument_unknown", { name: unknown, names: known.join(", ") });
    }
    const values = new Map<string, string | number | boolean>();
    for (const [name, parameter] of Object.entries(properties)) {
      const value = given.get(name);
      if (value !== undefined && value !== null && value !== "") {
        values.set(name, checked(name, parameter, value));
      }
    }
    const missing = required.filter((name) => trimmed(String(values.get(name) ?? "")) === "");
    if (missing.length > 0) {
      throw new ArgumentError("arguments_missing", { names: missing.join(", ") });
    }
    this.#values = values;
  }

  /** A text; undefined where it is not given. */
  text(name: string): string | undefined {
    const value = this.#values.get(name);
    return typeof value === "string" ? value : undefined;
  }

  /** A text without white space around it; empty where it is not given. */
  trimmed(name: string): string {
    return trimmed(this.text(name) ?? "");
  }

  /** A truth value; false where it is not given. */
  flag(name: string): boolean {
    return this.#values.get(name) === true;
  }

  /** A whole number; undefined where it is not given. */
  number(name: string): number | undefined {
    const value = this.#values.get(name);
    return typeof value === "number" ? value : undefined;
  }
}

/** Removes the white space around a text, the same as the other clients. */
function trimmed(text: string): string {
  return text.replace(/^[ \t\n\r\v\f]+/, "").replace(/[ \t\n\r\v\f]+$/, "");
}

/** Parses arguments; blank ones are an empty object. */
function objectOf(json: string): ReadonlyMap<string, unknown> {
  let value: unknown;
  try {
    value = trimmed(json) === "" ? {} : JSON.parse(json);
  } catch {
    value = undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ArgumentError("arguments_no_object");
  }
  return new Map(Object.entries(value));
}

/** What the model wrote as a name, as printable ASCII. */
function shown(name: string): string {
  return Array.from(name)
    .slice(0, 64)
    .map((char) => (char >= " " && char <= "~" ? char : "?"))
    .join("");
}

function checked(name: string, parameter: ToolParameter, value: unknown): string | number | boolean {
  switch (parameter.type) {
    case "string":
      if (typeof value !== "string" || /\p{Surrogate}/u.test(value)) {
        throw new ArgumentError("argument_no_text", { name });
      }
      return value;
    case "boolean":
      if (typeof value !== "boolean") {
        throw new ArgumentError("argument_no_flag", { name });
      }
      return value;
    case "integer": {
      const { minimum: lowest = 0, maximum: highest = 2 ** 32 - 1 } = parameter;
      if (typeof value !== "number" || !Number.isInteger(value) || value < lowest || value > highest) {
        throw new ArgumentError("argument_no_number", { name, lowest, highest });
      }
      return value;
    }
  }
}
