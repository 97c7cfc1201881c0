/** Deployment stages of the same infrastructure run one after the other (docs/decisions/0038-locks.md). */
import { deploymentOf, type StageDocument } from "./document/schema.ts";

type Scope = { readonly orgIdentifier: string; readonly projectIdentifier: string };

/**
 * The lock of a stage as a template; none if simultaneous deployments are allowed. A stage that only names an
 * environment has one if it says that they are not.
 */
export function lockOf(stage: StageDocument, scope: Scope): { readonly lock?: string } {
  const deployment = deploymentOf(stage);
  if (!deployment) return {};
  const { serviceConfig, infrastructure } = deployment;
  const { allowSimultaneousDeployments: isAllowed, environmentRef, infrastructureDefinition } = infrastructure;
  if (isAllowed === true || (!infrastructureDefinition && isAllowed !== false)) return {};
  const references = [serviceConfig.serviceRef, environmentRef];
  if (!infrastructureDefinition) return { lock: [placeOf(references, scope), ...references].join(" ") };
  return { lock: `${placeOf([...references, infrastructureDefinition.spec.connectorRef], scope)} <+INFRA_KEY>` };
}

/** Equal references of two projects mean different things, unless they all lead out of the project. */
function placeOf(references: readonly string[], { orgIdentifier, projectIdentifier }: Scope): string {
  const levels = new Set(references.map((reference) => /^(account|org)\./.exec(reference)?.[1]));
  if (levels.has(undefined)) return `project ${orgIdentifier}/${projectIdentifier}`;
  return levels.has("org") ? `org ${orgIdentifier}` : "account";
}
