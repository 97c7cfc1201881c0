/** What a document may cost. Each bound holds before the work that it bounds. */
export type Limits = {
  /** Bytes of UTF-8. */
  readonly maxBytes: number;
  /** Maps and lists inside one another. */
  readonly maxDepth: number;
  /** Values, each use of an alias counted anew. */
  readonly maxNodes: number;
  /** Uses of YAML aliases. */
  readonly maxAliases: number;
};

// The worst document within these bounds takes about 60 ms of a core when the machine is busy, 90 to 130 in a process
// that has just begun; 3,000 values cost the most. With 20,000 it were 300 to 500. Pipelines that people write have
// 2,000 at most.
export const LIMITS: Limits = { maxBytes: 256 * 1024, maxDepth: 64, maxNodes: 3_000, maxAliases: 50 };
