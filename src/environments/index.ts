/** Environments, which pipelines deploy to, and services, which they deploy. */
import { createExist } from "../access/index.ts";
import {
  ENVIRONMENT,
  SERVICE,
  type EntityOfProject,
  type Environment,
  type EnvironmentOfProject,
  type Service,
} from "./entity.ts";
import { listOfProjects } from "./of-projects.ts";
import { environmentRoutes } from "./rest.ts";
import { deleteEntitiesOf } from "./store/entities.ts";
import { findEnvironmentPlaces, findRunPlace } from "./places.ts";
import { getService, getServiceByName, listServices } from "./services.ts";
import { tagEntity } from "./tag.ts";
import { findTargets } from "./targets.ts";
import type { EntityDeps } from "./entities/deps.ts";
import { createEntities } from "./entities/index.ts";

export { addEnvironmentTypes, type EnvironmentTypes } from "./graphql/environments.ts";
export type { FindEnvironmentPlaces } from "./places.ts";
export type { FindTargets, Target } from "./targets.ts";

/** Both kinds share their operations; `ENVIRONMENT` and `SERVICE` hold the differences. */
export function createEnvironments(deps: EntityDeps) {
  const environments = createEntities<Environment>(deps, ENVIRONMENT);
  const services = createEntities<Service>(deps, SERVICE);
  const listAllServices = listServices(deps);
  return {
    exist: { environment: createExist(deps, "environment"), service: createExist(deps, "service") },
    findTargets: { environment: findTargets(deps, ENVIRONMENT), service: findTargets(deps, SERVICE) },
    /** Returns the existing environments that the actor may see, each with its project and its kind. */
    findPlaces: findEnvironmentPlaces(deps),
    findRunPlace: findRunPlace(deps),
    listEnvironments: listOfProjects<EnvironmentOfProject>(deps, ENVIRONMENT),
    listServices: listOfProjects<EntityOfProject>(deps, SERVICE),
    tagEnvironment: tagEntity({ db: deps.db, updateEntity: environments.update }, ENVIRONMENT),
    tagService: tagEntity({ db: deps.db, updateEntity: services.update }, SERVICE),
    listAllServices,
    getService: getService(listAllServices),
    getServiceByName: getServiceByName(listAllServices),
    emptyScope: deleteEntitiesOf,
    routes: environmentRoutes({ environments, services }),
  };
}
