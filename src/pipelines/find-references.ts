/** What a run names outside of its pipeline, by the ids of this moment. */
import type { FindIds } from "../access/index.ts";
import type { FindUsedConnectors, UsedConnector } from "../connectors/index.ts";
import type { Uuid } from "../core/ids.ts";
import type { PlanReference } from "../engine/index.ts";
import type { IdentifySecrets } from "../secrets/index.ts";
import type { InProject } from "./pipeline.ts";

/** `connector`: of the kind that it names. */
export type FoundReference = PlanReference & { readonly connector?: UsedConnector };

export type Named = Pick<PlanReference, "kind" | "reference" | "stage">;

/** Those of the references that name something, in their order; one statement for each kind that is among them. */
export type FindReferences = (
  accountId: Uuid,
  scope: InProject,
  named: readonly Named[],
) => Promise<readonly FoundReference[]>;

export type FindReferencesDeps = {
  readonly identifySecrets: IdentifySecrets;
  readonly findIds: { readonly [kind in Exclude<PlanReference["kind"], "secret" | "connector">]: FindIds };
  readonly findUsedConnectors: FindUsedConnectors;
};

export const makeFindReferences =
  (deps: FindReferencesDeps): FindReferences =>
  async (accountId, { orgIdentifier, projectIdentifier }, named) => {
    const home = { orgIdentifier, projectIdentifier };
    const byKind = Map.groupBy(named, ({ kind }) => kind);
    const found = new Map(
      await Promise.all(
        [...byKind].map(async ([kind, some]) => {
          const references = [...new Set(some.map(({ reference }) => reference))];
          return [kind, await idsOf(deps, accountId, home, kind, references)] as const;
        }),
      ),
    );
    const once = new Map(named.map((one) => [`${one.kind} ${one.reference} ${one.stage ?? ""}`, one]));
    return [...once.values()].flatMap((one) => {
      const there = found.get(one.kind)?.get(one.reference);
      return there ? [{ ...one, ...there }] : [];
    });
  };

type Found = ReadonlyMap<string, Pick<FoundReference, "id" | "takes" | "connector">>;

async function idsOf(
  { identifySecrets, findIds, findUsedConnectors }: FindReferencesDeps,
  accountId: Uuid,
  home: InProject,
  kind: PlanReference["kind"],
  references: readonly string[],
): Promise<Found> {
  if (kind === "connector") {
    const connectors = await findUsedConnectors(accountId, home, references);
    return new Map([...connectors].map(([reference, connector]) => [reference, { id: connector.id, connector }]));
  }
  if (kind !== "secret") {
    const ids = await findIds[kind](accountId, home, references);
    return new Map([...ids].map(([reference, id]) => [reference, { id }]));
  }
  const secrets = await identifySecrets(accountId, home, references);
  return new Map([...secrets].map(([reference, { id, takes }]) => [reference, takes ? { id, takes } : { id }]));
}
