import { word } from "../contract/words.js";
import { Role } from "../v1.js";

/** Where content is in the log: a reference, as views write it. That to content of a child begins with its id. */
export function placeOf(content: {
  readonly sessionId: string;
  readonly index: number;
  readonly part?: number | undefined;
  readonly resultPart?: number | undefined;
}): string {
  const { sessionId, index, part, resultPart } = content;
  return `${sessionId}#${[index, part, resultPart].filter((at) => at !== undefined).join(".")}`;
}

/** Who said content: the role, and the tool of a call or a result. */
export function whoOf({ role, tool }: { readonly role: Role; readonly tool: string }): string {
  return tool === "" ? word(Role, role) : `${word(Role, role)} ${tool}`;
}
