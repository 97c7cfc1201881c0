import type { Uuid } from "../core/ids.ts";

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

/** What a list of applications shows. */
export type Application = Pick<Project, "id" | "name" | "description" | "createdAt">;
