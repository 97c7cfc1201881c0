/** What a pipeline document may have, where other documents have `LIMITS`. */
import { LIMITS, type Limits } from "../../platform/document/limits.ts";

// 5,000 nodes with 30 values and 800 bytes each (docs/decisions/0042-large-documents-are-read-in-workers.md).
export const PIPELINE_LIMITS: Limits = { ...LIMITS, maxBytes: 4 * 1024 * 1024, maxNodes: 150_000 };
