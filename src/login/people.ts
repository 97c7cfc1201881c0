/** What signing in asks of the slice that keeps people. */
import type { Uuid } from "../core/ids.ts";
import type { Query } from "../platform/db/db.ts";

export type Person = {
  readonly id: Uuid;
  readonly name: string;
  readonly email: string;
  /** Null for somebody without a password. */
  readonly passwordHash: string | null;
  readonly mustChangePassword: boolean;
};

type Store = { readonly query: Query };

/** Those who may not sign in are not found. */
export type People = {
  readonly firstAccount: () => Promise<Uuid | undefined>;
  /** The administrator of the first start. */
  readonly first: (accountId: Uuid) => Promise<Person | undefined>;
  readonly byEmail: (accountId: Uuid, email: string) => Promise<Person | undefined>;
  readonly byId: (accountId: Uuid, id: Uuid) => Promise<Person | undefined>;
  /** As they are, and stay until the transaction ends. */
  readonly hold: (tx: Store, accountId: Uuid, id: Uuid) => Promise<Person | undefined>;
  /** False when the hash is not `was` any more; without `was` it is replaced whatever it is. */
  readonly savePassword: (
    tx: Store,
    accountId: Uuid,
    id: Uuid,
    password: { readonly hash: string; readonly mustChange: boolean; readonly was?: string },
  ) => Promise<boolean>;
};
