import type { Uuid } from "../core/ids.ts";

/** A person of an account. What is not here, such as the password hash, never leaves the store. */
export type User = { readonly id: Uuid; readonly name: string; readonly email: string };

/** A person with what only those see who look at people. */
export type UserDetail = User & {
  /** The password is a one-time one: the next login asks for another. */
  readonly mustChangePassword: boolean;
};
