/** Secrets: named values that steps and connectors use and that no answer contains. */
import type { Uuid } from "../core/ids.ts";
import type { Tx } from "../platform/db/db.ts";
import type { EmptyScope } from "../projects/index.ts";
import { makeCreateSecret, type SecretDeps } from "./create.ts";
import { makeDeleteSecret } from "./delete.ts";
import { makeGetSecret, makeIsSecretFree, makeListSecrets, makePermit } from "./find.ts";
import { makeKeeping, type KeepingDeps } from "./keeping.ts";
import { makeCreateManager, makeDeleteManager, makeUpdateManager } from "./manage.ts";
import { builtIn } from "./manager.ts";
import { makeGetManager, makeListManagers } from "./managers.ts";
import { makeIdentifySecrets } from "./identify.ts";
import { makeJudgeSecrets } from "./judge.ts";
import {
  makeOpenTexts,
  makeRequireSecret,
  makeResolveForStep,
  makeResolveLogin,
  makeResolveSecret,
  makeResolveText,
} from "./resolve.ts";
import { managerRoutes } from "./rest-managers.ts";
import { secretRoutes } from "./rest.ts";
import { insertManager } from "./store/managers.ts";
import { insertManagerScope } from "./store/scopes.ts";
import { deleteSecretsOf } from "./store/secrets.ts";
import { makeUpdateSecret } from "./update.ts";
import { ENTIRE_ACCOUNT } from "./usage-scope.ts";
import { secretUses } from "./uses.ts";

export { addSecretTypes } from "./graphql.ts";
export type { IdentifySecrets } from "./identify.ts";
export type { JudgeSecrets } from "./judge.ts";
export type { OpenTexts, ResolveForStep, ResolveLogin, StepPlace } from "./resolve.ts";
export { makeKeeping } from "./keeping.ts";

export type SecretsDeps = Omit<SecretDeps, "vault"> & Pick<KeepingDeps, "keys" | "commands">;

export type Secrets = ReturnType<typeof makeSecrets>;

export function makeSecrets({ keys, commands, ...rest }: SecretsDeps) {
  const { vault, wrappers, sealed } = makeKeeping({ ...rest, keys, commands });
  const deps = { ...rest, vault };
  const managing = { ...rest, wrappers };
  const resolve = makeResolveSecret(deps);
  const resolveText = makeResolveText(resolve);
  const verbs = {
    create: makeCreateSecret(deps),
    update: makeUpdateSecret(deps),
    delete: makeDeleteSecret(deps),
    get: makeGetSecret(deps),
    list: makeListSecrets(deps),
    listManagers: makeListManagers(deps),
    createManager: makeCreateManager(managing),
    updateManager: makeUpdateManager(managing),
    deleteManager: makeDeleteManager(managing),
    getManager: makeGetManager(deps),
    isFree: makeIsSecretFree(deps),
    permit: makePermit(deps),
  };
  return {
    ...verbs,
    routes: [...secretRoutes(verbs), ...managerRoutes(verbs)],
    require: makeRequireSecret(deps),
    judge: makeJudgeSecrets(deps),
    identify: makeIdentifySecrets(deps),
    resolve,
    noteUses: secretUses.note,
    sealed,
    emptyScope,
    resolveText,
    openTexts: makeOpenTexts(resolve),
    resolveForStep: makeResolveForStep(deps, resolve),
    resolveLogin: makeResolveLogin(deps, resolve),
    /** What every account begins with: the built-in secret manager, whose id is the account's. */
    furnish: async (tx: Tx, accountId: Uuid): Promise<void> => {
      await insertManager(tx, accountId, builtIn(accountId, rest.clock.now()));
      await insertManagerScope(tx, accountId, accountId, ENTIRE_ACCOUNT);
    },
  };
}

const emptyScope: EmptyScope = async (tx, scope) => {
  await secretUses.forgetAt(tx, scope);
  return deleteSecretsOf(tx, scope);
};
