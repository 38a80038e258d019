import { create } from "@bufbuild/protobuf";

import { checkedIndex, checkKeys, onlyKey } from "../contract/arguments.js";
import type { FoldRange } from "../v1.js";
import { FoldRangeSchema } from "../v1.js";
import type { FoldTarget } from "./options.js";

/** The contract's range of a fold. Throws a TypeError or RangeError that names the wrong field. */
export function foldRangeOf(target: FoldTarget): FoldRange {
  checkKeys("fold", target, ["start", "checkpoint", "end", "text"]);
  const key = onlyKey("fold", target, ["start", "checkpoint"]);
  const value = checkedIndex(key, target[key]);
  return create(FoldRangeSchema, {
    from: key === "start" ? { case: "start", value } : { case: "checkpointId", value },
    text: target.text ?? "",
    ...(target.end !== undefined && { end: checkedIndex("end", target.end) }),
  });
}
