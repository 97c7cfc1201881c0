import type { Uuid } from "../../core/ids.ts";
import { DEFAULT_ORGANIZATION } from "../project.ts";

export type Organization = {
  readonly id: Uuid;
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type NewOrganization = Pick<Organization, "identifier" | "name" | "description" | "tags">;

/** The organization for the audit trail. */
export const shownOrganization = ({ name, description, tags }: NewOrganization) => ({ name, description, tags });

/** Whether it is the organization `default`, which cannot be deleted. */
export const isPlatformManaged = ({ identifier }: Pick<Organization, "identifier">): boolean =>
  identifier === DEFAULT_ORGANIZATION;
