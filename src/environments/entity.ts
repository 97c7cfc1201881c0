import type { Uuid } from "../core/ids.ts";
import type { Referred } from "../core/reference.ts";

/** The common fields of environments and services. Pipelines reference both, and each has a document. */
export type Entity = Referred & {
  readonly id: Uuid;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  /** The document of the request, or one made from its fields. */
  readonly yaml: string;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** A target of deployments. */
export type Environment = Entity & { readonly type: "Production" | "PreProduction"; readonly color: string };

/** An application component that pipelines deploy. */
export type Service = Entity;

/** An entity in the lists of several projects. */
export type EntityOfProject = Pick<Entity, "id" | "name" | "description" | "tags" | "createdAt"> & {
  readonly projectId: Uuid;
};
export type EnvironmentOfProject = EntityOfProject & Pick<Environment, "type">;

/** The fields of an entity that a request sets. */
export type Fields<T extends Entity> = Omit<T, "id" | "version" | "createdAt" | "updatedAt">;

/** What distinguishes environments and services in operations and store. */
export type Kind = {
  readonly noun: "environment" | "service";
  /** The type in resource groups and in the audit trail. */
  readonly type: "ENVIRONMENT" | "SERVICE";
  readonly title: "Environment" | "Service";
  readonly table: "environments" | "services";
  /** Additional columns; each is a field of the same name. */
  readonly own: readonly string[];
};

export const ENVIRONMENT: Kind = {
  noun: "environment",
  type: "ENVIRONMENT",
  title: "Environment",
  table: "environments",
  own: ["type", "color"],
};
export const SERVICE: Kind = { noun: "service", type: "SERVICE", title: "Service", table: "services", own: [] };
