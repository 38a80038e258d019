import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { repository } from "./fixture/daemon.js";

test("the document of the API is what would be generated", async () => {
  const script = join(repository, "clients/ts/scripts/api-docs.mjs");
  await promisify(execFile)(process.execPath, [script, "--check"]);
});
