/** What a run names outside of its pipeline, by the ids of this moment. */
import type { FindUsedConnectors, UsedConnector } from "../connectors/index.ts";
import type { Uuid } from "../core/ids.ts";
import type { PlanReference } from "../engine/index.ts";
import type { FindTargets, Target } from "../environments/index.ts";
import type { IdentifySecrets } from "../secrets/index.ts";
import type { InProject } from "./pipeline.ts";

/** `connector`, `target`: what it names, a service or environment as `target`. */
export type FoundReference = PlanReference & { readonly connector?: UsedConnector; readonly target?: Target };

export type Named = Pick<PlanReference, "kind" | "reference" | "stage">;

/** Those of the references that name something, in their order; one statement for each kind that is among them. */
export type FindReferences = (
  accountId: Uuid,
  scope: InProject,
  named: readonly Named[],
) => Promise<readonly FoundReference[]>;

export type FindReferencesDeps = {
  readonly identifySecrets: IdentifySecrets;
  readonly findTargets: { readonly [kind in Exclude<PlanReference["kind"], "secret" | "connector">]: FindTargets };
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

type Found = ReadonlyMap<string, Pick<FoundReference, "id" | "takes" | "connector" | "target">>;

async function idsOf(
  { identifySecrets, findTargets, findUsedConnectors }: FindReferencesDeps,
  accountId: Uuid,
  home: InProject,
  kind: PlanReference["kind"],
  references: readonly string[],
): Promise<Found> {
  if (kind === "connector") {
    const connectors = await findUsedConnectors(accountId, home, references);
    return new Map([...connectors].map(([reference, connector]) => [reference, { id: connector.id, connector }]));
  }
  if (kind !== "secret") return findTargets[kind](accountId, home, references);
  const secrets = await identifySecrets(accountId, home, references);
  return new Map([...secrets].map(([reference, { id, takes }]) => [reference, takes ? { id, takes } : { id }]));
}
