import { definitions } from "./gen/tools.js";
/** The definition of an agent tool: a new object each time, so that nobody changes another's. */
export function definitionOf(name) {
    const found = definitions.find((definition) => definition.name === name);
    if (found === undefined) {
        throw new TypeError(`there is no agent tool ${name}`);
    }
    return structuredClone(found);
}
/** Tools as the elements of a provider's `tools`. */
export function inShapeOf(dialect, tools) {
    return shapers[dialect](tools);
}
const shapers = {
    openai_chat: (tools) => tools.map((tool) => ({ type: "function", function: { ...tool } })),
    openai_responses: (tools) => tools.map((tool) => ({ type: "function", ...tool, strict: false })),
    anthropic: (tools) => tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
    gemini: (tools) => (tools.length === 0 ? [] : [{ functionDeclarations: tools.map((tool) => ({ ...tool })) }]),
};
/**
 * Checks the arguments that a model wrote against the tool's parameters. Answers them, or a sentence for the model that says
 * what is wrong.
 */
export function checkedArguments(tool, json) {
    const given = parsedObject(json);
    if (given === undefined) {
        return "The arguments are no JSON object.";
    }
    const { properties, required } = tool.parameters;
    const missing = (required ?? []).filter((name) => isBlank(given[name]));
    if (missing.length > 0) {
        return `Missing: ${missing.join(", ")}.`;
    }
    const checked = {};
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
/** Some models write all parameters, and leave empty what they do not mean to give. */
function isBlank(value) {
    return value === undefined || value === null || value === "";
}
function parsedObject(json) {
    try {
        const value = json.trim() === "" ? {} : JSON.parse(json);
        return typeof value === "object" && value !== null && !Array.isArray(value)
            ? value
            : undefined;
    }
    catch {
        return undefined;
    }
}
function fits(parameter, value) {
    if (parameter.type !== "integer") {
        return typeof value === parameter.type;
    }
    const { minimum = Number.MIN_SAFE_INTEGER, maximum = 2 ** 32 - 1 } = parameter;
    return Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
}
function wanted({ type, minimum, maximum }) {
    if (type !== "integer") {
        return `a ${type}`;
    }
    const from = minimum === undefined ? "" : ` from ${String(minimum)}`;
    const to = maximum === undefined ? "" : ` to ${String(maximum)}`;
    return `an integer${from}${to}`;
}
