// The OpenAI Agents SDK's own ways beside ours.

import { Agent, MemorySession, run, tool, type RunConfig, type Session as AgentsSession } from "@openai/agents";
import { Client, type Session } from "compactord";
import { compactordFilter, CompactordSession } from "compactord/openai-agents";
import { z } from "zod";

import { program, readText, type Talk, type Way } from "./ways.js";

const readFile = tool({
  name: "read_file",
  description: "Reads a text file.",
  parameters: z.object({ path: z.string() }),
  execute: readText,
});
const agent = new Agent({ name: "Reader", instructions: "You read files.", model: "make-believe", tools: [readFile] });

type Options = Pick<Partial<RunConfig>, "callModelInputFilter" | "sessionInputCallback"> & {
  readonly session: AgentsSession;
};

function talk(options: Options): Talk {
  return (line) => run(agent, line, options);
}

function ours(options: (held: Session<"openai_responses">) => Options): Way {
  return async (contextWindow) => {
    const opened = { dialect: "openai_responses", policy: { contextWindow } } as const;
    return talk(options(await new Client().openSession("one", opened)));
  };
}

await program({
  "`MemorySession` alone": () => talk({ session: new MemorySession() }),
  "`sessionInputCallback` with the newest 40": () =>
    talk({
      session: new MemorySession(),
      sessionInputCallback: (history, added) => [...history.slice(-40), ...added],
    }),
  "`MemorySession` and `compactordFilter`": ours((held) => ({
    session: new MemorySession(),
    callModelInputFilter: compactordFilter(held),
  })),
  "`CompactordSession`": ours((held) => {
    const session = new CompactordSession(held);
    return { session, callModelInputFilter: session.modelInput };
  }),
});
