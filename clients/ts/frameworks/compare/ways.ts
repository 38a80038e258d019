import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** Answers what the user says next in one conversation. */
export type Talk = (line: string) => Promise<unknown>;

/** Begins a conversation in one way, for a model with a window of so many tokens. */
export type Way = (contextWindow: number) => Talk | Promise<Talk>;

/**
 * The program of a comparison. Without arguments it prints the names of the ways; with a name and a context window it holds a
 * conversation, in which each line of stdin is a message of the user.
 */
export async function program(ways: Readonly<Record<string, Way>>): Promise<void> {
  const [name = "", contextWindow = ""] = process.argv.slice(2);
  const way = ways[name];
  if (way === undefined) {
    process.stdout.write(`${Object.keys(ways).join("\n")}\n`);
    return;
  }
  const talk = await way(Number(contextWindow));
  for await (const line of createInterface({ input: process.stdin })) {
    await talk(line);
  }
}

/** What the only tool of the agents does. */
export function readText({ path }: { readonly path: string }): string {
  return readFileSync(path, "utf8");
}
