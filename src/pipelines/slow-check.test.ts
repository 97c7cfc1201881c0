/**
 * Asking Bash may take seconds. Whoever has lost account, credential, role or a secret by the time that it has answered
 * saves nothing: attack class 28.
 */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { create, JSON_TYPE, made, pipelineYaml, projectYaml, SCOPE, YAML } from "../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import { toWire, type Uuid } from "../core/ids.ts";

let platform: TestPlatform;
/** What happens while Bash is asked. */
let meanwhile: () => Promise<unknown>;
before(async () => {
  platform = await startTestPlatform({ checkScripts: async () => void (await meanwhile()) });
  meanwhile = async () => undefined;
  await made(create.project(platform, projectYaml()));
  const spec = { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "v" };
  await ask("POST", "/ng/api/v2/secrets", { secret: { type: "SecretText", name: "key", identifier: "key", spec } });
});
after(() => platform?.stop());
beforeEach(() => {
  meanwhile = async () => undefined;
});

async function ask(method: string, path: string, body?: object): Promise<Answer> {
  const sent = body ? { contentType: JSON_TYPE, body: JSON.stringify(body) } : {};
  const answer = await platform.send(method, path, sent);
  assert.ok(answer.status < 300, answer.text);
  return answer;
}

let nth = 0;

/** Gives the person a role of these permissions on all that lies in the account; answers how to take it away. */
async function give(userId: Uuid, permissions: readonly string[]): Promise<() => Promise<unknown>> {
  const name = `role_${(nth += 1)}`;
  await ask("POST", "/authz/api/roles", { identifier: name, name, permissions });
  const { body } = await ask("POST", "/authz/api/roleassignments", {
    principal: { identifier: toWire(userId), type: "USER" },
    roleIdentifier: name,
    resourceGroupIdentifier: "_all_resources_including_child_scopes",
  });
  return () => ask("DELETE", `/authz/api/roleassignments/${body.data.roleAssignment.identifier}`);
}

async function newEditor() {
  const key = await platform.addUser("_account_viewer");
  const [user] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  const id = user?.id as Uuid;
  const loseRole = await give(id, ["core_pipeline_edit"]);
  const loseSecret = await give(id, ["core_secret_access"]);
  return { key, id, loseRole, loseSecret };
}
type Editor = Awaited<ReturnType<typeof newEditor>>;

const losses: Readonly<
  Record<
    string,
    { readonly lose: (editor: Editor) => Promise<unknown>; readonly status: number; readonly code: string }
  >
> = {
  "the account": {
    lose: ({ id }) => ask("POST", `/ng/api/user/${toWire(id)}/deactivate`, {}),
    ...{ status: 401, code: "http.no_credential" },
  },
  "the token": {
    lose: ({ id }) =>
      platform.db.query("delete from tokens where api_key_id in (select id from api_keys where user_id = $1)", [id]),
    ...{ status: 401, code: "http.no_credential" },
  },
  "the role": { lose: ({ loseRole }) => loseRole(), status: 403, code: "access.not_permitted" },
  "the secret": { lose: ({ loseSecret }) => loseSecret(), status: 403, code: "pipeline.secret_refused" },
};

const SECRET = '<+secrets.getValue("account.key")>';

const saves: Readonly<
  Record<string, { readonly operation: string; readonly save: (name: string, key: string) => Promise<Answer> }>
> = {
  "a new pipeline": {
    operation: "pipeline.create",
    save: (name, apiKey) =>
      platform.send("POST", `/pipeline/api/pipelines?${SCOPE}`, {
        ...{ apiKey, contentType: YAML, body: pipelineYaml(name, SECRET) },
      }),
  },
  "the next version": {
    operation: "pipeline.update",
    save: async (name, apiKey) => {
      const during = meanwhile;
      meanwhile = async () => undefined;
      await made(create.pipeline(platform, pipelineYaml(name)));
      meanwhile = during;
      return platform.send("PUT", `/pipeline/api/pipelines/${name}?${SCOPE}`, {
        ...{ apiKey, contentType: YAML, body: pipelineYaml(name, SECRET) },
      });
    },
  },
};

const savedBy = (id: Uuid): Promise<unknown[]> =>
  platform.db.query("select version from pipeline_versions where author_id = $1", [id]);

test("whoever loses account, token, role or secret while Bash is asked saves nothing, and the trail says so", async () => {
  for (const [what, { operation, save }] of Object.entries(saves))
    for (const [lost, { lose, status, code }] of Object.entries(losses)) {
      const told = `${what}, ${lost}`;
      const editor = await newEditor();
      meanwhile = () => lose(editor);
      const answer = await save(`refused_${(nth += 1)}`, editor.key);
      assert.equal(answer.status, status, `${told}: ${answer.text}`);
      assert.deepEqual(await savedBy(editor.id), [], told);
      await platform.platform.sweep();
      const refused = await platform.db.query(
        "select operation, code, status from audit_entries where outcome = 'refused' and actor_id = $1",
        [editor.id],
      );
      assert.deepEqual(refused, [{ operation, code, status }], told);
    }
});

test("whoever loses nothing saves, and whoever may not save does not have Bash asked", async () => {
  for (const [what, { save }] of Object.entries(saves)) {
    const editor = await newEditor();
    meanwhile = async () => platform.clock.advance(30_000);
    const answer = await save(`saved_${(nth += 1)}`, editor.key);
    assert.equal(answer.status, 200, `${what}: ${answer.text}`);
    assert.equal((await savedBy(editor.id)).length, 1, what);
  }
  let asked = 0;
  meanwhile = async () => void (asked += 1);
  const answer = await platform.send("POST", `/pipeline/api/pipelines?${SCOPE}`, {
    ...{ contentType: YAML, body: pipelineYaml("viewed"), apiKey: await platform.addUser("_account_viewer") },
  });
  assert.deepEqual([answer.status, asked], [403, 0]);
});

test("validating asks Bash for those only who may save the pipeline", async () => {
  const path = `/pipeline/api/pipelines/validate-yaml-with-schema?${SCOPE}`;
  let asked = 0;
  meanwhile = async () => void (asked += 1);
  const validate = (apiKey: string): Promise<Answer> =>
    platform.send("POST", path, { apiKey, contentType: YAML, body: pipelineYaml("drafted") });
  const viewer = await validate(await platform.addUser("_account_viewer"));
  assert.deepEqual([viewer.status, viewer.body.data, asked], [200, "drafted", 0]);
  const editor = await validate((await newEditor()).key);
  assert.deepEqual([editor.status, editor.body.data, asked], [200, "drafted", 1]);
});
