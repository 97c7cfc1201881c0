/** Typed settings, inherited down the scopes. A further setting is a row of `catalogue.ts`. */
import type { Clock } from "../core/clock.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { RequireScope } from "../projects/index.ts";
import { makeCurrentSettings, makeGetSetting, makeListSettings, makeSettingValue } from "./get.ts";
import { settingRoutes } from "./rest.ts";
import { deleteSettingsOf } from "./store.ts";
import type { ScimHeldDeps } from "./scim-held.ts";
import { makeUpdateSettings } from "./update.ts";

export type { CurrentSettings, SettingValue } from "./get.ts";

type Deps = ScimHeldDeps & {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly requireScope: RequireScope;
  readonly clock: Clock;
};

export function makeSettings(deps: Deps) {
  const verbs = { list: makeListSettings(deps), get: makeGetSetting(deps), update: makeUpdateSettings(deps) };
  return {
    ...verbs,
    value: makeSettingValue(deps),
    current: makeCurrentSettings(deps),
    emptyScope: deleteSettingsOf,
    routes: settingRoutes(verbs),
  };
}
