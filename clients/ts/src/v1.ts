// Generated from gen/compactord/v1 by `go run -C tools ./verify generate`. Do not edit.

/**
 * The messages, enums and services of the contract, as protobuf-es generates them.
 *
 * @module
 */
export * from "./gen/compactord/v1/append_pb.js";
export * from "./gen/compactord/v1/block_pb.js";
export * from "./gen/compactord/v1/catalogue_pb.js";
export * from "./gen/compactord/v1/child_pb.js";
export * from "./gen/compactord/v1/classify_pb.js";
export * from "./gen/compactord/v1/client_model_pb.js";
export * from "./gen/compactord/v1/compact_pb.js";
export * from "./gen/compactord/v1/compaction_service_pb.js";
export * from "./gen/compactord/v1/edit_pb.js";
export * from "./gen/compactord/v1/error_pb.js";
export * from "./gen/compactord/v1/event_pb.js";
export * from "./gen/compactord/v1/history_pb.js";
export * from "./gen/compactord/v1/log_pb.js";
export * from "./gen/compactord/v1/message_pb.js";
export * from "./gen/compactord/v1/pin_pb.js";
export * from "./gen/compactord/v1/point_pb.js";
export * from "./gen/compactord/v1/policy_pb.js";
export * from "./gen/compactord/v1/recall_pb.js";
export * from "./gen/compactord/v1/record_pb.js";
export * from "./gen/compactord/v1/report_pb.js";
export * from "./gen/compactord/v1/session_pb.js";
export * from "./gen/compactord/v1/session_service_pb.js";
export * from "./gen/compactord/v1/store_service_pb.js";
export * from "./gen/compactord/v1/strategy_pb.js";
export * from "./gen/compactord/v1/sync_pb.js";
export * from "./gen/compactord/v1/tokens_pb.js";
export * from "./gen/compactord/v1/view_pb.js";
export * from "./gen/compactord/v1/watch_pb.js";
