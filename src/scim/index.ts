/** SCIM 2.0: directories manage the users and groups of an account. */
import type { Authorize, UserGroups } from "../access/index.ts";
import type { Clock } from "../core/clock.ts";
import type { ActAs, Authenticate, ChangeUser, DeleteUser, ProvisionUser } from "../identity/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { CurrentSettings } from "../settings/index.ts";
import { createGroupResources } from "./groups.ts";
import { createJwtAuthenticate } from "./jwt/authenticate.ts";
import { checkJwtSettings } from "./jwt/check-settings.ts";
import { createKeys } from "./jwt/keys.ts";
import { createUserResources } from "./people.ts";
import { jwtSettingsRoute } from "./rest/jwt-settings.ts";
import { scimRoutes } from "./rest/routes.ts";

export type ScimDeps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly authorize: Authorize;
  readonly users: {
    readonly provisionUser: ProvisionUser;
    readonly changeUser: ChangeUser;
    readonly deleteUser: DeleteUser;
  };
  readonly userGroups: UserGroups;
  readonly authenticate: Authenticate;
  /** The account's service account with this identifier, with its grants. */
  readonly actAs: ActAs;
  readonly settings: CurrentSettings;
  readonly allowPrivateAddresses: readonly string[];
  readonly publicUrl: () => string;
  readonly log: { readonly warn: (fields: object, message: string) => void };
};

/** Callers authenticate by a token of Railhead, or by a JWT as the settings of the account allow it. */
export function createScim(deps: ScimDeps) {
  const { log } = deps;
  const keys = createKeys({
    clock: deps.clock,
    allowed: deps.allowPrivateAddresses,
    onFailure: (url, error) =>
      log.warn({ host: URL.parse(url)?.host, err: error }, "the keys of SCIM tokens cannot be had"),
  });
  const jwtDeps = { ...deps, serviceAccount: deps.actAs, keys };
  const byJwt = createJwtAuthenticate({
    ...jwtDeps,
    onRefusal: (reason) => log.warn({ reason }, "a token for SCIM was not believed"),
  });
  const routes = scimRoutes({
    ...deps,
    people: createUserResources({ ...deps, ...deps.users }),
    groups: createGroupResources(deps),
    authenticate: async (token, account) => (await deps.authenticate(token)) ?? byJwt(token, account),
  });
  return { routes: [...routes, jwtSettingsRoute(checkJwtSettings(jwtDeps))] };
}
