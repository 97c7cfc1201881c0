/**
 * A transaction may wait for a connection or a lock. An actor who has lost account, token or permissions by the time that
 * it begins changes nothing, although the checks before it passed.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  JSON_TYPE,
  made,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
  YAML,
} from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";

let platform: TestPlatform;
/** Runs before the transaction that begins after the next check of a credential. */
let meanwhile: (() => Promise<unknown>) | undefined;
let isChecked = false;
const CREDENTIAL_CHECK = /t\.valid_from_at <= \$3/;

const wrapDb = (db: Db): Db => ({
  ...db,
  query: (text, values) => {
    isChecked ||= CREDENTIAL_CHECK.test(text);
    return db.query(text, values);
  },
  transaction: async (work) => {
    const lose = isChecked ? meanwhile : undefined;
    if (lose) meanwhile = undefined;
    await lose?.();
    return db.transaction(work);
  },
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
  "trigger.adopt": (apiKey) =>
    send(apiKey, "POST", "/pipeline/api/ownership/adopt", {
      resources: [{ ...trigger, pipelineIdentifier: "deploy" }],
    }),
};

type Loss = { readonly lose: (id: Uuid) => Promise<unknown>; readonly status: number; readonly code: string };
const losses: Readonly<Record<string, Loss>> = {
  "the account": {
    lose: (id) => send(platform.apiKey, "POST", `/ng/api/user/${toWire(id)}/deactivate`, {}),
    ...{ status: 401, code: "http.no_credential" },
  },
  "the token": {
    lose: (id) =>
      platform.db.query("delete from tokens where api_key_id in (select id from api_keys where user_id = $1)", [id]),
    ...{ status: 401, code: "http.no_credential" },
  },
  "the role": {
    lose: async (id) => {
      await platform.db.query("delete from role_assignments where principal_id = $1", [id]);
      // Permissions may be a second old.
      platform.clock.advance(1_001);
    },
    ...{ status: 403, code: "identity.access_changed" },
  },
};

const changesBy = (id: Uuid): Promise<unknown[]> =>
  platform.db.query("select operation from audit_entries where outcome = 'success' and actor_id = $1", [id]);

async function newAdministrator(): Promise<{ readonly key: string; readonly id: Uuid }> {
  const key = await platform.addUser("_account_admin");
  return { key, id: (await newestUser()) ?? assert.fail() };
}

test("account, token or role that was lost before the transaction began is lost", async () => {
  for (const [operation, run] of Object.entries(operations))
    for (const [what, { lose, status, code }] of Object.entries(losses)) {
      const told = `${operation}, ${what}`;
      const { key, id } = await newAdministrator();
      isChecked = false;
      meanwhile = () => lose(id);
      const answer = await run(key);
      assert.equal(meanwhile, undefined, `${told}: a transaction began after the check`);
      assert.equal(answer.status, status, `${told}: ${answer.text}`);
      assert.deepEqual(await changesBy(id), [], told);
      await platform.platform.sweep();
      const refused = await platform.db.query(
        "select operation, code from audit_entries where outcome = 'refused' and actor_id = $1",
        [id],
      );
      assert.deepEqual(
        refused,
        [{ operation: operation === "trigger.adopt" ? "ownership.adopt" : operation, code }],
        told,
      );
    }
});

test("an administrator who loses nothing meanwhile is not refused", async () => {
  for (const [operation, run] of Object.entries(operations)) {
    const { key, id } = await newAdministrator();
    isChecked = false;
    meanwhile = async () => platform.clock.advance(30_000);
    const answer = await run(key);
    assert.equal(answer.status, 200, `${operation}: ${answer.text}`);
    assert.deepEqual(await changesBy(id), [{ operation }]);
  }
});
