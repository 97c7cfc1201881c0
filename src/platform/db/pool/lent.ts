import type { ClientBase } from "pg";
import type { OnBinaryRow, Query } from "../db.ts";

/** A connection borrowed from the pool, until it is released for reuse or destroyed (`destroy`). */
export type Lent = { readonly client: ClientBase; readonly query: Query; readonly release: (destroy: boolean) => void };

/** Rows of a type that the caller states. */
export type AskFor = (text: string, values?: readonly unknown[], rows?: "array") => Promise<never[]>;
/** Rows in binary format. */
export type Copy = (text: string, onRow: OnBinaryRow) => Promise<void>;
export type LentTo = Lent & { readonly ask: AskFor; readonly copy: Copy };
