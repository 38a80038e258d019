import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const corpus = process.env["COMPACTORD_CORPUS"] ?? join(import.meta.dirname, "../../../../../../shared/corpus");

/** The names of the recorded conversations; none, and a word about it, where their folder is absent. */
export function recordings(): string[] {
  try {
    return readdirSync(corpus).filter((name) => name.endsWith(".jsonl"));
  } catch {
    console.log(`recordings off: there is no folder ${corpus}`);
    return [];
  }
}

/** The lines of a recorded conversation, each a JSON document. */
export function linesOf(name: string): string[] {
  return readFileSync(join(corpus, name), "utf8").trim().split("\n");
}
