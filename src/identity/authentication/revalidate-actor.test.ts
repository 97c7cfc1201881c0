/**
 * A transaction may wait for a connection or a lock. An actor who has lost account, token or permissions before its
 * commit changes nothing, although the checks before it passed.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  connectorYaml,
  create,
  createTargets,
  JSON_TYPE,
  made,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
  YAML,
} from "../../../test/support/contract.ts";
import { assignRole } from "../../../test/support/access.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";

let platform: TestPlatform;
/** Runs at the end of the next transaction that records a change, when it has all its locks. */
let meanwhile: (() => Promise<unknown>) | undefined;

const wrapDb = (db: Db): Db => ({
  ...db,
  transaction: (work) =>
    db.transaction(async (tx) => {
      let isChange = false;
      const query: typeof tx.query = (text, values) => {
        isChange ||= text.includes("insert into audit_entries");
        return tx.query(text, values);
      };
      const result = await work({ ...tx, query });
      if (!isChange) return result;
      const lose = meanwhile;
      meanwhile = undefined;
      await lose?.();
      return result;
    }),
});

const secret = (identifier: string, more: object = {}) => {
  const spec = { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "hunter2" };
  return { secret: { type: "SecretText", name: identifier, identifier, spec, ...more } };
};
const trigger = { type: "TRIGGER", orgIdentifier: "default", projectIdentifier: "shop", identifier: "hook" };

let userId: string;
before(async () => {
  platform = await startTestPlatform({ wrapDb, checkScripts: async () => undefined });
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml()));
  await made(create.trigger(platform, "deploy", triggerYaml()));
  await made(send(platform.apiKey, "POST", "/ng/api/v2/secrets", secret("old")));
  await platform.addUser("_account_viewer");
  userId = toWire((await newestUser()) ?? assert.fail());
});
after(() => platform?.stop());

const send = (apiKey: string, method: string, path: string, body: object): Promise<Answer> =>
  platform.send(method, path, { apiKey, contentType: JSON_TYPE, body: JSON.stringify(body) });
const yaml = (apiKey: string, method: string, path: string, body: string): Promise<Answer> =>
  platform.send(method, path, { apiKey, contentType: YAML, body });

async function newestUser(): Promise<Uuid | undefined> {
  const [user] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1", []);
  return user?.id;
}

let nth = 0;
const operations: Readonly<Record<string, (apiKey: string) => Promise<Answer>>> = {
  "pipeline.create": (apiKey) =>
    yaml(apiKey, "POST", `/pipeline/api/pipelines?${SCOPE}`, pipelineYaml(`made_${(nth += 1)}`)),
  "pipeline.update": (apiKey) => yaml(apiKey, "PUT", `/pipeline/api/pipelines/deploy?${SCOPE}`, pipelineYaml()),
  "secret.create": (apiKey) => send(apiKey, "POST", "/ng/api/v2/secrets", secret(`made_${(nth += 1)}`)),
  "secret.update": (apiKey) => send(apiKey, "PUT", "/ng/api/v2/secrets/old", secret("old")),
  "secret-manager.create": (apiKey) => {
    const name = `made_${(nth += 1)}`;
    return send(apiKey, "POST", "/ng/api/secret-managers", {
      secretManager: { identifier: name, name, type: "Platform" },
    });
  },
  "password.set-one-time": (apiKey) => send(apiKey, "POST", `/auth/users/${userId}/password/one-time`, {}),
  "role.create": (apiKey) => {
    const identifier = `made_${(nth += 1)}`;
    return send(apiKey, "POST", "/authz/api/roles", { identifier, name: identifier, permissions: [] });
  },
  "execution.start": (apiKey) => yaml(apiKey, "POST", `/pipeline/api/pipeline/execute/deploy?${SCOPE}`, ""),
  "connector.create": (apiKey) => yaml(apiKey, "POST", "/ng/api/connectors", connectorYaml(`made_${(nth += 1)}`)),
  "secret.update, without its content": (apiKey) => {
    const { secret: given } = secret("old");
    const { value: _, ...spec } = given.spec;
    return send(apiKey, "PUT", "/ng/api/v2/secrets/old", { secret: { ...given, spec } });
  },
  "trigger.adopt": (apiKey) =>
    send(apiKey, "POST", "/pipeline/api/ownership/adopt", {
      resources: [{ ...trigger, pipelineIdentifier: "deploy" }],
    }),
};

