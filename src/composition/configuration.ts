/** What pipelines refer to: environments with their services, secrets and connectors. */
import { createConnectors } from "../connectors/index.ts";
import { createEnvironments } from "../environments/index.ts";
import type { Projects } from "../projects/index.ts";
import { createSecrets } from "../secrets/index.ts";
import type { CommonDeps } from "./deps.ts";
import type { IdentityAndAccess } from "./identity-and-access.ts";
import { createUsageScopeFacts } from "./usage-scope-facts.ts";

export type Configuration = ReturnType<typeof createConfiguration>;

type ConfigurationDeps = Pick<IdentityAndAccess, "access" | "identity"> & { readonly projects: Projects };

export function createConfiguration(deps: CommonDeps, { access, identity, projects }: ConfigurationDeps) {
  const { db, audit, clock, newId } = deps;
  const { authorize, dereference } = access;
  const { requireScope } = projects;

  const environments = createEnvironments({ db, audit, clock, newId, authorize, dereference, requireScope });
  const secrets = createSecrets({
    db,
    audit,
    keys: deps.keys,
    clock,
    newId,
    authorize,
    dereference,
    requireScope,
    revalidateActor: identity.revalidateActor,
    commands: deps.secretCommands,
    maxContent: deps.maxSecretFile,
    facts: createUsageScopeFacts(projects.applicationsExist, environments.findPlaces),
  });
  const connectors = createConnectors({
    db,
    audit,
    clock,
    newId,
    authorize,
    dereference,
    requireScope,
    requireSecret: secrets.require,
    noteSecretUses: secrets.noteUses,
    resolveForStep: secrets.resolveForStep,
  });

  return { environments, secrets, connectors };
}
