import type { Uuid } from "./ids.ts";

/** The scope of a resource: an account, one of its organizations, or one of their projects. */
export type Scope = {
  readonly accountId: Uuid;
  readonly orgIdentifier?: string;
  readonly projectIdentifier?: string;
};
