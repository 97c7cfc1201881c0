import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { Uuid } from "../core/ids.ts";
import { createLru } from "../core/lru.ts";
import { scopeOf } from "../core/reference.ts";
import type { Authorize } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { RequireScope } from "../projects/index.ts";
import { CATALOGUE, definitionOf, type SettingIdentifier } from "./catalogue.ts";
import { problem } from "./problems.ts";
import { effective, levelOf, type Definition, type Effective, type SettingScope, type Stored } from "./setting.ts";
import { findRows } from "./store.ts";

type Deps = {
  readonly db: Db;
  readonly authorize: Authorize;
  readonly requireScope: RequireScope;
};

export type SettingFilter = {
  readonly category: string;
  readonly group: string | undefined;
  /** Also those that can be set at a parent only. */
  readonly includeParentScopes: boolean;
};

/** Throws what RequireScope throws. */
export const listSettings =
  ({ db, authorize, requireScope }: Deps) =>
  async (
    actor: Actor,
    scope: SettingScope,
    { category, group, includeParentScopes }: SettingFilter,
  ): Promise<readonly Effective[]> => {
    authorize(actor, "core_setting_view", scopeOf(actor.accountId, scope));
    await requireScope(actor, scope);
    const rows = await findRows(db, actor.accountId, scope);
    const definitions: readonly Definition[] = CATALOGUE;
    return definitions
      .filter((one) => one.category === category && (group ?? one.group) === one.group)
      .filter((one) => includeParentScopes || one.levels.includes(levelOf(scope)))
      .map((one) => effective(one, scope, rows));
  };

export type ListSettings = ReturnType<typeof listSettings>;

/** Throws `setting.not_found`, and what RequireScope throws. */
export const getSetting =
  ({ db, authorize, requireScope }: Deps) =>
  async (actor: Actor, scope: SettingScope, identifier: string): Promise<Effective> => {
    authorize(actor, "core_setting_view", scopeOf(actor.accountId, scope));
    const definition = definitionOf(identifier);
    if (!definition) throw problem("setting.not_found", [identifier]);
    await requireScope(actor, scope);
    return effective(definition, scope, await findRows(db, actor.accountId, scope));
  };

export type GetSetting = ReturnType<typeof getSetting>;

const KEEP_MS = 1_000;
const MAX_KEPT = 10_000;
const OF_ACCOUNT: SettingScope = { orgIdentifier: null, projectIdentifier: null };

/** What counts at a scope, for the platform's own use; a change is seen within a second (invariant 9). */
export function getSettingValue(deps: { readonly db: Db; readonly clock: Clock }) {
  const kept = createLru<string, { readonly rows: Promise<readonly Stored[]>; readonly until: number }>(MAX_KEPT);
  return async (accountId: Uuid, identifier: SettingIdentifier, scope: SettingScope = OF_ACCOUNT): Promise<string> => {
    const key = JSON.stringify([accountId, scope.orgIdentifier, scope.projectIdentifier]);
    const now = deps.clock.now();
    let known = kept.get(key);
    if (!known || known.until <= now) {
      const rows = findRows(deps.db, accountId, scope);
      // A look that failed is not kept: the next one asks again.
      rows.catch(() => kept.delete(key));
      known = { rows, until: now + KEEP_MS };
      kept.set(key, known);
    }
    const definition = definitionOf(identifier);
    if (!definition) throw new Error(`no setting is declared as ${identifier}`);
    return effective(definition, scope, await known.rows).value;
  };
}

export type SettingValue = ReturnType<typeof getSettingValue>;

/** What counts for the account this very moment, for what must not be let in a second longer; one statement each time. */
export const getCurrentSettings =
  ({ db }: { readonly db: Db }) =>
  async (accountId: Uuid, identifiers: readonly SettingIdentifier[]): Promise<readonly string[]> => {
    const rows = await findRows(db, accountId, OF_ACCOUNT);
    return identifiers.map((identifier) => {
      const definition = definitionOf(identifier);
      if (!definition) throw new Error(`no setting is declared as ${identifier}`);
      return effective(definition, OF_ACCOUNT, rows).value;
    });
  };

export type CurrentSettings = ReturnType<typeof getCurrentSettings>;
