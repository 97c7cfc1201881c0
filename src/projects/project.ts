import type { Uuid } from "../core/ids.ts";
import type { User } from "../identity/index.ts";

export const DEFAULT_ORGANIZATION = "default";
export const DEFAULT_COLOR = "#0063F7";

/** A project; GraphQL calls the same thing an application. */
export type Project = {
  readonly id: Uuid;
  readonly orgIdentifier: string;
  readonly identifier: string;
  readonly name: string;
  readonly color: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type ProjectKey = Pick<Project, "orgIdentifier" | "identifier">;

export type NewProject = Omit<Project, "id" | "version" | "createdAt" | "updatedAt">;

/** Changes of a project. Missing fields stay unchanged. */
export type ProjectChanges = Partial<Pick<Project, "name" | "color" | "description" | "tags">>;

/** The project for the audit trail. */
export const shownProject = ({ name, color, description, tags }: NewProject) => ({ name, color, description, tags });

/** A project in GraphQL, with the user who created it; null if unknown. */
export type Application = Pick<
  Project,
  "id" | "orgIdentifier" | "identifier" | "name" | "description" | "tags" | "createdAt"
> & {
  readonly createdBy: User | null;
};
