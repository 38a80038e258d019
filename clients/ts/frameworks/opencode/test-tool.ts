// The tool of the make-believe model of the tests.

import { readFile } from "node:fs/promises";

import { tool, type Plugin } from "@opencode-ai/plugin";

export const ReadFile: Plugin = () =>
  Promise.resolve({
    tool: {
      read_file: tool({
        description: "Reads a text file.",
        args: { path: tool.schema.string() },
        execute: ({ path }) => readFile(path, "utf8"),
      }),
    },
  });
