import { toWire } from "../../core/ids.ts";
import type { UserNode } from "../../identity/index.ts";
import { createBatch } from "../../platform/graphql/request/batch.ts";
import {
  listOf,
  listType,
  tagsOf,
  windowToVariant,
  window,
  variantToWindow,
  type Builder,
  type GraphqlContext,
  type List,
  type NodeRef,
} from "../../platform/graphql/builder.ts";
import type { ApplicationNode } from "../../projects/index.ts";
import type { EntityOfProject, EnvironmentOfProject } from "../entity.ts";
import { addServiceQueries, type ServiceQueries } from "./services.ts";
import type { ListOfProjects } from "../of-projects.ts";

type Types = { readonly Application: NodeRef<ApplicationNode>; readonly User: NodeRef<UserNode> };
type Operations = ServiceQueries & {
  readonly listEnvironments: ListOfProjects<EnvironmentOfProject>;
  readonly listServices: ListOfProjects<EntityOfProject>;
};

/** The types that those of executions refer to. */
export type EnvironmentTypes = {
  readonly Environment: NodeRef<EnvironmentOfProject>;
  readonly Service: NodeRef<EntityOfProject>;
  readonly ArtifactSource: NodeRef<ArtifactSource>;
};

/** Adds `environments` and `services` to Application. */
export function addEnvironmentTypes(builder: Builder, types: Types, operations: Operations): EnvironmentTypes {
  const Environment = environmentType(builder, types.User);
  const ArtifactSource = builder.objectRef<ArtifactSource>("ArtifactSource").implement({
    fields: (t) => ({
      id: t.exposeString("id"),
      name: t.exposeString("name"),
      createdAt: t.expose("createdAt", { type: "Long" }),
    }),
  });
  const Service = serviceType(builder, types.User, ArtifactSource);
  addList(builder, types.Application, { name: "environments", node: Environment, list: operations.listEnvironments });
  const ServiceList = addList(builder, types.Application, {
    name: "services",
    node: Service,
    list: operations.listServices,
  });
  addServiceQueries(builder, { Service, ServiceList }, operations);
  return { Environment, Service, ArtifactSource };
}

type EntityList<T extends EntityOfProject> = {
  readonly name: "environments" | "services";
  readonly node: NodeRef<T>;
  readonly list: ListOfProjects<T>;
};

function addList<T extends EntityOfProject>(
  builder: Builder,
  Application: NodeRef<ApplicationNode>,
  { name, node, list }: EntityList<T>,
): NodeRef<List<T>> {
  const List = listType(builder, name === "services" ? "ServiceConnection" : "EnvironmentConnection", node);
  const pageOf = createBatch(
    ({ actor }: GraphqlContext, projects: readonly ApplicationNode["id"][], variant: string) => {
      return list(actor, projects, variantToWindow(variant));
    },
  );
  builder.objectField(Application, name, (t) =>
    t.field({
      type: List,
      description: `Those that lie in the application itself, by name. Pipelines may also name ${name} of its organization and of the account.`,
      args: { limit: t.arg.int(), offset: t.arg.int() },
      extensions: { permission: name === "services" ? "core_service_view" : "core_environment_view" },
      resolve: async ({ id }, args, context) => {
        return listOf(await pageOf(context, id, windowToVariant(window(args))));
      },
    }),
  );
  return List;
}

const WHO = "Always null: the audit trail tells who made it.";

function environmentType(builder: Builder, User: NodeRef<UserNode>): NodeRef<EnvironmentOfProject> {
  const Type = builder.enumType("EnvironmentType", { values: ["NON_PROD", "PROD"] as const });
  return builder.objectRef<EnvironmentOfProject>("Environment").implement({
    fields: (t) => ({
      id: t.string({ resolve: ({ id }) => toWire(id) }),
      name: t.exposeString("name"),
      description: t.exposeString("description"),
      type: t.field({ type: Type, resolve: ({ type }) => (type === "Production" ? "PROD" : "NON_PROD") }),
      createdAt: t.expose("createdAt", { type: "Long" }),
      createdBy: t.field({ type: User, description: WHO, resolve: () => null }),
      tags: t.field({ type: ["Tag"], resolve: ({ tags }) => tagsOf(tags) }),
    }),
  });
}

/** Services have no artifacts, so no such node exists. */
type ArtifactSource = { readonly id: string; readonly name: string; readonly createdAt: number };

function serviceType(
  builder: Builder,
  User: NodeRef<UserNode>,
  Source: NodeRef<ArtifactSource>,
): NodeRef<EntityOfProject> {
  return builder.objectRef<EntityOfProject>("Service").implement({
    fields: (t) => ({
      id: t.string({ resolve: ({ id }) => toWire(id) }),
      name: t.exposeString("name"),
      description: t.exposeString("description"),
      artifactType: t.string({ description: "Always null: services name no artifacts.", resolve: () => null }),
      artifactSources: t.field({
        type: [Source],
        description: "Always empty: services name no artifacts.",
        resolve: () => [],
      }),
      deploymentType: t.string({
        description: "Always KUBERNETES: services of another type are refused.",
        resolve: () => "KUBERNETES",
      }),
      createdAt: t.expose("createdAt", { type: "Long" }),
      createdBy: t.field({ type: User, description: WHO, resolve: () => null }),
      tags: t.field({ type: ["Tag"], resolve: ({ tags }) => tagsOf(tags) }),
    }),
  });
}
