import type { ClientHttp2Stream, OutgoingHttpHeaders } from "node:http2";

import { Http2SessionManager } from "@connectrpc/connect-node";

/** The type of connect's session manager, which opens and keeps a connection. */
type RequestOptions = Parameters<Http2SessionManager["request"]>[3];

/**
 * A connection whose errors end calls, but never the program. Where a server does not speak HTTP/2, Node emits a second
 * `error` when the socket closes. connect has removed its listener before that, and an `error` without a listener ends
 * a program.
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

/** Does nothing: connect's own listener has already ended the calls. */
function ignored(): void {
  return undefined;
}
