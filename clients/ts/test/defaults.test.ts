import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { defaults } from "../src/wire/defaults.js";
import { retryFigures } from "../src/wire/retry.js";
import { repository } from "./fixture/daemon.js";

/** The same object under the names of the table. */
function inSnakeCase(object: object): object {
  const entries = Object.entries(object) as [string, unknown][];
  return Object.fromEntries(
    entries.map(([key, value]) => [key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  );
}

test("the defaults are those of all clients", () => {
  const table: unknown = JSON.parse(readFileSync(join(repository, "clients/defaults.json"), "utf8"));
  assert.deepEqual({ ...inSnakeCase(defaults), retry: inSnakeCase(retryFigures) }, table);
});
