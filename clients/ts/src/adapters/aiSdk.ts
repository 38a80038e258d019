/**
 * The adapter of Vercel's AI SDK, the package `ai`: a middleware of models, and a `prepareStep`.
 *
 * @packageDocumentation
 */
import type { Instructions, LanguageModelMiddleware, LanguageModelUsage, ModelMessage, Tool } from "ai";
import { jsonSchema } from "ai";

import { instructionsOf, neutral, shown } from "./aiSdkMessages.js";
import { AnswerUsage, modelUsage, stepUsage } from "./aiSdkUsage.js";
import { checkSession } from "./mistakes.js";
import { recalled, recallDefinitions, type RecallToolName } from "./recallTools.js";
import type { Cancellable } from "./wholeList.js";
import { checkNeutral, conversationOf, madeRoom, synced } from "./wholeList.js";
import type { Session } from "../client/client.js";
import type { Message, ViewMessage } from "../v1.js";

export { neutral, shown };

type WrapGenerate = NonNullable<LanguageModelMiddleware["wrapGenerate"]>;
type WrapStream = NonNullable<LanguageModelMiddleware["wrapStream"]>;
type Params = Parameters<WrapGenerate>[0]["params"];
type Streamed = Awaited<ReturnType<WrapStream>>["stream"];
type StreamPart = Streamed extends ReadableStream<infer P> ? P : never;

/** What a step of a run gives its `prepareStep`, as far as this one reads it. */
export interface StepOptions {
  readonly steps: readonly { readonly usage: LanguageModelUsage }[];
  readonly instructions?: Instructions | undefined;
  readonly messages: ModelMessage[];
}

/**
 * Makes a middleware for `wrapLanguageModel`: the model is sent the view of the session in place of all messages. Where the
 * provider says that the context is too long, the session is compacted and the model called once more.
 *
 * Give the wrapped model to the calls of one conversation, and to no other calls: each call's messages are taken for the
 * conversation's complete list. Where a compaction fails, Node warns and the call goes on with what is not compacted. A
 * call rejects with a SyncConflictError where another process has written to the session what its messages lack, and with
 * an UnavailableError where no daemon answers.
 *
 * @param session The conversation's session, without a dialect: `client.openSession(ID, { policy: { contextWindow: 200_000 } })`.
 */
export function compactordMiddleware(session: Session): LanguageModelMiddleware {
  const list = new WholeList(session);
  return {
    specificationVersion: "v4",
    wrapGenerate: async ({ params, model }) => {
      const made = await list.asked(params, (prompt) => model.doGenerate({ ...params, prompt }));
      list.usage.note(modelUsage(made.usage));
      return made;
    },
    wrapStream: async ({ params, model }) => {
      const made = await list.asked(params, (prompt) => model.doStream({ ...params, prompt }));
      return { ...made, stream: made.stream.pipeThrough(usageNoted(list)) };
    },
  };
}

/**
 * Makes a `prepareStep` for `generateText`, `streamText` and agents: each step is sent the view of the session in place of
 * all messages. It cannot call a model again: after a context overflow, `session.compact({ reason: "overflow" })` makes
 * room for the next run. All else is as for {@link compactordMiddleware}; take one of both.
 *
 * @param session As for {@link compactordMiddleware}.
 */
export function compactordStep(session: Session): (options: StepOptions) => Promise<{ messages: ModelMessage[] }> {
  const list = new WholeList(session);
  /** What the last step was sent, and what it stood for: the messages of the next step go on from it. */
  let sent: readonly ModelMessage[] = [];
  let whole: readonly ModelMessage[] = [];
  return async ({ steps, instructions, messages }) => {
    const goesOn = steps.length > 0 && sent.length > 0 && sent.every((one, at) => one === messages[at]);
    const own = goesOn ? [...whole, ...messages.slice(sent.length)] : messages;
    const last = steps.at(-1)?.usage;
    if (goesOn && last !== undefined) {
      list.usage.note(stepUsage(last));
    }
    const view = await list.view(own, instructionsOf(instructions), {});
    [whole, sent] = [own, view === undefined ? own : shown(view, own)];
    return { messages: [...sent] };
  };
}

/**
 * Makes the tools by which the model reads what its view does not show: `recall_content` and `search_messages`. Give them with
 * your own: `tools: { ...tools, ...recallTools(session) }`. Their answers are bounded, and say how to read on.
 *
 * @param session As for {@link compactordMiddleware}: the tools belong to one conversation, as the wrapped model does.
 */
export function recallTools(session: Session): Record<RecallToolName, Tool<object, string>> {
  checkSession(session);
  const made = recallDefinitions().map(({ name, description, parameters }) => {
    const execute = async (input: object, { abortSignal }: { readonly abortSignal?: AbortSignal }): Promise<string> => {
      const { text, isError } = await recalled(session, name, input, abortSignal);
      if (isError) {
        throw new Error(text);
      }
      return text;
    };
    return [name, { description, inputSchema: jsonSchema<object>(parameters), execute }] as const;
  });
  return Object.fromEntries(made) as Record<RecallToolName, Tool<object, string>>;
}

/** The complete list of a conversation, as calls bring it, and the usage of the answers in it. */
class WholeList {
  readonly usage = new AnswerUsage();

  constructor(private readonly session: Session) {
    checkNeutral(session);
  }

  /** Calls a model with the view, and once more after a context overflow. */
  async asked<R>(params: Params, call: (prompt: Params["prompt"]) => PromiseLike<R>): Promise<R> {
    const signal: Cancellable = { signal: params.abortSignal };
    const start = params.prompt.findIndex(({ role }) => role !== "system");
    const leading = start < 0 ? params.prompt.length : start;
    const own = params.prompt.slice(leading);
    // What is not the program's own is made so that it is both a message and a part of a prompt.
    const promptOf = (view: readonly ViewMessage[]): Params["prompt"] => [
      ...params.prompt.slice(0, leading),
      ...(shown(view, own) as Params["prompt"]),
    ];
    const view = await this.view(own, neutral(params.prompt.slice(0, leading)), signal);
    if (view === undefined) {
      return call(params.prompt);
    }
    try {
      return await call(promptOf(view));
    } catch (error) {
      if (!(await madeRoom(this.session, error, signal))) {
        throw error;
      }
    }
    return call(promptOf(conversationOf((await this.session.view()).neutral)));
  }

  /** The view, without its instructions; undefined where calls wait for results, of which the provider says what is wrong. */
  async view(
    own: readonly ModelMessage[],
    instructions: readonly Message[],
    signal: Cancellable,
  ): Promise<ViewMessage[] | undefined> {
    const messages = this.usage.addedTo(neutral(own));
    const { view } = await synced(this.session, [...instructions, ...messages], signal);
    return view && conversationOf(view.neutral);
  }
}

function usageNoted(list: WholeList): TransformStream<StreamPart, StreamPart> {
  return new TransformStream<StreamPart, StreamPart>({
    transform: (part, controller) => {
      if (part.type === "finish") {
        list.usage.note(modelUsage(part.usage));
      }
      controller.enqueue(part);
    },
  });
}
