/**
 * The program of a secret manager may take seconds. A caller who loses account, token, role or environment meanwhile
 * saves nothing, and one account does not keep the program from the others.
 */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { create, JSON_TYPE, made, createTargets, projectYaml } from "../../../test/support/contract.ts";
import { startKeyProgram, type KeyCall, type KeyProgram } from "../../../test/support/services/key-program.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { toWire, type Uuid } from "../../core/ids.ts";

let platform: TestPlatform;
let program: KeyProgram;
before(async () => {
  program = await startKeyProgram();
  platform = await startTestPlatform({ secretCommands: new Map([["keys", program.words]]) });
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(addManager("slow"));
});
after(async () => {
  await platform?.stop();
  program?.stop();
});
afterEach(() => program.release());

const SECRETS = "/ng/api/v2/secrets";
type Who = { readonly apiKey?: string; readonly account?: string };
const json = (method: string, path: string, body: object, who: Who = {}): Promise<Answer> =>
  platform.send(method, path, { contentType: JSON_TYPE, body: JSON.stringify(body), ...who });
const addManager = (identifier: string, who: Who = {}): Promise<Answer> =>
  json(
    "POST",
    "/ng/api/secret-managers",
    { secretManager: { name: identifier, identifier, type: "Command", spec: { command: "keys" } } },
    who,
  );
const text = (identifier: string): object => ({
  secret: {
    ...{ type: "SecretText", name: identifier, identifier },
    spec: { secretManagerIdentifier: "slow", valueType: "Inline", value: "the value" },
  },
});
const addText = (identifier: string, who: Who = {}): Promise<Answer> => json("POST", SECRETS, text(identifier), who);

function form(identifier: string): FormData {
  const spec = {
    type: "SecretFile",
    name: identifier,
    identifier,
    spec: { secretManagerIdentifier: "slow" },
  };
  const body = new FormData();
  body.set("spec", JSON.stringify({ secret: spec }));
  body.set("file", new Blob(["the content"]));
  return body;
}

let nth = 0;
const newName = (): string => `thing_${(nth += 1)}`;

/** Gives the person a role of these permissions on all that lies in the account; answers how to take it away. */
async function give(userId: Uuid, permissions: readonly string[]): Promise<() => Promise<unknown>> {
  const name = newName();
  await made(json("POST", "/authz/api/roles", { identifier: name, name, permissions }));
  const { roleAssignment } = await made(
    json("POST", "/authz/api/roleassignments", {
      principal: { identifier: toWire(userId), type: "USER" },
      ...{ roleIdentifier: name, resourceGroupIdentifier: "_all_resources_including_child_scopes" },
    }),
  );
  return () => made(platform.send("DELETE", `/authz/api/roleassignments/${roleAssignment.identifier}`));
}

async function newEditor() {
  const apiKey = await platform.addUser("_account_viewer");
  const [user] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  const id = user?.id ?? assert.fail();
  const loseRole = await give(id, ["core_secret_edit", "core_connector_edit"]);
  const loseReach = await give(id, ["core_environment_access", "core_secret_access"]);
  platform.clock.advance(1_001);
  return { apiKey, id, loseRole, loseReach };
}
type Editor = Awaited<ReturnType<typeof newEditor>>;

const ended = { status: 401, code: "http.no_credential" };
const losses: Readonly<Record<string, { lose: (editor: Editor) => Promise<unknown>; status: number; code: string }>> = {
  "the account": { lose: ({ id }) => made(json("POST", `/ng/api/user/${toWire(id)}/deactivate`, {})), ...ended },
  "the token": {
    lose: ({ id }) =>
      platform.db.query("delete from tokens where api_key_id in (select id from api_keys where user_id = $1)", [id]),
    ...ended,
  },
  "the role": { lose: ({ loseRole }) => loseRole(), status: 403, code: "access.not_permitted" },
};

const graphql = (query: string, { apiKey }: Editor): Promise<Answer> =>
  platform.send("POST", `/api/graphql?accountId=${platform.accountId}`, {
    ...{ contentType: JSON_TYPE, apiKey, body: JSON.stringify({ query }) },
  });
const idOf = async (identifier: string): Promise<string> => {
  const [row] = await platform.db.query<{ id: Uuid }>("select id from secrets where identifier = $1", [identifier]);
  return toWire(row?.id ?? assert.fail());
};
const managerId = async (): Promise<string> => {
  const [row] = await platform.db.query<{ id: Uuid }>("select id from secret_managers where identifier = 'slow'");
  return toWire(row?.id ?? assert.fail());
};

type Save = {
  readonly operation: string;
  /** Makes what is saved anew, before the program is held. */
  readonly first?: (name: string) => Promise<unknown>;
  readonly save: (name: string, editor: Editor) => Promise<Answer>;
};
const addFile = (name: string, who: Who = {}): Promise<Answer> =>
  platform.send("POST", `${SECRETS}/files`, { body: form(name), ...who });
