/** Environments and services: where pipelines deploy to, and what. */
import { makeExist, makeFindIds } from "../access/index.ts";
import {
  ENVIRONMENT,
  SERVICE,
  type EntityOfProject,
  type Environment,
  type EnvironmentOfProject,
  type Service,
} from "./entity.ts";
import { makeListOfProjects } from "./of-projects.ts";
import { environmentRoutes } from "./rest.ts";
import { deleteEntitiesOf } from "./store.ts";
import { makePlacesOf, makeRunPlace } from "./places.ts";
import { makeGetService, makeGetServiceByName, makeListServices } from "./services.ts";
import { makeTagEntity } from "./tag.ts";
import { makeEntities, type EntityDeps } from "./verbs.ts";

export { addEnvironmentTypes, type EnvironmentTypes } from "./graphql.ts";
export type { PlacesOf } from "./places.ts";

export function makeEnvironments(deps: EntityDeps) {
  const environments = makeEntities<Environment>(deps, ENVIRONMENT);
  const services = makeEntities<Service>(deps, SERVICE);
  const listAllServices = makeListServices(deps);
  return {
    exist: { environment: makeExist(deps, "environment"), service: makeExist(deps, "service") },
    findIds: { environment: makeFindIds(deps, "environment"), service: makeFindIds(deps, "service") },
    /** Of these ids, the environments that exist and that the actor may see, each with its project and its kind. */
    placesOf: makePlacesOf(deps),
    runPlace: makeRunPlace(deps),
    listEnvironments: makeListOfProjects<EnvironmentOfProject>(deps, ENVIRONMENT),
    listServices: makeListOfProjects<EntityOfProject>(deps, SERVICE),
    tagEnvironment: makeTagEntity({ ...deps, entities: environments }, ENVIRONMENT),
    tagService: makeTagEntity({ ...deps, entities: services }, SERVICE),
    listAllServices,
    getService: makeGetService(listAllServices),
    getServiceByName: makeGetServiceByName(listAllServices),
    emptyScope: deleteEntitiesOf,
    routes: environmentRoutes({ environments, services }),
  };
}