const nameOf = (operation: string): string => operation.split(",")[0] ?? "";

type Loss = { readonly lose: (id: Uuid) => Promise<unknown>; readonly status: number; readonly code: string };
const losses: Readonly<Record<string, Loss>> = {
  "the account": {
    lose: (id) => platform.db.query("update users set active = false where id = $1", [id]),
    ...{ status: 401, code: "http.no_credential" },
  },
  "the token": {
    lose: (id) =>
      platform.db.query("delete from tokens where api_key_id in (select id from api_keys where user_id = $1)", [id]),
    ...{ status: 401, code: "http.no_credential" },
  },
  "the role": {
    lose: (id) => platform.db.query("delete from role_assignments where principal_id = $1", [id]),
    ...{ status: 403, code: "identity.access_changed" },
  },
  "the role for that of a viewer": {
    lose: (id) =>
      platform.db.query("update role_assignments set role_identifier = '_account_viewer' where principal_id = $1", [
        id,
      ]),
    ...{ status: 403, code: "identity.access_changed" },
  },
};

const changesBy = (id: Uuid): Promise<unknown[]> =>
  platform.db.query("select operation from audit_entries where outcome = 'success' and actor_id = $1", [id]);

async function newAdministrator(): Promise<{ readonly key: string; readonly id: Uuid }> {
  const key = await platform.addUser("_account_admin");
  return { key, id: (await newestUser()) ?? assert.fail() };
}

test("account, token or role that was lost before the commit is lost", async () => {
  for (const [operation, run] of Object.entries(operations))
    for (const [what, { lose, status, code }] of Object.entries(losses)) {
      const told = `${operation}, ${what}`;
      const { key, id } = await newAdministrator();
      meanwhile = async () => {
        await lose(id);
        // Permissions may be a second old.
        platform.clock.advance(1_001);
      };
      const answer = await run(key);
      assert.equal(meanwhile, undefined, `${told}: a transaction has ended`);
      assert.equal(answer.status, status, `${told}: ${answer.text}`);
      assert.deepEqual(await changesBy(id), [], told);
      await platform.platform.sweep();
      const refused = await platform.db.query(
        "select operation, code from audit_entries where outcome = 'refused' and actor_id = $1",
        [id],
      );
      assert.deepEqual(
        refused,
        [{ operation: operation === "trigger.adopt" ? "ownership.adopt" : nameOf(operation), code }],
        told,
      );
    }
});

test("an administrator who loses nothing meanwhile is not refused", async () => {
  for (const [operation, run] of Object.entries(operations)) {
    const { key, id } = await newAdministrator();
    meanwhile = async () => platform.clock.advance(30_000);
    const answer = await run(key);
    assert.equal(answer.status, 200, `${operation}: ${answer.text}`);
    assert.deepEqual(await changesBy(id), [{ operation: nameOf(operation) }]);
  }
});

test("a permission that a request has not used may be lost meanwhile", async () => {
  for (const operation of ["pipeline.create", "pipeline.update", "execution.start"]) {
    const key = await platform.addUser("_project_admin", { orgIdentifier: "default", projectIdentifier: "shop" });
    const userId = (await newestUser()) ?? assert.fail();
    const accountId = fromWire(platform.accountId) ?? assert.fail();
    await assignRole(platform.db, { accountId, userId, role: "_account_viewer", at: platform.clock.now() });
    meanwhile = async () => {
      const text = "delete from role_assignments where principal_id = $1 and role_identifier = '_account_viewer'";
      await platform.db.query(text, [userId]);
      platform.clock.advance(1_001);
    };
    const answer = await operations[operation]?.(key);
    assert.equal(meanwhile, undefined, operation);
    assert.equal(answer?.status, 200, `${operation}: ${answer?.text}`);
  }
});

test("an administrator may end the own role by a slow request", async () => {
  const { key, id } = await newAdministrator();
  const [own] = await platform.db.query<{ identifier: string }>(
    "select identifier from role_assignments where principal_id = $1",
    [id],
  );
  meanwhile = async () => platform.clock.advance(30_000);
  const answer = await send(key, "DELETE", `/authz/api/roleassignments/${own?.identifier}`, {});
  assert.equal(answer.status, 200, answer.text);
  assert.equal(meanwhile, undefined);
});
