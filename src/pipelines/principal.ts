/** Whom an execution acts for. References only: permissions are read when they are needed (docs/decisions/0020-principals.md). */
import type { Uuid } from "../core/ids.ts";
import type { Author } from "../identity/index.ts";

/** What makes an author a principal of an execution. Identifiers and versions are those at the start, for messages. */
export type Authored =
  | { readonly type: "execution" }
  | { readonly type: "trigger"; readonly id: Uuid; readonly identifier: string; readonly version: number }
  /** `chained`: the number of pipelines around one that a stage runs. */
  | { readonly type: "pipeline"; readonly identifier: string; readonly version: number; readonly chained?: number }
  | { readonly type: "input_set"; readonly identifier: string; readonly version: number };

/** `author` is null for a document that was saved before authors were stored. */
export type Principal = { readonly author: Author | null; readonly authored: Authored };
