import type { DescMessage, JsonObject, JsonValue, MessageShape } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";

import type { Appendable, Client, DialectName, Session, View } from "../../src/index.js";
import { AgentTools, assistant, CompactordError, developer, system, toolResult, user } from "../../src/index.js";
import type { PlanCompactionResponse } from "../../src/v1.js";
import { MessageSchema } from "../../src/v1.js";
import { Answers, failure } from "./answers.js";
import { steps } from "./steps.js";
import type { Case, Step } from "./table.js";
import { text } from "./table.js";

/** Runs the steps of one case, and keeps what a program would keep between them: its session objects and their last views. */
export class Runner {
  readonly client: Client;
  /** The answer of the last plan step. */
  plan: PlanCompactionResponse | undefined;
  /** The state of the last list that was compacted without a session. */
  listState = "";
  private readonly dialect: DialectName | undefined;
  private readonly sessions = new Map<string, Session>();
  private readonly views = new Map<Session, View>();
  private readonly agentTools = new Map<Session, AgentTools>();
  private readonly answers = new Answers();

  private constructor(client: Client, dialect: DialectName | undefined) {
    this.client = client;
    this.dialect = dialect;
  }

  /** Runs a case and returns what its steps answer. Its sessions are deleted behind it. */
  static async run(client: Client, { dialect, steps: all }: Case): Promise<JsonObject[]> {
    const runner = new Runner(client, dialect);
    try {
      const answers: JsonObject[] = [];
      for (const step of all) {
        answers.push(await runner.answer(step));
      }
      return answers;
    } finally {
      await runner.deleteSessions();
    }
  }

  /** The session object of the step's session, dialect and program. */
  session(step: Step): Session {
    const id = text(step, "session");
    const dialect = this.dialectOf(step);
    const key = `${dialect ?? ""} ${text(step, "program")} ${id}`;
    const session = this.sessions.get(key) ?? this.client.session(id, { dialect });
    this.sessions.set(key, session);
    return session;
  }

  /** The dialect of a step; undefined for neutral messages. */
  dialectOf(step: Step): DialectName | undefined {
    const named = step["dialect"];
    return named === undefined ? this.dialect : ((named || undefined) as DialectName | undefined);
  }

  /** Keeps a session object that a step made, in place of one that there was. */
  keepSession(session: Session): void {
    this.sessions.set(`${session.dialect ?? ""}  ${session.id}`, session);
  }

  /** The agent's tools of the step's session object. */
  tools(step: Step): AgentTools {
    const session = this.session(step);
    const tools = this.agentTools.get(session) ?? new AgentTools(session, { dmail: true, fold: true });
    this.agentTools.set(session, tools);
    return tools;
  }

  /** Keeps the last view of a session object. */
  keepView(session: Session, view: View): void {
    this.views.set(session, view);
  }

  /** The last view of a session object. */
  lastView(session: Session): View | undefined {
    return this.views.get(session);
  }

  private async answer(step: Step): Promise<JsonObject> {
    const does = steps[step.do];
    if (does === undefined) {
      throw new Error(`no step is called ${step.do}`);
    }
    const without = (step["leave_out"] ?? []) as string[];
    try {
      return this.answers.comparable(await does(this, step), without);
    } catch (e) {
      if (step["fails"] !== true || !(e instanceof CompactordError)) {
        throw e;
      }
      return this.answers.comparable(failure(e), without);
    }
  }

  private async deleteSessions(): Promise<void> {
    for (const id of new Set([...this.sessions.values()].map((session) => session.id))) {
      await this.client.deleteSession(id).catch(() => undefined);
    }
  }
}

/** A request of those arguments of a step that are fields of it. */
export function request<S extends DescMessage>(schema: S, step: Step, ...but: string[]): MessageShape<S> {
  const own = new Set(["do", "session", "dialect", "program", "fails", "leave_out", ...but]);
  const fields = Object.entries(step).filter(([name]) => !own.has(name));
  const session = schema.fields.some(({ name }) => name === "session_id") && step["session"] !== undefined;
  return fromJson(schema, Object.fromEntries(session ? [...fields, ["session_id", step["session"] ?? ""]] : fields));
}

/** What a step appends: neutral messages, a provider's values, or a provider's text. */
export function content(step: Step): Appendable[] {
  const { messages, items } = step;
  if (messages !== undefined) {
    return (messages as JsonValue[]).map(neutral);
  }
  if (step["raw"] !== undefined) {
    return [new TextEncoder().encode(text(step, "raw"))];
  }
  return items === undefined ? [step["json"] as object] : (items as object[]);
}

/** A neutral message: a text of the user, a short form, or the message itself. */
function neutral(given: JsonValue): Appendable {
  if (typeof given === "string") {
    return given;
  }
  const short = given as Record<string, string> & {
    tool_result?: { call_id: string; text: string; is_error?: boolean };
  };
  if (short.tool_result !== undefined) {
    const { call_id: call, text: said, is_error: isError } = short.tool_result;
    return toolResult(call, said, isError === undefined ? {} : { isError });
  }
  for (const [name, make] of Object.entries({ system, developer, user, assistant })) {
    const said = short[name];
    if (said !== undefined) {
      return make(said);
    }
  }
  return fromJson(MessageSchema, given);
}
