import { create, createFileRegistry } from "@bufbuild/protobuf";
import type { DescMethod, DescMethodUnary } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import type { Transport } from "@connectrpc/connect";

import type { CallOptions } from "./calls.js";

/** The status of a daemon that serves. */
const serving = 1;

/** The used part of gRPC's health service: one method, which returns an enum, declared here as a number. */
const file = create(FileDescriptorProtoSchema, {
  name: "grpc/health/v1/health.proto",
  package: "grpc.health.v1",
  syntax: "proto3",
  messageType: [
    { name: "HealthCheckRequest" },
    {
      name: "HealthCheckResponse",
      field: [
        {
          name: "status",
          jsonName: "status",
          number: 1,
          type: FieldDescriptorProto_Type.INT32,
          label: FieldDescriptorProto_Label.OPTIONAL,
        },
      ],
    },
  ],
  service: [
    {
      name: "Health",
      method: [
        {
          name: "Check",
          inputType: ".grpc.health.v1.HealthCheckRequest",
          outputType: ".grpc.health.v1.HealthCheckResponse",
        },
      ],
    },
  ],
});

/** Whether the server serves. Asks once, without retries. */
export async function checkHealth(transport: Transport, { signal, timeoutMs }: CallOptions): Promise<boolean> {
  const check = createFileRegistry(file, () => undefined).getService("grpc.health.v1.Health")?.method["check"];
  if (check === undefined || !isUnary(check)) {
    throw new TypeError("the description of the health service has no unary method Check");
  }
  const { message } = await transport.unary(check, signal, timeoutMs, undefined, {});
  const answer = reflect(check.output, message);
  const status = check.output.field["status"];
  return status !== undefined && answer.get(status) === serving;
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}
