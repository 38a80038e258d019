import assert from "node:assert/strict";
import { before, test } from "node:test";

import { create } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";

import * as compactord from "../src/index.js";
import { Code, CompactordError } from "../src/index.js";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../src/gen/google/rpc/error_details_pb.js";
import { classOfReason, errorOfCall } from "../src/wire/status.js";
import { ErrorReason } from "../src/v1.js";
import { TestDaemon } from "./fixture/daemon.js";

let client: compactord.Client;
const noToken = (): string => "the client sends none";
const address = "unix:/run/compactord.sock";

before(async () => {
  client = (await TestDaemon.start()).client();
});

const reasons = Object.keys(ErrorReason).filter((name) => Number.isNaN(Number(name)) && name !== "UNSPECIFIED");

test("each reason of the contract has a class, and most the common one", () => {
  assert.equal(reasons.length, 46);
  for (const reason of reasons) {
    const details = [{ desc: ErrorInfoSchema, value: { domain: "compactord", reason } }];
    const error = errorOfCall(new ConnectError("text", Code.Aborted, undefined, details), address, noToken);
    assert.ok(error instanceof CompactordError, reason);
    assert.equal(error.reason, reason);
    assert.equal(error.code, Code.Aborted);
    assert.equal(error.message, "text");
    assert.equal(error.name, error.constructor.name);
    assert.ok(error instanceof classOfReason[reason as keyof typeof ErrorReason]);
    assert.equal(Reflect.get(compactord, error.name), error.constructor, `${error.name} is not exported`);
  }
});

test("the details of an error come along", () => {
  const error = errorOfCall(
    new ConnectError("text", Code.InvalidArgument, undefined, [
      { desc: ErrorInfoSchema, value: { domain: "compactord", reason: "INVALID_FIELD", metadata: { a: "b" } } },
      { desc: BadRequestSchema, value: { fieldViolations: [{ field: "policy.preset", description: "is none" }] } },
      { desc: RetryInfoSchema, value: create(RetryInfoSchema, { retryDelay: { seconds: 2n, nanos: 500_000_000 } }) },
    ]),
    address,
    noToken,
  );
  assert.ok(error instanceof compactord.InvalidRequestError);
  assert.deepEqual({ ...error.metadata }, { a: "b" });
  assert.deepEqual(error.fieldViolations, [{ field: "policy.preset", description: "is none" }]);
  assert.equal(error.retryAfterMs, 2500);
});

test("what gRPC itself says has the class of its status", () => {
  const trailer = { "grpc-status": "8" };
  const classes: [Code, typeof CompactordError][] = [
    [Code.ResourceExhausted, CompactordError],
    [Code.DeadlineExceeded, compactord.DeadlineExceededError],
    [Code.Unavailable, compactord.UnavailableError],
    [Code.Canceled, CompactordError],
    [Code.Unauthenticated, compactord.UnauthenticatedError],
    [Code.PermissionDenied, CompactordError],
    [Code.Unimplemented, CompactordError],
    [Code.Internal, CompactordError],
    [Code.Aborted, compactord.ConflictError],
    [Code.NotFound, compactord.NotFoundError],
    [Code.OutOfRange, compactord.InvalidRequestError],
    [Code.Unknown, CompactordError],
  ];
  for (const [code, type] of classes) {
    const error = errorOfCall(new ConnectError("text", code, trailer), address, noToken);
    assert.ok(error instanceof CompactordError);
    assert.equal(error.constructor, type, Code[code]);
  }
  const strange = errorOfCall(
    new ConnectError("text", Code.Aborted, trailer, [
      { desc: ErrorInfoSchema, value: { domain: "elsewhere", reason: "CANCELLED" } },
    ]),
    address,
    noToken,
  );
  assert.ok(strange instanceof CompactordError && strange.reason === "ABORTED");
});

