import { fromJson, isMessage } from "@bufbuild/protobuf";
import { CompactionReason, PolicySchema, ThinkingPolicy } from "./v1.js";
/** Makes a policy of what was given for one. */
export function policyOf(policy) {
    return isMessage(policy, PolicySchema) ? policy : fromJson(PolicySchema, policy);
}
/** The contract's value of a reason. */
export function reasonOf(name) {
    switch (name) {
        case undefined:
        case "manual":
            return CompactionReason.MANUAL;
        case "threshold":
            return CompactionReason.THRESHOLD;
        case "overflow":
            return CompactionReason.OVERFLOW;
        default:
            throw new TypeError(`reason: ${JSON.stringify(name)} is none: manual, threshold or overflow`);
    }
}
/** The contract's value of it. */
export function thinkingOf(name) {
    switch (name) {
        case "keep_valid":
            return ThinkingPolicy.KEEP_VALID;
        case "keep_all":
            return ThinkingPolicy.KEEP_ALL;
        case "strip":
            return ThinkingPolicy.STRIP;
        default:
            throw new TypeError(`thinking: ${JSON.stringify(name)} is none: keep_valid, keep_all or strip`);
    }
}
