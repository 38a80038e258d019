import { randomBytes, randomUUID } from "node:crypto";

import type { DescMessage, DescMethod, MessageInitShape } from "@bufbuild/protobuf";

/**
 * The field of the session's id in requests that may leave it empty. Without it, such requests accept no request id.
 */
const newSessionIds: Readonly<Record<string, "sessionId" | "newSessionId">> = {
  "compactord.v1.CreateSessionRequest": "sessionId",
  "compactord.v1.ForkSessionRequest": "newSessionId",
};

/** Makes a request id, which makes a write safe to send again. */
export function newRequestId(): string {
  return randomUUID();
}

/** Makes a session id as the daemon does: a UUID of version 7, which begins with the time. */
export function newSessionId(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** The request id of a request; undefined where it has none. */
export function requestIdIn(request: object): string | undefined {
  return "requestId" in request && typeof request.requestId === "string" && request.requestId !== ""
    ? request.requestId
    : undefined;
}

/**
 * Returns the request with a request id, where it has that field and the field is empty. The daemon accepts a request
 * id for a new session only together with the session's id, so this sets that too. A request with its own history
 * writes nothing.
 */
export function identified(method: DescMethod, input: MessageInitShape<DescMessage>): MessageInitShape<DescMessage> {
  if (method.input.field["requestId"] === undefined || requestIdIn(input) !== undefined || hasHistory(input)) {
    return input;
  }
  const id = newSessionIds[method.input.typeName];
  const given = id === undefined ? undefined : (input as Readonly<Record<string, unknown>>)[id];
  return {
    ...input,
    requestId: newRequestId(),
    ...(id !== undefined && { [id]: given === undefined || given === "" ? newSessionId() : given }),
  };
}

function hasHistory(request: object): boolean {
  if (!("target" in request)) {
    return false;
  }
  const { target } = request;
  return typeof target === "object" && target !== null && "case" in target && target.case === "history";
}
