import { checkedIndex, checkKeys } from "../contract/arguments.js";
import type { CallOptions, Calls } from "../wire/calls.js";
import { callOptions } from "../wire/calls.js";
import type { DialectName } from "../contract/messages.js";
import { dialectOf } from "../contract/messages.js";
import type { ContextBlock, ContextReport, GetLLMViewResponse } from "../v1.js";
import { JoinedView, View } from "./view.js";
import type { ThinkingName } from "../contract/words.js";
import { thinkingOf } from "../contract/words.js";

/** The options of a view. */
export interface ViewOptions extends CallOptions {
  /** Which thinking to show, in place of the policy's setting. */
  readonly thinking?: ThinkingName;
  /** Whether to set marks for the provider's prompt cache, where the dialect has them. Default false. */
  readonly markCacheBreakpoints?: boolean;
  /**
   * Context blocks for this view alone, such as documents that were found, or the time. They are the end of the view, and
   * are stored nowhere. `block` makes them, without place, turns and operator. Tool calls must not be open. Default none.
   */
  readonly extraBlocks?: readonly ContextBlock[];
  /** The point whose view to return. Default: the end of the log. Such a view is fetched as a whole. */
  readonly asOf?: number;
  /**
   * The most bytes of one response; a larger view is fetched in several. Default: half of maxMessageBytes, and at most
   * 32 MiB.
   */
  readonly maxBytes?: number;
}

const takenOptions: Readonly<Record<keyof ViewOptions, true>> = {
  thinking: true,
  markCacheBreakpoints: true,
  extraBlocks: true,
  asOf: true,
  maxBytes: true,
  signal: true,
  timeoutMs: true,
};

/** The last view of a session, from which the daemon only sends the delta. */
export interface KeptView {
  readonly joined: JoinedView;
  readonly token: string;
}

/** The part of a session that fetches its view. It keeps the last one, so that the daemon only sends what is new. */
export class SessionView {
  /** The session's id. */
  readonly id: string;
  /** The provider's shape of messages that are appended and returned; undefined for neutral messages. */
  readonly dialect: DialectName | undefined;
  /** The client that makes its calls. */
  readonly client: Calls;
  /** @internal */
  protected kept: KeptView = { joined: JoinedView.empty, token: "" };
  private lastReport: ContextReport | undefined;

  constructor(client: Calls, id: string, dialect: DialectName | undefined) {
    dialectOf(dialect);
    this.client = client;
    this.id = id;
    this.dialect = dialect;
  }

  /** The daemon's last report of how full the context is; undefined before the first one. */
  get report(): ContextReport | undefined {
    return this.lastReport;
  }

  /** Fetches the view: the messages that the model needs to go on. The daemon only sends what is new. */
  async view(options: ViewOptions = {}): Promise<View> {
    checkKeys("view", options, Object.keys(takenOptions));
    let { joined, token } = options.asOf === undefined ? this.kept : { joined: JoinedView.empty, token: "" };
    let moved = 0;
    for (;;) {
      const answer = await this.client.compactions.getLLMView(
        {
          target: { case: "sessionId", value: this.id },
          dialect: dialectOf(this.dialect),
          viewToken: token,
          maxBytes: options.maxBytes ?? this.client.connection.pageBytes,
          markCacheBreakpoints: options.markCacheBreakpoints ?? false,
          extraBlocks: [...(options.extraBlocks ?? [])],
          ...(options.asOf !== undefined && { asOf: checkedIndex("asOf", options.asOf) }),
          ...(options.thinking !== undefined && { thinking: thinkingOf(options.thinking) }),
        },
        callOptions(options),
      );
      joined = joined.with(answer);
      token = answer.viewToken;
      moved += answer.messages.length + answer.messagesJson.length;
      if (!answer.hasMore) {
        if (options.asOf === undefined) {
          this.kept = { joined, token };
          this.noteReport(answer.report);
        }
        return new View(this.dialect, joined, answer, moved);
      }
    }
  }

  /**
   * Joins the first page of a view to the kept one that its request named, and fetches the other pages.
   *
   * @internal
   */
  protected async joinedFrom(kept: KeptView, first: GetLLMViewResponse, options: ViewOptions): Promise<View> {
    let [joined, answer] = [kept.joined.with(first), first];
    let moved = first.messages.length + first.messagesJson.length;
    while (answer.hasMore) {
      answer = await this.client.compactions.getLLMView(
        {
          target: { case: "sessionId", value: this.id },
          dialect: dialectOf(this.dialect),
          viewToken: answer.viewToken,
          maxBytes: options.maxBytes ?? this.client.connection.pageBytes,
          markCacheBreakpoints: options.markCacheBreakpoints ?? false,
        },
        callOptions(options),
      );
      joined = joined.with(answer);
      moved += answer.messages.length + answer.messagesJson.length;
    }
    this.kept = { joined, token: answer.viewToken };
    this.noteReport(answer.report);
    return new View(this.dialect, joined, answer, moved);
  }

  /** @internal */
  noteReport(report: ContextReport | undefined): void {
    this.lastReport = report ?? this.lastReport;
  }
}
