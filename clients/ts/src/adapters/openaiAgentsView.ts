import { create } from "@bufbuild/protobuf";
import type { AgentInputItem } from "@openai/agents";

import { itemOf, keyOf } from "./openaiAgentsItems.js";
import type { Session } from "../client/client.js";
import { user } from "../contract/messages.js";
import type { Message } from "../v1.js";
import { Dialect, GetLLMViewRequestSchema, MessageState } from "../v1.js";
import { ToolCallsOpenError } from "../wire/errors.js";

/** The dialect of the sessions that stand behind conversations of the SDK. */
export type Responses = Session<"openai_responses">;

/** The items of a view. One that no edit has changed is the program's own, by which the SDK knows it. */
export function shown(
  view: readonly string[],
  elements: readonly object[],
  own: readonly AgentInputItem[],
): AgentInputItem[] {
  const left = new Map<string, AgentInputItem[]>();
  own.forEach((item, at) => {
    const key = keyOf(elements[at] ?? {});
    left.set(key, [...(left.get(key) ?? []), item]);
  });
  // From the end: of two that are the same, the older one is more likely to be summarized.
  return view
    .toReversed()
    .map((json) => {
      const element = JSON.parse(json) as object;
      return left.get(keyOf(element))?.pop() ?? itemOf(element);
    })
    .reverse();
}

/** The items of a session's view, and those behind them of which calls wait for their outputs. */
export async function itemsIn(session: Responses): Promise<AgentInputItem[]> {
  try {
    return (await session.view()).messagesJson.map(itemFrom);
  } catch (error) {
    if (!(error instanceof ToolCallsOpenError)) {
      throw error;
    }
  }
  const open = (await session.info()).report?.openCalls ?? [];
  const first = Math.min(...open.map(({ index }) => index));
  const waiting: Message[] = [];
  let point = -1;
  for await (const { message, state, sequence } of session.messages({ fromIndex: first })) {
    if (state !== MessageState.PUT_ASIDE && message !== undefined) {
      point = waiting.length === 0 ? sequence - 1 : point;
      waiting.push(message);
    }
  }
  const before = point < 0 ? [] : (await session.view({ asOf: point })).messagesJson.map(itemFrom);
  const calls = new Set(open.map(({ id }) => id));
  const waits = (one: AgentInputItem): boolean => one.type === "function_call_result" && calls.has(one.callId);
  return [...before, ...(await rendered(session, waiting)).filter((one) => !waits(one))];
}

/** Messages whose calls wait as items: a view of them alone, in which a message of the user ends the wait. */
async function rendered(session: Responses, waiting: readonly Message[]): Promise<AgentInputItem[]> {
  const request = create(GetLLMViewRequestSchema, {
    target: { case: "history", value: { messages: [...waiting, user("...")] } },
    dialect: Dialect.OPENAI_RESPONSES,
    policy: { onAppend: {} },
  });
  const { messagesJson } = await session.client.compactions.getLLMView(request);
  return messagesJson.slice(0, -1).map(itemFrom);
}

function itemFrom(json: string): AgentInputItem {
  return itemOf(JSON.parse(json) as object);
}
