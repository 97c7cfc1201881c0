import type { Uuid } from "../core/ids.ts";
import { referred, type Place, type Referred } from "../core/reference.ts";
import type { Db } from "../platform/db/db.ts";
import { findConnectors } from "./store/overview.ts";
import { kubernetesCluster, stepClusterOf } from "./types/kubernetes-cluster.ts";
import { typeOf } from "./types/table.ts";

/** What a pipeline has to know of a connector that it references. */
export type UsedConnector = {
  readonly id: Uuid;
  readonly type: string;
  /** Tags of the delegates that connect. */
  readonly selectors: readonly string[];
  /** Steps use the identity of the delegate in a cluster. */
  readonly isInherited: boolean;
};

const nameOf = ({ orgIdentifier, projectIdentifier, identifier }: Referred): string =>
  [orgIdentifier, projectIdentifier, identifier].join("/");

/** Returns the referenced connectors for every actor; missing ones are left out. Runs at most one statement. */
export const findUsedConnectors =
  ({ db }: { readonly db: Db }) =>
  async (accountId: Uuid, home: Place, references: readonly string[]): Promise<ReadonlyMap<string, UsedConnector>> => {
    const keys = new Map(
      references.flatMap((reference) => {
        const key = referred(reference, home);
        return key ? [[reference, key] as const] : [];
      }),
    );
    if (keys.size === 0) return new Map();
    const connectors = await findConnectors(db, accountId, [...keys.values()]);
    const found = new Map(connectors.map((connector) => [nameOf(connector), connector]));
    return new Map(
      [...keys].flatMap(([reference, key]) => {
        const connector = found.get(nameOf(key));
        if (!connector) return [];
        const { id, type, spec } = connector;
        const { selectors } = typeOf(connector).origin(spec);
        const isInherited = type === kubernetesCluster.name && stepClusterOf(connector) === undefined;
        return [[reference, { id, type, selectors, isInherited }] as const];
      }),
    );
  };

export type FindUsedConnectors = ReturnType<typeof findUsedConnectors>;
