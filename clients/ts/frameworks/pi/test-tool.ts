// The tool of the make-believe model of the tests.

import { readFileSync } from "node:fs";

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";

export default function readFile(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "read_file",
    label: "Read",
    description: "Reads a text file.",
    parameters: Type.Object({ path: Type.String() }),
    execute: (_id, { path }) =>
      Promise.resolve({ content: [{ type: "text", text: readFileSync(path, "utf8") }], details: {} }),
  });
}
