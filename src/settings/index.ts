/** Typed settings, inherited from account to organization to project. A new setting is an entry of `catalogue.ts`. */
import type { Clock } from "../core/clock.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { RequireScope } from "../projects/index.ts";
import { getCurrentSettings, getSetting, listSettings, getSettingValue } from "./get.ts";
import { settingRoutes } from "./rest.ts";
import { deleteSettingsOf } from "./store.ts";
import type { ScimRightsDeps } from "./scim-rights.ts";
import { updateSettings } from "./update.ts";

export type { CurrentSettings, SettingValue } from "./get.ts";

type Deps = ScimRightsDeps & {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly requireScope: RequireScope;
  readonly clock: Clock;
};

/** `value` and `current` serve other slices; `list`, `get` and `update` check permissions. */
export function createSettings(deps: Deps) {
  const operations = { list: listSettings(deps), get: getSetting(deps), update: updateSettings(deps) };
  return {
    ...operations,
    value: getSettingValue(deps),
    current: getCurrentSettings(deps),
    emptyScope: deleteSettingsOf,
    routes: settingRoutes(operations),
  };
}
