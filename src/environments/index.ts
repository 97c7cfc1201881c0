/** Environments, which pipelines deploy to, and services, which they deploy. */
import { createExist, type ListUsedBy } from "../access/index.ts";
import {
  ENVIRONMENT,
  SERVICE,
  type Entity,
  type EntityOfProject,
  type Environment,
  type EnvironmentOfProject,
  type Service,
} from "./entity.ts";
import { listOfProjects } from "./of-projects.ts";
import { environmentRoutes } from "./rest.ts";
import { deleteEntitiesOf } from "./store/entities.ts";
import { findEnvironmentPlaces, findProduction, findRunPlace } from "./places.ts";
import { getService, getServiceByName, listServices } from "./services.ts";
import { tagEntity } from "./tag.ts";
import { findTargets } from "./targets.ts";
import type { EmptyScope } from "../projects/index.ts";
import { targetReferences } from "./references.ts";
import type { EntityDeps } from "./entities/deps.ts";
import type { GetEntity } from "./entities/get.ts";
import { createEntities } from "./entities/index.ts";

export { addEnvironmentTypes, type EnvironmentTypes } from "./graphql/environments.ts";
export type { FindEnvironmentPlaces } from "./places.ts";
export type { FindTargets, Target } from "./targets.ts";

/** Both kinds share their operations; `ENVIRONMENT` and `SERVICE` hold the differences. */
export function createEnvironments(deps: EntityDeps) {
  const environments = createEntities<Environment>(deps, ENVIRONMENT);
  const services = createEntities<Service>(deps, SERVICE);
  const listAllServices = listServices(deps);
  const usedBy = {
    environment: usedByOf(deps, "environment", environments.get),
    service: usedByOf(deps, "service", services.get),
  };
  return {
    exist: { environment: createExist(deps, "environment"), service: createExist(deps, "service") },
    findTargets: { environment: findTargets(deps, ENVIRONMENT), service: findTargets(deps, SERVICE) },
    /** Returns the existing environments that the actor may see, each with its project and its kind. */
    findPlaces: findEnvironmentPlaces(deps),
    findRunPlace: findRunPlace(deps),
    findProduction: findProduction(deps),
    listEnvironments: listOfProjects<EnvironmentOfProject>(deps, ENVIRONMENT),
    listServices: listOfProjects<EntityOfProject>(deps, SERVICE),
    tagEnvironment: tagEntity({ db: deps.db, updateEntity: environments.update }, ENVIRONMENT),
    tagService: tagEntity({ db: deps.db, updateEntity: services.update }, SERVICE),
    listAllServices,
    getService: getService(listAllServices),
    getServiceByName: getServiceByName(listAllServices),
    noteUses: { environment: targetReferences.environment.note, service: targetReferences.service.note },
    emptyScope,
    routes: environmentRoutes({ environments, services, usedBy }),
  };
}

const usedByOf =
  (
    { db }: Pick<EntityDeps, "db">,
    noun: "environment" | "service",
    get: (...asked: Parameters<GetEntity<Entity>>) => Promise<unknown>,
  ): ListUsedBy =>
  async (actor, key, window) => {
    await get(actor, key);
    return targetReferences[noun].listUsedBy(db, actor, key, window);
  };

const emptyScope: EmptyScope = async (tx, scope) => {
  await targetReferences.environment.deleteReferencesOf(tx, scope);
  await targetReferences.service.deleteReferencesOf(tx, scope);
  return deleteEntitiesOf(tx, scope);
};