test("a connection that broke is UnavailableError, whatever connect calls it", () => {
  const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  for (const broken of [
    new ConnectError("read ECONNRESET", Code.Aborted, undefined, undefined, reset),
    new ConnectError(
      "connect ENOENT",
      Code.Internal,
      undefined,
      undefined,
      Object.assign(new Error("x"), { code: "ENOENT" }),
    ),
    new ConnectError("protocol error: missing status", Code.Internal),
    new ConnectError("protocol error: missing output message for unary method", Code.Unknown),
    new ConnectError("http/2 stream closed with error code CANCEL (0x8)", Code.Canceled),
    new ConnectError("PING timed out", Code.Unavailable),
  ]) {
    const error = errorOfCall(broken, address, noToken);
    assert.ok(error instanceof compactord.UnavailableError, broken.message);
    assert.equal(error.code, Code.Unavailable);
  }
  const bug = errorOfCall(new ConnectError("serialize", Code.Internal), address, noToken);
  assert.equal(bug instanceof CompactordError && bug.reason, "INTERNAL");
  const other = new TypeError("mine");
  assert.equal(errorOfCall(other, address, noToken), other);
});

test("errors carry the daemon's figures", async () => {
  const session = await client.createSession({ dialect: "openai_chat" });
  await session.append("Hi.");
  await assert.rejects(session.append("Hi.", { expectedNextIndex: 7 }), (e) => {
    assert.ok(e instanceof compactord.WrongNextIndexError);
    assert.deepEqual([e.reason, e.code, e.nextIndex], ["WRONG_NEXT_INDEX", Code.Aborted, 1]);
    return true;
  });
  const call = {
    role: "assistant",
    tool_calls: [{ id: "c_1", type: "function", function: { name: "f", arguments: "{}" } }],
  };
  await session.append(call);
  await assert.rejects(session.view(), (e) => {
    assert.ok(e instanceof compactord.ToolCallsOpenError);
    assert.deepEqual(e.callIds, ["c_1"]);
    return true;
  });
  const { id } = await session.checkpoint();
  await assert.rejects(session.revert({ toCheckpoint: 99 }), (e) => {
    assert.ok(e instanceof compactord.NotFoundError);
    assert.deepEqual([e.reason, e.metadata["last_checkpoint"]], ["CHECKPOINT_NOT_FOUND", String(id)]);
    return true;
  });
  const { session: state } = await session.info();
  await session.revert({ point: 0 });
  assert.ok((state?.point ?? 0) > 0);
  await assert.rejects(session.revert({ toCheckpoint: id }), (e) => {
    assert.ok(e instanceof CompactordError);
    assert.equal(e.reason, "CHECKPOINT_PUT_ASIDE");
    assert.ok(Number(e.metadata["point"]) > 0);
    return true;
  });
  await assert.rejects(client.createSession({ policy: { trigger: { triggerRatio: 7 } } }), (e) => {
    assert.ok(e instanceof compactord.InvalidRequestError);
    assert.equal(e.fieldViolations[0]?.field, "policy.trigger.trigger_ratio");
    return true;
  });
});

test("errors hold nothing of the conversation", async () => {
  const session = await client.createSession({ dialect: "anthropic" });
  await assert.rejects(session.append(new TextEncoder().encode('{"role": "user", "content": "xyzzy-secret')), (e) => {
    assert.ok(e instanceof compactord.InvalidRequestError);
    assert.doesNotMatch(JSON.stringify([e.message, e.metadata, e.fieldViolations]), /xyzzy/);
    return true;
  });
});

test("classes of one kind can be caught together", () => {
  const { NotFoundError, ConflictError } = compactord;
  const kinds = Object.values(classOfReason);
  const below = (kind: typeof CompactordError): string[] =>
    [...new Set(kinds.filter((one) => one.prototype instanceof kind).map((one) => one.name))].sort();
  assert.deepEqual(below(NotFoundError), ["SessionNotFoundError"]);
  assert.deepEqual(below(ConflictError), ["SyncConflictError", "WrongNextIndexError"]);
});

test("the error of a write has the request id that it was sent with, and that of a read has none", async () => {
  const session = await client.createSession();
  const idOf = async (call: Promise<unknown>): Promise<string | undefined> =>
    call.then(
      () => "no error",
      (e: unknown) => (e instanceof CompactordError ? e.requestId : "another error"),
    );
  assert.equal(await idOf(session.append("Hi.", { expectedNextIndex: 7, requestId: "mine" })), "mine");
  const own = await idOf(session.append("Hi.", { expectedNextIndex: 7 }));
  assert.match(own ?? "", /^[0-9a-f-]{36}$/);
  assert.equal(await idOf(client.session("nobody").compact({ requestId: "of a stream" })), "of a stream");
  assert.equal(await idOf(client.session("nobody").info()), undefined);
});
