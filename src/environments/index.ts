/** Environments and services: where pipelines deploy to, and what. */
import { ENVIRONMENT, SERVICE, type Environment, type Service } from "./entity.ts";
import { environmentRoutes } from "./rest.ts";
import { makeEntities, type EntityDeps } from "./verbs.ts";

export function makeEnvironments(deps: EntityDeps) {
  const environments = makeEntities<Environment>(deps, ENVIRONMENT);
  const services = makeEntities<Service>(deps, SERVICE);
  return {
    exist: { environment: environments.exist, service: services.exist },
    routes: environmentRoutes({ environments, services }),
  };
}
