import type { Uuid } from "./ids.ts";

/** Who acts. Every verb takes one; the audit trail keeps it. */
export type Actor =
  | {
      readonly kind: "user";
      readonly accountId: Uuid;
      readonly id: Uuid;
      readonly name: string;
      readonly email: string;
      /** The built-in role; `_account_viewer` holds the `*_view` permissions only. */
      readonly role: "_account_admin" | "_account_viewer";
    }
  | { readonly kind: "delegate"; readonly accountId: Uuid; readonly id: Uuid; readonly name: string }
  | { readonly kind: "trigger"; readonly accountId: Uuid; readonly id: Uuid; readonly name: string }
  | { readonly kind: "system"; readonly accountId: Uuid };

/** The id to keep beside what the actor made; null for the system. */
export const actorId = (actor: Actor): Uuid | null => (actor.kind === "system" ? null : actor.id);
