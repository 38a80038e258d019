// The AI SDK's own ways beside ours.

import { anthropic } from "@ai-sdk/anthropic";
import {
  generateText,
  isStepCount,
  pruneMessages,
  tool,
  wrapLanguageModel,
  type LanguageModel,
  type ModelMessage,
} from "ai";
import { Client, type Session } from "compactord";
import { compactordMiddleware, compactordStep, type StepOptions } from "compactord/ai-sdk";
import { z } from "zod";

import { program, readText, type Talk, type Way } from "./ways.js";

const bare = anthropic("make-believe");
const readFile = tool({
  description: "Reads a text file.",
  inputSchema: z.object({ path: z.string() }),
  execute: readText,
});

interface Call {
  readonly model: LanguageModel;
  readonly prepareStep?: (options: StepOptions) => { messages: ModelMessage[] } | Promise<{ messages: ModelMessage[] }>;
}

function talk(call: Call): Talk {
  const messages: ModelMessage[] = [];
  return async (line) => {
    messages.push({ role: "user", content: line });
    const { responseMessages } = await generateText({
      instructions: "You read files.",
      messages: [...messages],
      tools: { read_file: readFile },
      stopWhen: isStepCount(20),
      ...call,
    });
    messages.push(...responseMessages);
  };
}

function ours(call: (session: Session) => Call): Way {
  return async (contextWindow) => talk(call(await new Client().openSession("one", { policy: { contextWindow } })));
}

await program({
  "all messages": () => talk({ model: bare }),
  "`pruneMessages` but for the last 20": () =>
    talk({
      model: bare,
      prepareStep: ({ messages }) => ({ messages: pruneMessages({ messages, toolCalls: "before-last-20-messages" }) }),
    }),
  "`compactordMiddleware`": ours((session) => ({
    model: wrapLanguageModel({ model: bare, middleware: compactordMiddleware(session) }),
  })),
  "`compactordStep`": ours((session) => ({ model: bare, prepareStep: compactordStep(session) })),
});
