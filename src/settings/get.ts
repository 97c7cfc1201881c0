import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { Uuid } from "../core/ids.ts";
import { createLru } from "../platform/lru.ts";
import { scopeOf } from "../core/reference.ts";
import type { Authorize } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import { asSharedRead } from "../platform/db/pool/budget.ts";
import type { RequireScope } from "../projects/index.ts";
import { CATALOGUE, definitionOf, type SettingIdentifier } from "./catalogue.ts";
import { problem } from "./problems.ts";
import {
  effectiveSetting,
  levelOf,
  type Definition,
  type EffectiveSetting,
  type SettingScope,
  type StoredSetting,
} from "./setting.ts";
import { findSettings } from "./store.ts";

type Deps = {
  readonly db: Db;
  readonly authorize: Authorize;
  readonly requireScope: RequireScope;
};

export type SettingFilter = {
  readonly category: string;
  readonly group: string | undefined;
  /** Includes settings that can be set only in a parent scope. */
  readonly includeParentScopes: boolean;
};

/** Lists the settings of a scope with their effective values. Throws what RequireScope throws. */
export const listSettings =
  ({ db, authorize, requireScope }: Deps) =>
  async (
    actor: Actor,
    scope: SettingScope,
    { category, group, includeParentScopes }: SettingFilter,
  ): Promise<readonly EffectiveSetting[]> => {
    authorize(actor, "core_setting_view", scopeOf(actor.accountId, scope));
    await requireScope(actor, scope);
    const rows = await findSettings(db, actor.accountId, scope);
    const definitions: readonly Definition[] = CATALOGUE;
    return definitions
      .filter((one) => one.category === category && (group ?? one.group) === one.group)
      .filter((one) => includeParentScopes || one.levels.includes(levelOf(scope)))
      .map((one) => effectiveSetting(one, scope, rows));
  };

export type ListSettings = ReturnType<typeof listSettings>;

/** Returns one setting with its effective value. Throws `setting.not_found`, and what RequireScope throws. */
export const getSetting =
  ({ db, authorize, requireScope }: Deps) =>
  async (actor: Actor, scope: SettingScope, identifier: string): Promise<EffectiveSetting> => {
    authorize(actor, "core_setting_view", scopeOf(actor.accountId, scope));
    const definition = definitionOf(identifier);
    if (!definition) throw problem("setting.not_found", [identifier]);
    await requireScope(actor, scope);
    return effectiveSetting(definition, scope, await findSettings(db, actor.accountId, scope));
  };

export type GetSetting = ReturnType<typeof getSetting>;

const CACHE_MS = 1_000;
const MAX_CACHED = 10_000;
const ACCOUNT_SCOPE: SettingScope = { orgIdentifier: null, projectIdentifier: null };

/** Returns the effective value of a setting, for other slices. Values are cached for a second (invariant 9). */
export function getSettingValue(deps: { readonly db: Db; readonly clock: Clock }) {
  const cache = createLru<string, { readonly rows: Promise<readonly StoredSetting[]>; readonly until: number }>(
    MAX_CACHED,
  );
  return async (
    accountId: Uuid,
    identifier: SettingIdentifier,
    scope: SettingScope = ACCOUNT_SCOPE,
  ): Promise<string> => {
    const key = JSON.stringify([accountId, scope.orgIdentifier, scope.projectIdentifier]);
    const now = deps.clock.now();
    let cached = cache.get(key);
    if (!cached || cached.until <= now) {
      const rows = asSharedRead(() => findSettings(deps.db, accountId, scope));
      // A failed query is not cached.
      rows.catch(() => cache.delete(key));
      cached = { rows, until: now + CACHE_MS };
      cache.set(key, cached);
    }
    const definition = definitionOf(identifier);
    if (!definition) throw new Error(`no setting is declared as ${identifier}`);
    return effectiveSetting(definition, scope, await cached.rows).value;
  };
}

/** The effective value, at most a second old. Checks no permission. */
export type SettingValue = ReturnType<typeof getSettingValue>;

/** Returns the current values of account settings without a cache, by one statement; for authentication. */
export const getCurrentSettings =
  ({ db }: { readonly db: Db }) =>
  async (accountId: Uuid, identifiers: readonly SettingIdentifier[]): Promise<readonly string[]> => {
    const rows = await findSettings(db, accountId, ACCOUNT_SCOPE);
    return identifiers.map((identifier) => {
      const definition = definitionOf(identifier);
      if (!definition) throw new Error(`no setting is declared as ${identifier}`);
      return effectiveSetting(definition, ACCOUNT_SCOPE, rows).value;
    });
  };

/** Uncached values in the order of the identifiers. Checks no permission. */
export type CurrentSettings = ReturnType<typeof getCurrentSettings>;
