/** Custom roles. Built-in ones exist in every account and cannot be changed. */
import type { WriteDeps } from "../deps.ts";
import { createRole } from "./create.ts";
import { deleteRole } from "./delete.ts";
import { getRole } from "./get.ts";
import { listRoles } from "./list.ts";
import { updateRole } from "./update.ts";

export const createRoles = (deps: WriteDeps) => ({
  create: createRole(deps),
  update: updateRole(deps),
  delete: deleteRole(deps),
  get: getRole(deps),
  list: listRoles(deps),
});
