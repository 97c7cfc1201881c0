import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize } from "../access/index.ts";
import { Problem } from "../core/problem.ts";
import { scopeOf, within } from "../core/reference.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import type { RequireScope } from "../projects/index.ts";
import { definitionOf } from "./catalogue.ts";
import { effectiveSetting, readValue, type EffectiveSetting, type SettingScope } from "./setting.ts";
import { SERVICE_ACCOUNT_SETTING, requireScimRights, type ScimRightsDeps } from "./scim-rights.ts";
import { deleteSetting, findSettings, lockSettings, saveSetting } from "./store.ts";

export type SettingChange = {
  readonly identifier: string;
  /** The value of the request, of any type. */
  readonly value: unknown;
  readonly allowOverrides: boolean;
  /** RESTORE deletes the value of this scope, so that the parent's value applies. */
  readonly updateType: "UPDATE" | "RESTORE";
};

/** The outcome of one change: the setting afterwards, or the reason why it was rejected. */
export type SettingOutcome =
  | { readonly identifier: string; readonly setting: EffectiveSetting }
  | { readonly identifier: string; readonly error: string };
type Deps = ScimRightsDeps & {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly requireScope: RequireScope;
  readonly clock: Clock;
};

/**
 * Applies changes independently of each other: a rejected change does not affect the others. Throws what RequireScope
 * throws.
 */
export const updateSettings = (deps: Deps) => {
  const applyChange = createApplyChange(deps);
  return async (
    actor: Actor,
    scope: SettingScope,
    changes: readonly SettingChange[],
  ): Promise<readonly SettingOutcome[]> => {
    deps.authorize(actor, "core_setting_edit", scopeOf(actor.accountId, scope));
    await deps.requireScope(actor, scope);
    return deps.db.transaction(async (tx) => {
      await lockSettings(tx, actor.accountId);
      const outcomes = new Map<SettingChange, SettingOutcome>();
      const seen = new Set<string>();
      // The service account comes first, because the permission for other changes depends on it.
      for (const change of changes.toSorted((one, other) => rank(one) - rank(other))) {
        const { identifier } = change;
        const twice = { identifier, error: "is given twice in one request" };
        outcomes.set(change, seen.has(identifier) ? twice : await applyChange(tx, actor, scope, change));
        seen.add(identifier);
      }
      return changes.flatMap((change) => outcomes.get(change) ?? []);
    });
  };
};

export type UpdateSettings = ReturnType<typeof updateSettings>;

const rank = ({ identifier }: SettingChange): number => (identifier === SERVICE_ACCOUNT_SETTING ? 0 : 1);

function createApplyChange(deps: Deps) {
  const requireRights = requireScimRights(deps);

  return async (tx: Tx, actor: Actor, scope: SettingScope, change: SettingChange): Promise<SettingOutcome> => {
    const { identifier, updateType, allowOverrides } = change;
    const definition = definitionOf(identifier);
    if (!definition) return { identifier, error: "is no setting" };
    const rows = await findSettings(tx, actor.accountId, scope);
    const now = effectiveSetting(definition, scope, rows);
    if (!now.editable)
      return {
        identifier,
        error: definition.levels.includes("project") ? "may not be overridden here" : "can be set for the account only",
      };
    const read = updateType === "RESTORE" ? { value: "" } : readValue(definition, change.value);
    if ("fault" in read) return { identifier, error: read.fault };
    const refused = await problemOf(requireRights(tx, actor, { definition, rows, ...read }));
    if (refused) {
      await deps.audit.record(tx, actor, { ...auditEntry(scope, change), refusal: refused });
      return { identifier, error: `decides who acts as a service account. ${refused.message.replace(/\.$/, "")}` };
    }
    if (updateType === "RESTORE") await deleteSetting(tx, actor.accountId, { ...scope, identifier });
    else {
      const updatedAt = deps.clock.now();
      await saveSetting(tx, actor.accountId, { ...scope, identifier, ...read, allowOverrides, updatedAt });
    }
    const after = effectiveSetting(definition, scope, await findSettings(tx, actor.accountId, scope));
    await deps.audit.record(tx, actor, {
      ...auditEntry(scope, change),
      before: shownSetting(now),
      after: shownSetting(after),
    });
    return { identifier, setting: after };
  };
}

/** Returns the Problem that a check throws, because a rejected change is an outcome and not an error of the request. */
const problemOf = (checked: Promise<void>): Promise<Problem | undefined> =>
  checked.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof Problem) return error;
      throw error;
    },
  );

const auditEntry = (scope: SettingScope, { updateType, identifier }: SettingChange) => ({
  operation: updateType === "UPDATE" ? "setting.update" : "setting.restore",
  resourceType: "SETTING",
  resourceId: identifier,
  scope: within(scope),
});

/** The setting for the audit trail. No setting is a secret. */
const shownSetting = ({ value: setting, source, allowOverrides }: EffectiveSetting) => ({
  setting,
  source,
  allowOverrides,
});
