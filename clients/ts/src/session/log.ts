import { create } from "@bufbuild/protobuf";

import { withFacts } from "./answerFacts.js";
import { checkedIndex, checkedSignal, checkKeys } from "../contract/arguments.js";
import type { CallOptions, WriteOptions } from "../wire/calls.js";
import { callKeys, callOptions, present, requestIdOf, writeKeys } from "../wire/calls.js";
import { leavesOpen } from "../wire/errors.js";
import { newRequestId } from "../wire/ids.js";
import type { Appendables } from "../contract/messages.js";
import { appendKey, contentOf } from "../contract/messages.js";
import { SessionPoints } from "./points.js";
import type { PolicyLike } from "../contract/policy.js";
import { policyOf } from "../contract/policy.js";
import type { AppendOptions } from "./options.js";
import { takenOptions } from "./options.js";
import type {
  AppendMessagesRequest,
  AppendMessagesResponse,
  ChildrenOnDelete,
  ContextReport,
  GetSessionResponse,
  PolicyWarning,
  Session as SessionState,
} from "../v1.js";
import { AppendMessagesRequestSchema } from "../v1.js";
import type { ChildrenOnDeleteName } from "../contract/words.js";
import { childrenOnDeleteOf } from "../contract/words.js";
import type { WatchItem, WatchOptions } from "./watch.js";
import { takenByWatch, watchSession } from "./watch.js";
import { View } from "../view/view.js";
import { unboundedWarning, warn, warnedOfPolicy } from "../view/warnings.js";

/** For how many appends without a response a session remembers the request ids. */
const keptUnsure = 100;

/** The part of a session that appends to its log, reads and changes its settings, and deletes it. */
export abstract class SessionLog extends SessionPoints {
  /** The request ids of appends that the daemon may or may not have executed, by content. */
  private readonly unsure = new Map<string, string>();
  private toldUnbounded = false;
  private told: readonly string[] = [];

  /**
   * What is probably not meant in the session's policy, in sentences, as the daemon says where this object has created,
   * forked or updated the session. Each was a `CompactordWarning` of Node, too.
   */
  get warnings(): readonly string[] {
    return this.told;
  }

  /**
   * Appends messages, all or none; see {@link Appendable}. They are on disk before it returns. If an append fails and
   * it is unknown whether it was executed, append the same again: it is not duplicated. Several messages are given as a
   * list. Throws a TypeError for an option that there is not, such as a second message.
   */
  async append(messages: Appendables, options: AppendOptions = {}): Promise<AppendMessagesResponse> {
    if (typeof (options as unknown) === "string") {
      throw new TypeError("append: give several messages as a list");
    }
    checkKeys("append", options, Object.keys(takenOptions));
    if (options.view !== undefined && !((options.view as unknown) instanceof View)) {
      throw new TypeError(`view: must be a View, as view() returns it, and is ${typeof options.view}`);
    }
    const request = create(AppendMessagesRequestSchema, {
      sessionId: this.id,
      ...withFacts(contentOf(messages, this.dialect), options),
      viewToken: options.view?.token ?? "",
      strict: options.strict ?? false,
      modelAnswer: options.modelAnswer ?? false,
      ...(options.expectedNextIndex !== undefined && {
        expectedNextIndex: checkedIndex("expectedNextIndex", options.expectedNextIndex),
      }),
    });
    const key = this.unsure.size > 0 ? appendKey(request) : "";
    request.requestId = options.requestId ?? this.unsure.get(key) ?? newRequestId();
    try {
      const response = await this.position.sending(this.sent(request, options));
      this.unsure.delete(key);
      this.noteReport(response.report);
      this.grown(response.report);
      await this.appended();
      return response;
    } catch (e) {
      this.noteUnsure(request, e, options.signal);
      throw e;
    }
  }

  /**
   * Watches the session until the loop is left. After a broken connection, and where the loop was so slow that the daemon
   * has ended the watch, it continues without a gap or a repetition.
   */
  watch(options: WatchOptions = {}): AsyncGenerator<WatchItem, void, undefined> {
    checkKeys("watch", options, Object.keys(takenByWatch));
    checkedSignal(options.signal);
    if (options.fromSequence !== undefined) {
      checkedIndex("fromSequence", options.fromSequence);
    }
    const { sessions: stub, connection, retry } = this.client;
    return watchSession({ stub, connection, retry, sessionId: this.id, options });
  }

