/**
 * Finds the ids of the secrets that a run may use, when it starts: a secret of the same name that is created later
 * has another id.
 */
import type { Uuid } from "../../core/ids.ts";
import { referred, type Place } from "../../core/reference.ts";
import type { Db } from "../../platform/db/db.ts";
import type { Secret } from "../secret.ts";
import { secretsOfLogin } from "../ssh/login.ts";
import { findSecretsByKeys, type FoundSecret } from "../store/secrets.ts";

/** `takes`: for an SSH credential, the ids of the secrets of its login by reference. */
export type IdentifiedSecret = Pick<Secret, "id" | "type"> & { readonly takes?: Readonly<Record<string, Uuid>> };

/**
 * Returns the secrets that references from `home` name now, by reference; unknown references are missing. Checks no
 * permission. Runs one statement, and a second one if SSH credentials are among the secrets.
 */
export const identifySecrets =
  ({ db }: { readonly db: Pick<Db, "query"> }) =>
  async (
    accountId: Uuid,
    home: Place,
    references: readonly string[],
  ): Promise<ReadonlyMap<string, IdentifiedSecret>> => {
    const found = await findAt(
      db,
      accountId,
      references.map((reference) => ({ reference, home })),
    );
    const logins = [...found.values()].flatMap((secret) => (secret.ssh ? [secret] : []));
    const taken = logins.flatMap((secret) =>
      secretsOfLogin(secret.ssh as NonNullable<Secret["ssh"]>).map(({ reference }) => ({ reference, home: secret })),
    );
    const ids = await findAt(db, accountId, taken);
    return new Map(
      [...found].map(([key, secret]) => {
        const { id, type } = secret;
        if (!secret.ssh) return [referenceOf(key), { id, type }];
        const takes = secretsOfLogin(secret.ssh).flatMap(({ reference }) => {
          const one = ids.get(keyOf({ reference, home: secret }));
          return one ? [[reference, one.id] as const] : [];
        });
        return [referenceOf(key), { id, type, takes: Object.fromEntries(takes) }];
      }),
    );
  };

/** Called at the start of a run, whose steps use the secrets with these ids. Checks no permission. */
export type IdentifySecrets = ReturnType<typeof identifySecrets>;

type PlacedReference = { readonly reference: string; readonly home: Place };

// The reference is the last part and contains no space.
const keyOf = ({ reference, home }: PlacedReference): string =>
  `${home.orgIdentifier ?? ""} ${home.projectIdentifier ?? ""} ${reference}`;
const referenceOf = (key: string): string => key.slice(key.lastIndexOf(" ") + 1);

/** Returns the secrets by `keyOf` of each reference. */
async function findAt(
  db: Pick<Db, "query">,
  accountId: Uuid,
  all: readonly PlacedReference[],
): Promise<ReadonlyMap<string, FoundSecret>> {
  const asked = [...new Map(all.map((one) => [keyOf(one), one])).entries()].flatMap(([name, { reference, home }]) => {
    const key = referred(reference, home);
    return key ? [{ name, key }] : [];
  });
  const found = await findSecretsByKeys(
    db,
    accountId,
    asked.map(({ key }) => key),
  );
  return new Map(
    asked.flatMap(({ name }, nth) => {
      const one = found[nth];
      return one ? [[name, one] as const] : [];
    }),
  );
}
