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

// 20,000 values parse in about 100 ms; the largest pipelines that people write have a tenth of that.
export const LIMITS: Limits = { maxBytes: 256 * 1024, maxDepth: 64, maxNodes: 20_000, maxAliases: 50 };