  /**
   * Replaces the session's policy, labels or title. Each one that is given is replaced as a whole; `contextWindow` in place
   * of a policy changes only that of the policy. What is probably not meant in the new policy is in {@link warnings}.
   */
  async update(
    changes: {
      readonly policy?: PolicyLike;
      readonly contextWindow?: number;
      readonly labels?: Readonly<Record<string, string>>;
      readonly title?: string;
    },
    options: WriteOptions = {},
  ): Promise<SessionState> {
    checkKeys("the options of update", options, writeKeys);
    const fields = ["policy", "labels", "title"] as const;
    checkKeys("update", changes, [...fields, "contextWindow"]);
    const { contextWindow } = changes;
    if (contextWindow !== undefined && changes.policy !== undefined) {
      throw new TypeError("contextWindow: give it in the policy, or without one");
    }
    const paths: string[] = fields.filter((field) => changes[field] !== undefined);
    const policy = contextWindow === undefined ? changes.policy : { contextWindow };
    const { session, warnings } = await this.client.sessions.updateSession(
      {
        sessionId: this.id,
        // A window alone is put into the policy that the session has by then.
        updateMask: { paths: contextWindow === undefined ? paths : [...paths, "policy.context_window"] },
        labels: { ...changes.labels },
        title: changes.title ?? "",
        requestId: requestIdOf(options),
        ...(policy !== undefined && { policy: policyOf(policy) }),
      },
      callOptions(options),
    );
    if (policy !== undefined) {
      this.noteChosen(warnings);
    }
    return present(session, "session");
  }

  /** Returns the session with its policy, and a report of how full its context is. */
  async info(options: CallOptions = {}): Promise<GetSessionResponse> {
    const answer = await this.client.sessions.getSession({ sessionId: this.id }, callOptions(options));
    this.noteReport(answer.report);
    return answer;
  }

  /** Removes the session and its log for ever. */
  async delete(
    options: CallOptions & {
      /** What becomes of its children: `refuse` throws with the reason `HAS_CHILDREN` where it has some. Default `keep`. */
      readonly children?: ChildrenOnDeleteName | ChildrenOnDelete;
    } = {},
  ): Promise<void> {
    checkKeys("delete", options, [...callKeys, "children"]);
    const children = childrenOnDeleteOf(options.children ?? "keep");
    await this.client.sessions.deleteSession({ sessionId: this.id, children }, callOptions(options));
    // A session that gets this id later has another log.
    this.position.forget();
  }

  /**
   * Notes what the daemon says of a policy that was chosen, and warns of it.
   *
   * @internal
   */
  noteChosen(found: readonly PolicyWarning[]): void {
    this.told = warnedOfPolicy(found);
  }

  /** Warns once of a session that has no context window and grows. */
  protected grown(report: ContextReport | undefined): void {
    const text = this.toldUnbounded ? undefined : unboundedWarning(report);
    this.toldUnbounded ||= text !== undefined;
    warn(text);
  }

  /**
   * Called after each append.
   *
   * @internal
   */
  protected abstract appended(): Promise<void>;

  private async sent(request: AppendMessagesRequest, options: CallOptions): Promise<AppendMessagesResponse> {
    const response = await this.client.sessions.appendMessages(request, callOptions(options));
    this.position.wrote(response.firstIndex, response.nextIndex);
    return response;
  }

  private noteUnsure(request: AppendMessagesRequest, thrown: unknown, signal: AbortSignal | undefined): void {
    if (leavesOpen(thrown) || signal?.aborted === true) {
      const key = appendKey(request);
      this.unsure.delete(key);
      this.unsure.set(key, request.requestId);
      const [oldest] = this.unsure.keys();
      if (this.unsure.size > keptUnsure && oldest !== undefined) {
        this.unsure.delete(oldest);
      }
    }
  }
}
