import type { Uuid } from "./ids.ts";

/** Where a thing lives: in an account, in one of its organizations, or in one of their projects. */
export type Scope = {
  readonly accountId: Uuid;
  readonly orgIdentifier?: string;
  readonly projectIdentifier?: string;
};
