/** GraphQL fields `services`, `service` and `serviceByName` for the services of all applications. */
import { listOf, window, type Builder, type List, type NodeRef } from "../../platform/graphql/builder.ts";
import { commonFilters } from "../../platform/graphql/filters.ts";
import type { EntityOfProject } from "../entity.ts";
import {
  conditionsOf,
  DEPLOYMENT_TYPE_OPERATORS,
  DEPLOYMENT_TYPES,
  TAGGED,
  type ServiceFilter,
} from "./service-filters.ts";
import type { GetService, GetServiceByName, ListServices } from "../services.ts";

export type ServiceQueries = {
  readonly listAllServices: ListServices;
  readonly getService: GetService;
  readonly getServiceByName: GetServiceByName;
};

type Types = {
  readonly Service: NodeRef<EntityOfProject>;
  readonly ServiceList: NodeRef<List<EntityOfProject>>;
};

export function addServiceQueries(builder: Builder, { Service, ServiceList }: Types, queries: ServiceQueries): void {
  const Filter = filterType(builder);
  const extensions = { permission: "core_service_view" };
  builder.queryFields((t) => ({
    services: t.field({
      type: ServiceList,
      description:
        "The services of all applications, by name. Those of organizations and of the account are not in it.",
      args: {
        limit: t.arg.int(),
        offset: t.arg.int(),
        filters: t.arg({ type: [Filter], required: { list: false, items: false } }),
      },
      extensions,
      resolve: async (_root, { filters, ...args }, { actor }) =>
        listOf<EntityOfProject>(await queries.listAllServices(actor, conditionsOf(filters ?? []), window(args))),
    }),
    service: t.field({
      type: Service,
      args: { serviceId: t.arg.string({ required: true }) },
      extensions,
      resolve: (_root, { serviceId }, { actor }) => queries.getService(actor, serviceId),
    }),
    serviceByName: t.field({
      type: Service,
      args: { applicationId: t.arg.string({ required: true }), serviceName: t.arg.string({ required: true }) },
      extensions,
      resolve: (_root, { applicationId, serviceName }, { actor }) =>
        queries.getServiceByName(actor, applicationId, serviceName),
    }),
  }));
}

function filterType(builder: Builder) {
  const { IdFilter, TagInput } = commonFilters(builder);
  const Type = builder.enumType("DeploymentType", { values: DEPLOYMENT_TYPES });
  const Operator = builder.enumType("EnumOperator", { values: DEPLOYMENT_TYPE_OPERATORS });
  const TypeFilter = builder.inputType("DeploymentTypeFilter", {
    fields: (t) => ({
      operator: t.field({ type: Operator, required: true }),
      values: t.field({ type: [Type], required: { list: false, items: false } }),
    }),
  });
  const Tagged = builder.enumType("ServiceTagType", { values: TAGGED });
  const TagFilter = builder.inputType("ServiceTagFilter", {
    fields: (t) => ({
      entityType: t.field({ type: Tagged }),
      tags: t.field({ type: [TagInput], required: { list: false, items: false } }),
    }),
  });
  return builder.inputRef<ServiceFilter>("ServiceFilter").implement({
    fields: (t) => ({
      application: t.field({ type: IdFilter }),
      service: t.field({ type: IdFilter }),
      deploymentType: t.field({ type: TypeFilter }),
      tag: t.field({ type: TagFilter }),
    }),
  });
}
