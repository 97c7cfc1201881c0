import type { ClientBase } from "pg";
import type { Query } from "../db.ts";

/** A connection as the pool lends it: ours until it is released, for good (`destroy`) or for the next one. */
export type Lent = { readonly client: ClientBase; readonly query: Query; readonly release: (destroy: boolean) => void };

/** Rows of whatever kind the caller knows them to be. */
export type AskFor = (text: string, values?: readonly unknown[], rows?: "array") => Promise<never[]>;
export type LentTo = Lent & { readonly ask: AskFor };
