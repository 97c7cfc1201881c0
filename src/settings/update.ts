import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize } from "../access/index.ts";
import { Problem } from "../core/problem.ts";
import { scopeOf, within } from "../core/reference.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import type { RequireScope } from "../projects/index.ts";
import { definitionOf } from "./catalogue.ts";
import { effective, readValue, type Effective, type SettingScope } from "./setting.ts";
import { ACTS_AS, requireScimHeld, type ScimHeldDeps } from "./scim-held.ts";
import { deleteRow, findRows, lockSettings, saveRow } from "./store.ts";

export type SettingChange = {
  readonly identifier: string;
  /** As it was sent: of any type. */
  readonly value: unknown;
  readonly allowOverrides: boolean;
  /** RESTORE gives back what the parent has. */
  readonly updateType: "UPDATE" | "RESTORE";
};

/** What became of one entry: the setting as it is now, or why nothing was changed. */
export type SettingOutcome =
  | { readonly identifier: string; readonly setting: Effective }
  | { readonly identifier: string; readonly error: string };
type Deps = ScimHeldDeps & {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly requireScope: RequireScope;
  readonly clock: Clock;
};

/** Each entry for itself: one that is refused changes nothing and does not hold up the others. Throws what RequireScope throws. */
export const updateSettings = (deps: Deps) => {
  const apply = makeApply(deps);
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
      // Whom calls act as comes first: what an entry may do depends on it, and not on where in the request it stands.
      for (const change of changes.toSorted((one, other) => rank(one) - rank(other))) {
        const { identifier } = change;
        const twice = { identifier, error: "is given twice in one request" };
        outcomes.set(change, seen.has(identifier) ? twice : await apply(tx, actor, scope, change));
        seen.add(identifier);
      }
      return changes.flatMap((change) => outcomes.get(change) ?? []);
    });
  };
};

export type UpdateSettings = ReturnType<typeof updateSettings>;

const rank = ({ identifier }: SettingChange): number => (identifier === ACTS_AS ? 0 : 1);

function makeApply(deps: Deps) {
  const requireHeld = requireScimHeld(deps);

  return async (tx: Tx, actor: Actor, scope: SettingScope, change: SettingChange): Promise<SettingOutcome> => {
    const { identifier, updateType, allowOverrides } = change;
    const definition = definitionOf(identifier);
    if (!definition) return { identifier, error: "is no setting" };
    const rows = await findRows(tx, actor.accountId, scope);
    const now = effective(definition, scope, rows);
    if (!now.editable)
      return {
        identifier,
        error: definition.levels.includes("project") ? "may not be overridden here" : "can be set for the account only",
      };
    const read = updateType === "RESTORE" ? { value: "" } : readValue(definition, change.value);
    if ("fault" in read) return { identifier, error: read.fault };
    const refused = await refusal(requireHeld(tx, actor, { definition, rows, ...read }));
    if (refused) {
      await deps.audit.record(tx, actor, { ...audited(scope, change), refusal: refused });
      return { identifier, error: `decides who acts as a service account. ${refused.message.replace(/\.$/, "")}` };
    }
    if (updateType === "RESTORE") await deleteRow(tx, actor.accountId, scope, identifier);
    else {
      const updatedAt = deps.clock.now();
      await saveRow(tx, actor.accountId, { ...scope, identifier, ...read, allowOverrides, updatedAt });
    }
    const after = effective(definition, scope, await findRows(tx, actor.accountId, scope));
    await deps.audit.record(tx, actor, { ...audited(scope, change), before: shown(now), after: shown(after) });
    return { identifier, setting: after };
  };
}

/** The entry fails alone, so its refusal is an outcome, and no answer of its own. */
const refusal = (checked: Promise<void>): Promise<Problem | undefined> =>
  checked.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof Problem) return error;
      throw error;
    },
  );

const audited = (scope: SettingScope, { updateType, identifier }: SettingChange) => ({
  operation: updateType === "UPDATE" ? "setting.update" : "setting.restore",
  resourceType: "SETTING",
  resourceId: identifier,
  scope: within(scope),
});

/** For the audit trail: what counts here. No setting is a secret. */
const shown = ({ value: setting, source, allowOverrides }: Effective) => ({ setting, source, allowOverrides });
