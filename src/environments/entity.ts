import type { Uuid } from "../core/ids.ts";
import type { Referred } from "../core/reference.ts";

/** What environments and services have in common: something that pipelines name, with a document of its own. */
export type Entity = Referred & {
  readonly id: Uuid;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  /** The document as it was sent, or one made from the fields. */
  readonly yaml: string;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** Where a pipeline deploys to. */
export type Environment = Entity & { readonly type: "Production" | "PreProduction"; readonly color: string };

/** What a pipeline deploys. */
export type Service = Entity;

/** As lists of several projects show one. */
export type EntityOfProject = Pick<Entity, "id" | "name" | "description" | "tags" | "createdAt"> & {
  readonly projectId: Uuid;
};
export type EnvironmentOfProject = EntityOfProject & Pick<Environment, "type">;

/** An entity as it is sent; the rest is the platform's. */
export type Fields<T extends Entity> = Omit<T, "id" | "version" | "createdAt" | "updatedAt">;

/** What the operations and the store have to know of one of the two. */
export type Kind = {
  readonly noun: "environment" | "service";
  /** As resource groups name it, and the trail. */
  readonly type: "ENVIRONMENT" | "SERVICE";
  readonly title: "Environment" | "Service";
  readonly table: "environments" | "services";
  /** Columns beside the common ones; each is a field of the same name. */
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
