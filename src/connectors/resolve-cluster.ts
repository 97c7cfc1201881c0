import type { Uuid } from "../core/ids.ts";
import type { Place } from "../core/reference.ts";
import type { Db } from "../platform/db/db.ts";
import type { ResolvedSecret, ResolveForStep, StepPlace } from "../secrets/index.ts";
import { problem } from "./problems.ts";
import { findSavedConnector } from "./store/connectors.ts";
import { stepClusterOf, type ClusterRole, type StepCluster } from "./types/kubernetes-cluster.ts";
import { typeOf } from "./types/table.ts";

/** A cluster found for a step, with the secrets of its connector; `read` of each opens it. */
export type ResolvedCluster = {
  readonly id: Uuid;
  /** The place of the connector, from which its references start. */
  readonly home: Place;
  readonly takes: readonly {
    readonly role: ClusterRole;
    readonly reference: string;
    readonly secret: ResolvedSecret;
  }[];
  /** Null for the identity of the delegate. */
  readonly access: Pick<StepCluster, "server" | "algorithm"> | null;
};

/** `selectors`: the tags that the delegate of the step has. */
export type ClusterUse = { readonly reference: string; readonly id: Uuid; readonly selectors: readonly string[] };

/**
 * Finds the cluster of a connector for a step, and its secrets. The caller has checked the permissions on the connector;
 * its last author had access to the secrets, whose usage scopes must cover the run. Throws what `resolveForStep` throws,
 * `connector.not_found`, and `connector.other_delegate` if the connector now names other delegates for its identity.
 */
export const resolveCluster =
  ({ db, resolveForStep }: { readonly db: Db; readonly resolveForStep: ResolveForStep }) =>
  async (
    accountId: Uuid,
    place: StepPlace["place"],
    { reference, id, selectors }: ClusterUse,
  ): Promise<ResolvedCluster> => {
    const connector = await findSavedConnector(db, accountId, { id });
    if (!connector) throw problem("connector.not_found", [reference]);
    const { orgIdentifier, projectIdentifier, secretIds } = connector;
    const home = { orgIdentifier, projectIdentifier };
    const cluster = stepClusterOf(connector);
    if (!cluster) {
      const needed = typeOf(connector).origin(connector.spec).selectors;
      if (needed.some((tag) => !selectors.includes(tag))) throw problem("connector.other_delegate", [reference]);
      return { id, home, takes: [], access: null };
    }
    const takes = await Promise.all(
      cluster.secrets.map(async ({ role, reference: named }) => {
        // The secret that the connector was saved with: another one under the same name is not used.
        const use = { reference: named, as: "value" as const, id: secretIds?.[named] };
        return { role, reference: named, secret: await resolveForStep(accountId, { home, place }, use) };
      }),
    );
    return { id, home, takes, access: { server: cluster.server, algorithm: cluster.algorithm } };
  };

export type ResolveCluster = ReturnType<typeof resolveCluster>;
