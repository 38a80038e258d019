import type { DescMessage, DescService, MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { makeAnyClient } from "@connectrpc/connect";

import type { Connection, StubOptions } from "./connection.js";

/** The stubs of a service. Other than those of connect, they cancel a stream when its reader leaves the loop. */
export function stubsOf<T extends DescService>(service: T, connection: Connection): Client<T> {
  const stubs = makeAnyClient(service, (method) => {
    switch (method.methodKind) {
      case "unary":
        return async (input: MessageInitShape<DescMessage>, options: StubOptions = {}) => {
          const { signal, timeoutMs, headers } = options;
          const response = await connection.unary(method, signal, timeoutMs, headers, input, options.contextValues);
          options.onHeader?.(response.header);
          options.onTrailer?.(response.trailer);
          return response.message;
        };
      case "server_streaming":
        return (input: MessageInitShape<DescMessage>, options: StubOptions = {}) =>
          connection.events(method, input, options);
      default:
        return null;
    }
  });
  return stubs as Client<T>;
}
