import { clone } from "@bufbuild/protobuf";

import type { ContextReport, GetLLMViewResponse, ViewMessage, ViewReport } from "../v1.js";
import { ViewMessageSchema } from "../v1.js";
import type { DialectName } from "../contract/messages.js";
import type { Of, ProviderMessages, ProviderRequests, ProviderSystems } from "../contract/providerTypes.js";

/**
 * The messages that the model needs to go on. A view does not change after it was fetched. `D` is the dialect, by which
 * the messages and the request are typed so that they fit the provider's SDK.
 */
export class View<D extends DialectName | undefined = DialectName | undefined> {
  /** The provider's shape; undefined for a neutral view. */
  readonly dialect: D;
  /** The view token. The append of an answer that was made from the view should send it. */
  readonly token: string;
  /** How many messages the daemon sent for this view: only new ones. */
  readonly messagesSent: number;
  /** How full the context is. */
  readonly report: ContextReport;
  /** How the daemon made the view. */
  readonly viewReport: ViewReport;
  private readonly joined: JoinedView;

  /** @internal */
  constructor(dialect: D, joined: JoinedView, last: GetLLMViewResponse, messagesSent: number) {
    if (last.report === undefined || last.viewReport === undefined) {
      throw new TypeError("the daemon's response has a view without its reports");
    }
    this.dialect = dialect;
    this.joined = joined;
    this.token = last.viewToken;
    this.messagesSent = messagesSent;
    this.report = last.report;
    this.viewReport = last.viewReport;
  }

  /** The number of messages. */
  get length(): number {
    return this.dialect === undefined ? this.joined.neutral.length : this.joined.rendered.length;
  }

  /**
   * The elements of the provider's message list, in order. Each access makes them anew: what you change in them changes
   * no view. So keep the list for a loop, and take `length` to count them. Throws a TypeError on a neutral view.
   */
  get messages(): Of<ProviderMessages, D>[] {
    this.needDialect("messages", "neutral");
    return this.joined.rendered.map((json) => JSON.parse(json) as Of<ProviderMessages, D>);
  }

  /** The messages of a neutral view, made anew at each access. Throws a TypeError on a view in a dialect. */
  get neutral(): ViewMessage[] {
    if (this.dialect !== undefined) {
      throw new TypeError(`neutral: the view is in the dialect ${this.dialect}: use messages`);
    }
    return this.joined.neutral.map((message) => clone(ViewMessageSchema, message));
  }

  /**
   * The provider's system prompt, for providers that have it apart from the messages: `systemJson` parsed, at each
   * access anew.
   */
  get system(): Of<ProviderSystems, D>[] {
    this.needDialect("system", "neutral");
    return this.joined.system.map((json) => JSON.parse(json) as Of<ProviderSystems, D>);
  }

  /** {@link messages} as the daemon rendered them, byte for byte. Empty for a neutral view. */
  get messagesJson(): readonly string[] {
    return this.joined.rendered;
  }

  /** {@link system} as the daemon rendered it, byte for byte. Empty for a neutral view. */
  get systemJson(): readonly string[] {
    return this.joined.system;
  }

  /**
   * Whether the open tool loop lost its thinking, so that a request with a budget for thinking would be refused.
   * {@link request} then turns off thinking that is `enabled`.
   */
  get disableThinking(): boolean {
    return this.viewReport.disableThinking;
  }

  /**
   * The fields of the provider's request that contain the conversation, to be spread into it: `system` and `messages`
   * for Anthropic, `messages` for Chat Completions, `instructions` and `input` for Responses, `systemInstruction` and
   * `contents` for Gemini. Empty fields are left out. The result begins with your own fields, `own`. Give Anthropic's
   * `thinking` there: where {@link disableThinking} is true, `{ type: "enabled", ... }` becomes `{ type: "disabled" }`. Any
   * other `thinking` stays as it is, and none is added. Throws a TypeError on a neutral view.
   */
  request(): Of<ProviderRequests, D>;
  request<Own extends object>(own: Own): Own & Omit<Of<ProviderRequests, D>, keyof Own>;
  request(own: object = {}): object {
    if (this.dialect === undefined) {
      throw new TypeError("request: the session was opened without a dialect: make the request from neutral");
    }
    // Anthropic wants a tool loop to begin with thinking then. With adaptive thinking it does not, and some models refuse a
    // request that turns thinking off.
    const off = this.dialect === "anthropic" && this.disableThinking && hasBudget(own);
    return { ...own, ...(off && { thinking: { type: "disabled" } }), ...this.fieldsOf(this.dialect) };
  }

  private fieldsOf(dialect: DialectName): object {
    const { messages, system } = this;
    switch (dialect) {
      case "anthropic":
        return { ...(system.length > 0 && { system }), messages };
      case "openai_chat":
        return { messages };
      case "openai_responses":
        return { ...(system.length > 0 && { instructions: system[0] }), input: messages };
      case "gemini":
        return { ...(system.length > 0 && { systemInstruction: system[0] }), contents: messages };
    }
  }

  private needDialect(asked: string, instead: string): void {
    if (this.dialect === undefined) {
      throw new TypeError(`${asked}: the session was opened without a dialect: use ${instead}`);
    }
  }
}

/** Whether a request turns thinking on with a budget. */
function hasBudget(own: { readonly thinking?: unknown }): boolean {
  const { thinking } = own;
  return typeof thinking === "object" && thinking !== null && "type" in thinking && thinking.type === "enabled";
}

/** A view that is joined from deltas. It never changes: the next delta makes a new one. */
export class JoinedView {
  /** The empty view of a client before its first request. */
  static readonly empty: JoinedView = new JoinedView([], [], []);

  private constructor(
    readonly neutral: readonly ViewMessage[],
    readonly rendered: readonly string[],
    readonly system: readonly string[],
  ) {}

  /** Joins the response to a request with this view's token. */
  with(answer: GetLLMViewResponse): JoinedView {
    const kept = answer.unchangedPrefix;
    return new JoinedView(
      [...this.neutral.slice(0, kept), ...answer.messages],
      [...this.rendered.slice(0, kept), ...answer.messagesJson],
      answer.systemJson,
    );
  }
}
