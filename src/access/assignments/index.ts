/** Role assignments: a role over a resource group for a principal. */
import { createRoleAssignments } from "./create.ts";
import { deleteRoleAssignment } from "./delete.ts";
import type { AssignmentDeps } from "./deps.ts";
import { getRoleAssignment } from "./get.ts";
import { listRoleAssignments } from "./list.ts";
import { validateRoleAssignment } from "./validate.ts";

export const createAssignments = (deps: AssignmentDeps) => ({
  create: createRoleAssignments(deps),
  validate: validateRoleAssignment(deps),
  delete: deleteRoleAssignment(deps),
  get: getRoleAssignment(deps),
  list: listRoleAssignments(deps),
});
