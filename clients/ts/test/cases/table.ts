import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

import type { DialectName } from "../../src/index.js";

/** A step of a case: what is done, under `do`, and what it takes. */
export type Step = JsonObject & { readonly do: string };

/** A text that a step takes; empty where it has none. */
export function text(step: Step, name: string): string {
  const value = step[name];
  return typeof value === "string" ? value : "";
}

/** A case of the table, and what its steps have to answer. */
export interface Case {
  readonly name: string;
  readonly dialect?: DialectName;
  readonly steps: readonly Step[];
  readonly want: readonly JsonValue[];
}

/** All cases of clients/cases. */
export function readCases(repository: string): Case[] {
  const folder = join(repository, "clients", "cases");
  const names = readdirSync(folder).filter((name) => name.endsWith(".json") && !name.endsWith(".want.json"));
  return names.sort().flatMap((name) => {
    const { cases } = parsed(folder, name) as unknown as { cases: Omit<Case, "want">[] };
    const want = parsed(folder, name.replace(/json$/, "want.json")) as Record<string, JsonValue[]>;
    return cases.map((one) => ({ ...one, want: want[one.name] ?? [] }));
  });
}

function parsed(folder: string, name: string): JsonValue {
  return JSON.parse(readFileSync(join(folder, name), "utf8")) as JsonValue;
}
