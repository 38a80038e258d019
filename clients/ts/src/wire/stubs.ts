import type { DescMessage, DescService, MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { makeAnyClient } from "@connectrpc/connect";

import { checkTextsAndFlags } from "../contract/arguments.js";
import type { Connection, StubOptions } from "./connection.js";
import { CompactordError } from "./errors.js";
import { identified, requestIdIn } from "./ids.js";

/**
 * The stubs of a service. In addition to those of connect, they give each write a request id, which its errors contain,
 * and cancel a stream when its reader leaves the loop.
 */
export function stubsOf<T extends DescService>(service: T, connection: Connection): Client<T> {
  const stubs = makeAnyClient(service, (method) => {
    switch (method.methodKind) {
      case "unary":
        return async (given: MessageInitShape<DescMessage>, options: StubOptions = {}) => {
          checkTextsAndFlags(method.input, given);
          const { signal, timeoutMs, headers, contextValues } = options;
          const input = identified(method, given);
          const calling = connection.unary(method, signal, timeoutMs, headers, input, contextValues);
          const response = await calling.catch((e: unknown) => {
            throw withRequestId(e, input);
          });
          options.onHeader?.(response.header);
          options.onTrailer?.(response.trailer);
          return response.message;
        };
      case "server_streaming":
        return async function* (given: MessageInitShape<DescMessage>, options: StubOptions = {}) {
          checkTextsAndFlags(method.input, given);
          const input = identified(method, given);
          try {
            yield* connection.events(method, input, options);
          } catch (e) {
            throw withRequestId(e, input);
          }
        };
      default:
        return null;
    }
  });
  return stubs as Client<T>;
}

/** Adds the request id of a call to its error. */
function withRequestId(error: unknown, request: object): unknown {
  if (error instanceof CompactordError) {
    error.requestId ??= requestIdIn(request);
  }
  return error;
}
