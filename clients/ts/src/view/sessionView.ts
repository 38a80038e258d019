import { checkedIndex } from "../contract/arguments.js";
import type { CallOptions, Calls } from "../wire/calls.js";
import { callOptions } from "../wire/calls.js";
import type { DialectName } from "../contract/messages.js";
import { dialectOf } from "../contract/messages.js";
import type { ContextReport } from "../v1.js";
import { JoinedView, View } from "./view.js";
import type { ThinkingName } from "../contract/words.js";
import { thinkingOf } from "../contract/words.js";

/** How a view is drawn. */
export interface ViewOptions extends CallOptions {
  /** What happens to thinking, in place of the policy's. */
  readonly thinking?: ThinkingName;
  /** Marks places for the provider's prompt cache, where the dialect has such marks. Default false. */
  readonly markCacheBreakpoints?: boolean;
  /** The point to draw the view of. Default: now. Such a view is fetched whole. */
  readonly asOf?: number;
  /**
   * The most that one answer of the daemon holds, in bytes; the pages are joined here. Default half of maxMessageBytes, and
   * at most 32 MiB.
   */
  readonly maxBytes?: number;
}

/** The last view of a session, with which the next one is told from it. */
interface KeptView {
  readonly joined: JoinedView;
  readonly token: string;
}

/** The part of a session that draws its view, and keeps the last one: so the next fetch moves only what is new. */
export class SessionView {
  /** The session's id. */
  readonly id: string;
  /** The provider's shape of what is appended and viewed; undefined: neutral messages. */
  readonly dialect: DialectName | undefined;
  /** What it makes its calls with. */
  readonly client: Calls;
  private kept: KeptView = { joined: JoinedView.empty, token: "" };
  private lastReport: ContextReport | undefined;

  constructor(client: Calls, id: string, dialect: DialectName | undefined) {
    dialectOf(dialect);
    this.client = client;
    this.id = id;
    this.dialect = dialect;
  }

  /** How full the context was when the daemon last told it; undefined until then. */
  get report(): ContextReport | undefined {
    return this.lastReport;
  }

  /** Fetches the view: what the model needs to go on. Only what is new since the last fetch is moved. */
  async view(options: ViewOptions = {}): Promise<View> {
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

  /** @internal */
  noteReport(report: ContextReport | undefined): void {
    this.lastReport = report ?? this.lastReport;
  }
}