const saves: Readonly<Record<string, Save>> = {
  "a new text": { operation: "secret.create", save: (name, { apiKey }) => addText(name, { apiKey }) },
  "another text": {
    operation: "secret.update",
    first: (name) => made(addText(name)),
    save: (name, { apiKey }) => json("PUT", `${SECRETS}/${name}`, text(name), { apiKey }),
  },
  "a new file": { operation: "secret.create-file", save: (name, { apiKey }) => addFile(name, { apiKey }) },
  "another file": {
    operation: "secret.update-file",
    first: (name) => made(addFile(name)),
    save: (name, { apiKey }) => platform.send("PUT", `${SECRETS}/files/${name}`, { body: form(name), apiKey }),
  },
  "a new text over GraphQL": {
    operation: "graphql.createSecret",
    save: async (name, editor) =>
      graphql(
        `mutation { createSecret(input: { secretType: ENCRYPTED_TEXT, encryptedText: {
          name: "${name}", value: "v", secretManagerId: "${await managerId()}" } }) { secret { id } } }`,
        editor,
      ),
  },
  "another text over GraphQL": {
    operation: "graphql.updateSecret",
    first: (name) => made(addText(name)),
    save: async (name, editor) =>
      graphql(
        `mutation { updateSecret(input: { secretId: "${await idOf(name)}", secretType: ENCRYPTED_TEXT,
          encryptedText: { value: "w" } }) { secret { id } } }`,
        editor,
      ),
  },
  "a new secret manager": {
    operation: "secret-manager.create",
    save: (name, { apiKey }) => addManager(name, { apiKey }),
  },
};

/** The call that the save makes. Fails if it is answered without one. */
const asked = (answer: Promise<Answer>, what: string): Promise<KeyCall> =>
  Promise.race([program.next(), answer.then(({ text: told }) => assert.fail(`${what}: ${told}`))]);

/** All that the saves write. */
const stored = async (): Promise<string> =>
  JSON.stringify(
    await Promise.all(
      ["secrets", "secret_contents", "secret_managers"].map((table) =>
        platform.db.query(`select md5(t::text) as row from ${table} t order by 1`),
      ),
    ),
  );

test("a caller who loses account, token or role while the program runs saves nothing, and the audit trail records it", async () => {
  for (const [what, { operation, first, save }] of Object.entries(saves))
    for (const [lost, { lose, status, code }] of Object.entries(losses)) {
      const told = `${what}, ${lost}`;
      const editor = await newEditor();
      const name = newName();
      await first?.(name);
      const unchanged = await stored();
      program.hold();
      const answer = save(name, editor);
      assert.equal((await asked(answer, told)).operation, "wrap", told);
      await lose(editor);
      program.release();
      const refused = await answer;
      if (operation.startsWith("graphql.")) assert.ok(refused.body.errors?.length > 0, `${told}: ${refused.text}`);
      else assert.equal(refused.status, status, `${told}: ${refused.text}`);
      assert.equal(await stored(), unchanged, told);
      await platform.platform.sweep();
      const entries = await platform.db.query("select outcome, code, status from audit_entries where actor_id = $1", [
        editor.id,
      ]);
      assert.deepEqual(entries, [{ outcome: "refused", code, status }], told);
    }
});

test("a caller with permission saves, and a caller without permission does not start the program", async () => {
  for (const [what, { first, save }] of Object.entries(saves)) {
    const editor = await newEditor();
    const name = newName();
    await first?.(name);
    program.hold();
    const answer = save(name, editor);
    (await asked(answer, what)).answer();
    platform.clock.advance(30_000);
    program.release();
    const saved = await answer;
    assert.ok(saved.status === 200 && !saved.body.errors, `${what}: ${saved.text}`);
  }
  program.hold();
  const refused = await addText("viewed", { apiKey: await platform.addUser("_account_viewer") });
  assert.deepEqual([refused.status, program.waiting()], [403, []]);
});

test("a usage scope is not saved if the caller loses the permission for it while the program runs", async () => {
  const editor = await newEditor();
  const before = await stored();
  const scoped = `usageScope: { appEnvScopes: [{ application: { filterType: ALL }, environment: { filterType: PRODUCTION_ENVIRONMENTS } }] }`;
  program.hold();
  const query = `mutation { createSecret(input: { secretType: ENCRYPTED_TEXT, encryptedText: {
    name: "scoped", value: "v", secretManagerId: "${await managerId()}", ${scoped} } }) { secret { id } } }`;
  const answer = graphql(query, editor);
  await asked(answer, "a scope");
  await editor.loseReach();
  program.release();
  assert.match((await answer).text, /where you lack core_environment_access/);
  assert.equal(await stored(), before);
});

test("many saves of one account do not block the program for another account", async () => {
  const other = await platform.addAccount();
  const who = { apiKey: other.apiKey, account: other.accountId };
  await made(addManager("slow", who));
  program.hold();
  const flood = Array.from({ length: 24 }, () => addText(newName()));
  const first = [await program.next(), await program.next(), await program.next()];
  assert.deepEqual(new Set(first.map(({ account }) => account)), new Set([platform.accountId]));
  const one = addText("another_one", who);
  const call = await program.next();
  assert.equal(call.account, other.accountId, "it was asked before a call of the flood has ended");
  call.answer();
  assert.equal((await one).status, 200);
  assert.deepEqual(program.waiting(), [], "one account does not take the place that is left to others");
  program.release();
  assert.deepEqual(new Set((await Promise.all(flood)).map(({ status }) => status)), new Set([200]));
});
