import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize } from "../access/index.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import type { RequireScope } from "../projects/index.ts";
import { definitionOf } from "./catalogue.ts";
import { placeOf } from "./get.ts";
import { effective, readValue, type Effective, type SettingScope } from "./setting.ts";
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

/** Each entry for itself: one that is refused changes nothing and does not hold up the others. Throws what RequireScope throws. */
export type UpdateSettings = (
  actor: Actor,
  scope: SettingScope,
  changes: readonly SettingChange[],
) => Promise<readonly SettingOutcome[]>;

type Deps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly requireScope: RequireScope;
  readonly clock: Clock;
};

export const makeUpdateSettings =
  (deps: Deps): UpdateSettings =>
  async (actor, scope, changes) => {
    deps.authorize(actor, "core_setting_edit", { accountId: actor.accountId, ...placeOf(scope) });
    await deps.requireScope(actor, scope);
    return deps.db.transaction(async (tx) => {
      await lockSettings(tx, actor.accountId);
      const outcomes: SettingOutcome[] = [];
      const seen = new Set<string>();
      for (const change of changes) {
        const { identifier } = change;
        outcomes.push(
          seen.has(identifier)
            ? { identifier, error: "is given twice in one request" }
            : await apply(deps, tx, actor, scope, change),
        );
        seen.add(identifier);
      }
      return outcomes;
    });
  };

async function apply(
  deps: Deps,
  tx: Tx,
  actor: Actor,
  scope: SettingScope,
  { identifier, updateType, value: sent, allowOverrides }: SettingChange,
): Promise<SettingOutcome> {
  const definition = definitionOf(identifier);
  if (!definition) return { identifier, error: "is no setting" };
  const now = effective(definition, scope, await findRows(tx, actor.accountId, scope));
  if (!now.editable)
    return {
      identifier,
      error: definition.levels.includes("project") ? "may not be overridden here" : "can be set for the account only",
    };
  if (updateType === "RESTORE") await deleteRow(tx, actor.accountId, scope, identifier);
  else {
    const read = readValue(definition, sent);
    if ("fault" in read) return { identifier, error: read.fault };
    const updatedAt = deps.clock.now();
    await saveRow(tx, actor.accountId, { ...scope, identifier, ...read, allowOverrides, updatedAt });
  }
  const after = effective(definition, scope, await findRows(tx, actor.accountId, scope));
  await deps.audit.record(tx, actor, {
    operation: updateType === "UPDATE" ? "setting.update" : "setting.restore",
    resourceType: "SETTING",
    resourceId: identifier,
    scope: placeOf(scope),
    before: shown(now),
    after: shown(after),
  });
  return { identifier, setting: after };
}

/** For the audit trail: what counts here. No setting is a secret. */
const shown = ({ value: setting, source, allowOverrides }: Effective) => ({ setting, source, allowOverrides });
