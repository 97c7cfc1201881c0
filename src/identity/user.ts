import type { Uuid } from "../core/ids.ts";

/** A person of an account. What is not here, such as the password hash, never leaves the store. */
export type User = { readonly id: Uuid; readonly name: string; readonly email: string };
