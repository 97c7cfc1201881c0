/** Checks that every operation with an effect leaves an audit entry with the difference. */
import assert from "node:assert/strict";
import type { TestPlatform } from "../support/platform.ts";
import type { Operation } from "./operations.ts";

/** Operations other than GET without an effect. */
const READS: ReadonlySet<string> = new Set([
  "access.check",
  "audit.list",
  "connector.list-by-name",
  "connector.list-filtered",
  "delegate-group-tags.holders",
  "delegate.list",
  "execution.list",
  "execution.outline",
  "graphql.run",
  "graphql.run-alternative",
  "input-set.merge",
  "log-service.download",
  "input-set.merge-with-template",
  "input-set.template",
  "pipeline.check",
  "pipeline.list",
  "pipeline.validate-inputs",
  "pipeline.validate-saved",
  "pipeline.validate-yaml",
  "resource-group-v2.list-filtered",
  "resource-group.list-filtered",
  "role-assignment.aggregate",
  "role-assignment.list-filtered",
  "role-assignment.list-filtered-v2",
  "role-assignment.validate",
  "scim-group.search",
  "setting.check-scim-jwt",
  "scim-older-group.search",
  "scim-older-user.search",
  "scim-user.search",
  "secret.filter",
  "secret.filter-secrets",
  "single-sign-on.link",
  "user-group.list-filtered",
  "user-group.list-members",
  "user.aggregates",
  "user.list",
]);

/** Operations with an effect and nothing to compare. */
const WITHOUT_DIFFERENCE: ReadonlySet<string> = new Set(["connector.test"]);

export type AuditTrail = {
  /** Call it after each successful operation. */
  readonly note: (operation: Operation) => Promise<void>;
  readonly settle: () => void;
};

export async function watchAuditTrail({ db }: Pick<TestPlatform, "db">): Promise<AuditTrail> {
  const count = async (): Promise<number> =>
    (await db.query<{ total: number }>("select count(*) as total from audit_entries where actor_kind = 'user'"))[0]
      ?.total ?? 0;
  const silent: string[] = [];
  const bare = new Set<string>();
  let known = await count();
  return {
    async note({ operationId, method, public: open }) {
      const now = await count();
      const changes = method !== "GET" && !open && !READS.has(operationId);
      if (changes && now === known) silent.push(operationId);
      known = now;
      const rows = await db.query<{ operation: string }>(
        "select distinct operation from audit_entries where difference is null",
      );
      for (const { operation } of rows) if (!WITHOUT_DIFFERENCE.has(operation)) bare.add(operation);
    },
    settle() {
      assert.deepEqual(silent, [], "These change something (or belong into READS): record them in the trail.");
      assert.deepEqual([...bare], [], "Give audit.record `before` and `after`, or list the operation with a reason.");
    },
  };
}
