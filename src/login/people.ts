/** The data of people that sign-in needs from the identity slice. */
import type { Uuid } from "../core/ids.ts";
import type { Store } from "../platform/db/db.ts";

/** Identifies a person. */
export type PersonKey = { readonly accountId: Uuid; readonly userId: Uuid };

export type Person = {
  readonly id: Uuid;
  readonly name: string;
  readonly email: string;
  readonly accountName: string;
  /** Null for a person without a password. */
  readonly passwordHash: string | null;
  readonly mustChangePassword: boolean;
};

/** People who may sign in. Deactivated and deleted ones are not found. */
export type People = {
  readonly firstAccount: () => Promise<Uuid | undefined>;
  /** The administrator of the first start. */
  readonly first: (accountId: Uuid) => Promise<Person | undefined>;
  readonly byEmail: (accountId: Uuid, email: string) => Promise<Person | undefined>;
  readonly byId: (accountId: Uuid, id: Uuid) => Promise<Person | undefined>;
  /** The person, locked until the transaction ends. */
  readonly lock: (tx: Store, accountId: Uuid, id: Uuid) => Promise<Person | undefined>;
  /**
   * `id` is that of the person. False if the stored hash is not `was`. Without `was` the hash is replaced in any case.
   */
  readonly savePassword: (
    tx: Store,
    accountId: Uuid,
    password: { readonly id: Uuid; readonly hash: string; readonly mustChange: boolean; readonly was?: string },
  ) => Promise<boolean>;
};
