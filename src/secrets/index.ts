/** Secrets: named values that steps and connectors use and that no answer contains. */
import { usedByRoute, type ListUsedBy } from "../access/index.ts";
import type { Uuid } from "../core/ids.ts";
import type { Tx } from "../platform/db/db.ts";
import type { EmptyScope } from "../projects/index.ts";
import { createSecret, type SecretDeps } from "./create.ts";
import { deleteSecret } from "./delete.ts";
import { getSecret, isSecretIdentifierFree, listSecrets, requirePermission } from "./find.ts";
import { createSecretStorage, type SecretStorageDeps } from "./content/storage.ts";
import { createManager, deleteManager, updateManager } from "./managers/operations.ts";
import { builtInManager } from "./managers/manager.ts";
import { getManager, listManagers } from "./managers/find.ts";
import { identifySecrets } from "./use/identify.ts";
import { checkSecretUses } from "./use/check.ts";
import {
  openTextSecrets,
  requireSecret,
  resolveForStep,
  resolveLogin,
  resolveSecret,
  openText,
} from "./use/resolve.ts";
import { managerRoutes } from "./rest/managers.ts";
import { secretRoutes, SECRETS } from "./rest/secrets.ts";
import { insertManager } from "./store/managers.ts";
import { insertManagerScope } from "./store/scopes.ts";
import { deleteSecretsOf } from "./store/secrets.ts";
import { updateSecret } from "./update.ts";
import { ENTIRE_ACCOUNT } from "./scope/usage-scope.ts";
import { secretReferences } from "./references.ts";

export { addSecretTypes } from "./graphql/secrets.ts";
export type { IdentifySecrets } from "./use/identify.ts";
export type { CheckSecretUses } from "./use/check.ts";
export type { OpenTextSecrets, ResolvedSecret, ResolveForStep, ResolveLogin, StepPlace } from "./use/resolve.ts";
export { createSecretStorage } from "./content/storage.ts";

/** What the composition passes. The slice builds the vault from `keys` and `commands`. */
export type SecretsDeps = Omit<SecretDeps, "vault"> & Pick<SecretStorageDeps, "keys" | "commands">;

/** The slice: operations for REST and GraphQL, and what connectors, pipelines and executions need of secrets. */
export type Secrets = ReturnType<typeof createSecrets>;

/** The operations check permissions. For the other functions, their comments say whether they do. */
export function createSecrets({ keys, commands, ...rest }: SecretsDeps) {
  const { vault, wrappers, sealed } = createSecretStorage({ ...rest, keys, commands });
  const deps = { ...rest, vault };
  const managerDeps = { ...rest, wrappers };
  const resolve = resolveSecret(deps);

  const operations = {
    create: createSecret(deps),
    update: updateSecret(deps),
    delete: deleteSecret(deps),
    get: getSecret(deps),
    list: listSecrets(deps),
    listManagers: listManagers(deps),
    createManager: createManager(managerDeps),
    updateManager: updateManager(managerDeps),
    deleteManager: deleteManager(managerDeps),
    getManager: getManager(deps),
    isIdentifierFree: isSecretIdentifierFree(deps),
    requirePermission: requirePermission(deps),
  };
  const usedBy: ListUsedBy = async (actor, key, window) => {
    await operations.get(actor, { by: "identifier", key });
    return secretReferences.listUsedBy(rest.db, actor, key, window);
  };
  return {
    ...operations,
    routes: [
      ...secretRoutes(operations),
      usedByRoute({ noun: "secret", path: SECRETS, identifier: "registry_password" }, usedBy),
      ...managerRoutes(operations),
    ],
    require: requireSecret(deps),
    checkUses: checkSecretUses(deps),
    identify: identifySecrets(deps),
    resolve,
    noteUses: secretReferences.note,
    sealed,
    emptyScope,
    openText: openText(resolve),
    openTextSecrets: openTextSecrets(resolve),
    resolveForStep: resolveForStep(deps, resolve),
    resolveLogin: resolveLogin(deps, resolve),
    /** Inserts the built-in secret manager of a new account. Its id is the id of the account. */
    seedAccount: async (tx: Tx, accountId: Uuid): Promise<void> => {
      await insertManager(tx, accountId, builtInManager(accountId, rest.clock.now()));
      await insertManagerScope(tx, accountId, { managerId: accountId, scope: ENTIRE_ACCOUNT });
    },
  };
}

const emptyScope: EmptyScope = async (tx, scope) => {
  await secretReferences.deleteReferencesOf(tx, scope);
  return deleteSecretsOf(tx, scope);
};
