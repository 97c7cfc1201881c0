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

export type NewProject = Omit<Project, "id" | "version" | "createdAt" | "updatedAt">;

/** What may change in a project; what is left out stays. */
export type ProjectChanges = Partial<Pick<Project, "name" | "color" | "description" | "tags">>;

/** For the audit trail. */
export const shownProject = ({ name, color, description, tags }: NewProject) => ({ name, color, description, tags });

/** What GraphQL shows of a project, with the person who made it; null when none did, or nobody kept who. */
export type Application = Pick<
  Project,
  "id" | "orgIdentifier" | "identifier" | "name" | "description" | "tags" | "createdAt"
> & {
  readonly createdBy: User | null;
};
