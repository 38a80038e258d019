import type { ClientHttp2Stream, OutgoingHttpHeaders } from "node:http2";

import { Http2SessionManager } from "@connectrpc/connect-node";

/** The name of what opens a connection and keeps it, as connect has it. */
type RequestOptions = Parameters<Http2SessionManager["request"]>[3];

/**
 * A connection whose errors end calls, and never the program. Where a server speaks no HTTP/2, Node emits a second `error`
 * as the socket closes; connect has taken its listener off by then, and an `error` that nobody listens for ends a program.
 */
export class SteadySessionManager extends Http2SessionManager {
  override async request(
    method: string,
    path: string,
    headers: OutgoingHttpHeaders,
    options: RequestOptions,
  ): Promise<ClientHttp2Stream> {
    const stream = await super.request(method, path, headers, options);
    const { session } = stream;
    if (session !== undefined && !session.listeners("error").includes(ignored)) {
      session.on("error", ignored);
    }
    return stream;
  }
}

/** connect's own listener has told the calls before. */
function ignored(): void {
  return undefined;
}
