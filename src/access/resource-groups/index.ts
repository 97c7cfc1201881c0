/** Custom resource groups. Built-in ones exist in every account and cannot be changed. */
import type { WriteDeps } from "../deps.ts";
import { createResourceGroup } from "./create.ts";
import { deleteResourceGroup } from "./delete.ts";
import { getResourceGroup } from "./get.ts";
import { listResourceGroups } from "./list.ts";
import { updateResourceGroup } from "./update.ts";

export const createResourceGroups = (deps: WriteDeps) => ({
  create: createResourceGroup(deps),
  update: updateResourceGroup(deps),
  delete: deleteResourceGroup(deps),
  get: getResourceGroup(deps),
  list: listResourceGroups(deps),
});
