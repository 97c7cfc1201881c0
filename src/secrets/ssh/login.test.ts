/** SSH credentials over GraphQL and REST: what they take, what holds that in place, and where runs may use it. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, JSON_TYPE, made, projectYaml } from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { adminOf, dumpOf, secretsOf } from "../../../test/support/secrets.ts";
import type { Actor } from "../../core/actor.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import { requireLoginSecrets } from "./references.ts";
import type { RunPlace } from "../scope/usage-scope.ts";

const PASSWORD = "pa55word-of-the-host";
const KEY = "-----BEGIN FAKE KEY-----\nbm90IGEga2V5IGF0IGFsbA\n-----END FAKE KEY-----\n";
const SHOP = "orgIdentifier=default&projectIdentifier=shop";
const REST = "/ng/api/v2/secrets";

let platform: TestPlatform;
const ids: Record<string, string> = {};
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  ids["password"] = await createdId({
    secretType: "ENCRYPTED_TEXT",
    encryptedText: { name: "password", value: PASSWORD },
  });
  ids["phrase"] = await createdId({ secretType: "ENCRYPTED_TEXT", encryptedText: { name: "phrase", value: "open" } });
  ids["key"] = await createdId({ secretType: "ENCRYPTED_FILE", encryptedFile: { name: "key", value: KEY } });
});
after(() => platform?.stop());

const SELECTION = `{ __typename id name secretType usageScope { appEnvScopes { environment { filterType } } }
  ... on SSHCredential {
    ssh: authenticationType { __typename ... on SSHAuthentication { port userName } }
    kerberos: authenticationType { ... on KerberosAuthentication { port principal realm } } } }`;
const CREATE = `mutation ($input: CreateSecretInput!) { createSecret(input: $input) { clientMutationId secret ${SELECTION} } }`;
const UPDATE = `mutation ($input: UpdateSecretInput!) { updateSecret(input: $input) { secret ${SELECTION} } }`;

const send = (query: string, input: object): Promise<Answer> => platform.graphql(query, { input });
async function created(input: object) {
  const { body, text } = await send(CREATE, input);
  assert.ok(body.data?.createSecret, text);
  return body.data.createSecret.secret;
}
const createdId = async (input: object): Promise<string> => (await created(input)).id;
async function refused(query: string, input: object): Promise<string> {
  const { body, text } = await send(query, input);
  assert.ok(body.errors?.length === 1, text);
  return body.errors[0].message.replace(/^Exception while fetching data \(.*?\) : /, "");
}

const byPassword = (id = ids["password"]) => ({
  sshCredentialType: "PASSWORD",
  serverPassword: { passwordSecretId: id },
});
const byKey = (passphraseSecretId?: string) => ({
  sshCredentialType: "SSH_KEY",
  inlineSSHKey: { sshKeySecretFileId: ids["key"], ...(passphraseSecretId ? { passphraseSecretId } : {}) },
});
const ssh = (name: string, sshAuthenticationMethod: object, more: object = {}, around: object = {}) => ({
  secretType: "SSH_CREDENTIAL",
  sshCredential: {
    name,
    authenticationScheme: "SSH",
    sshAuthentication: { port: 2222, userName: "deploy", sshAuthenticationMethod, ...more },
    ...around,
  },
});

const rest = (method: string, path: string, body?: object): Promise<Answer> =>
  platform.send(method, `${REST}${path}`, {
    ...(body ? { contentType: JSON_TYPE, body: JSON.stringify(body) } : {}),
  });
const sshKey = (identifier: string, credential: object, more: object = {}) => ({
  secret: {
    type: "SSHKey",
    name: identifier,
    identifier,
    spec: { port: 22, auth: { type: "SSH", spec: credential } },
    ...more,
  },
});
const keyOf = (key: string, encryptedPassphrase?: string) => ({
  credentialType: "KeyReference",
  spec: { userName: "root", key, ...(encryptedPassphrase ? { encryptedPassphrase } : {}) },
});
const textSecret = (identifier: string, place: object = {}) => ({
  secret: { type: "SecretText", name: identifier, identifier, spec: { value: "v4lue" }, ...place },
});

test("GraphQL creates, reads, changes and deletes credentials with password and with key, and shows no value", async () => {
  const host = await created(ssh("Web host", byPassword()));
  assert.deepEqual(host, {
    __typename: "SSHCredential",
    id: host.id,
    name: "Web host",
    secretType: "SSH_CREDENTIAL",
    usageScope: null,
    ssh: { __typename: "SSHAuthentication", port: 2222, userName: "deploy" },
    kerberos: {},
  });
  const query = `query ($id: String!) { secret(secretId: $id, secretType: SSH_CREDENTIAL) ${SELECTION}
    secretByName(name: "Web host", secretType: SSH_CREDENTIAL) { id } }`;
  const read = await platform.graphql(query, { id: host.id });
  assert.deepEqual(read.body.data, { secret: host, secretByName: { id: host.id } });
  const changed = await send(UPDATE, {
    secretId: host.id,
    ...ssh("Web hosts", byKey(ids["phrase"]), { port: null, userName: "root" }),
  });
  assert.deepEqual(
    [changed.body.data.updateSecret.secret.name, changed.body.data.updateSecret.secret.ssh],
    ["Web hosts", { __typename: "SSHAuthentication", port: 22, userName: "root" }],
  );
  const { secret } = await made(rest("GET", "/Web_host"));
  assert.deepEqual(secret.spec, {
    port: 22,
    auth: {
      type: "SSH",
      spec: {
        credentialType: "KeyReference",
        spec: { userName: "root", key: "account.key", encryptedPassphrase: "account.phrase" },
      },
    },
  });
  const mutation = "mutation ($input: DeleteSecretInput!) { deleteSecret(input: $input) { clientMutationId } }";
  const input = { secretId: host.id, secretType: "SSH_CREDENTIAL", clientMutationId: "c" };
  assert.deepEqual((await platform.graphql(mutation, { input })).body.data.deleteSecret, { clientMutationId: "c" });
  assert.match(
    (await platform.graphql(query, { id: host.id })).body.errors[0].message,
    /No secret exists with the (id|name)/,
  );
});

test("a change contains the whole login or none of it, can set and remove a scope, and rejects duplicate input", async () => {
  const { id } = await created(ssh("again", byPassword()));
  const change = (sshCredential: object): object => ({ secretId: id, secretType: "SSH_CREDENTIAL", sshCredential });
  const whole = { sshAuthentication: { port: 22, userName: "root", sshAuthenticationMethod: byPassword() } };
  await send(UPDATE, change(whole));
  const before = (await made(rest("GET", "/again"))).secret;
  for (const sent of [{ name: "renamed" }, { name: "renamed", authenticationScheme: "SSH" }]) {
    const renamed = await send(UPDATE, change(sent));
    assert.equal(renamed.body.data.updateSecret.secret.name, "renamed");
    const after = (await made(rest("GET", "/again"))).secret;
    assert.deepEqual(after, { ...before, name: "renamed" });
    assert.deepEqual(after.spec.auth.spec.spec.userName, "root");
  }
  assert.match(await refused(UPDATE, change({ name: "x", authenticationScheme: "KERBEROS" })), /KERBEROS/);
  const production = {
    appEnvScopes: [{ application: { filterType: "ALL" }, environment: { filterType: "PRODUCTION_ENVIRONMENTS" } }],
  };
  const login = ssh("again", byPassword()).sshCredential;
  const scoped = await send(UPDATE, change({ ...login, usageScope: production }));
  assert.equal(scoped.body.data.updateSecret.secret.usageScope.appEnvScopes.length, 1);
  const kept = await send(UPDATE, change(login));
  assert.equal(kept.body.data.updateSecret.secret.usageScope.appEnvScopes.length, 1);
  const inherits = await send(UPDATE, change({ ...login, usageScope: null }));
  assert.equal(inherits.body.data.updateSecret.secret.usageScope, null);
  const both = { ...byPassword(), inlineSSHKey: byKey().inlineSSHKey };
  assert.match(await refused(CREATE, ssh("both", both)), /inlineSSHKey does not belong to the secret type/);
  assert.match(
    await refused(CREATE, { ...ssh("x", byPassword()), encryptedText: { name: "x", value: "y" } }),
    /encryptedText does not belong/,
  );
  assert.equal(
    await refused(CREATE, { secretType: "SSH_CREDENTIAL" }),
    "sshCredential is required for the secret type SSH_CREDENTIAL.",
  );
});

test("unsupported login types are rejected by name, in GraphQL and in REST", async () => {
  const kerberos = {
    authenticationScheme: "KERBEROS",
    kerberosAuthentication: { principal: "p", realm: "R", port: 22 },
  };
  assert.match(
    await refused(CREATE, { secretType: "SSH_CREDENTIAL", sshCredential: { name: "k", ...kerberos } }),
    /^KERBEROS is not supported in SSH credentials/,
  );
  const path = { sshCredentialType: "SSH_KEY_FILE_PATH", sshKeyFile: { path: "/etc/keys/id" } };
  assert.match(await refused(CREATE, ssh("f", path)), /^SSH_KEY_FILE_PATH is not supported in SSH credentials/);
  assert.equal(
    await refused(CREATE, { secretType: "WINRM_CREDENTIAL" }),
    "Secrets of the type WINRM_CREDENTIAL are not supported.",
  );
  for (const [spec, message] of [
    [{ auth: { type: "Kerberos", spec: {} } }, /^Kerberos is not supported in SSH credentials/],
    [{ auth: { type: "SSH", spec: { credentialType: "KeyPath", spec: {} } } }, /^KeyPath is not supported/],
    [
      { auth: { type: "SSH", spec: { credentialType: "Other", spec: {} } } },
      /secret\.spec\.auth\.spec\.credentialType/,
    ],
  ] as const) {
    const answer = await rest("POST", "", sshKey("r", {}, { spec }));
    assert.equal(answer.status, 400);
    assert.match(answer.body.message, message);
  }
  const winRm = await rest("POST", "", { secret: { type: "WinRmCredentials", name: "w", identifier: "w", spec: {} } });
  assert.equal(winRm.status, 400);
  assert.match(winRm.body.message, /takes SecretText and SSHKey/);
});

test("a user name cannot be a command-line option or shell syntax; a port must be valid", async () => {
  for (const userName of [
    "-oProxyCommand=x",
    "",
    "a b",
    "a;b",
    "$(id)",
    "a\nb",
    "`id`",
    "a'b",
    "a\\",
    "\\",
    "a\u0007",
    " a",
    "a ",
    "ä",
    "a".repeat(129),
  ]) {
    assert.match(
      await refused(CREATE, ssh("u", byPassword(), { userName })),
      /^.*sshCredential\.sshAuthentication\.userName: must begin with .* and not end with \\/,
    );
    const answer = await rest(
      "POST",
      "",
      sshKey("u", { credentialType: "Password", spec: { userName, password: "account.password" } }),
    );
    assert.deepEqual([answer.status, answer.body.code], [400, "SCHEMA_VALIDATION_FAILED"]);
    assert.match(
      answer.body.message,
      /secret\.spec\.auth\.spec\.spec\.userName: must begin with .* and not end with \\/,
    );
  }
  for (const [nth, userName] of ["EXAMPLE\\ada", "ada@example.com", "_a", "0", "a-", "a".repeat(128)].entries())
    await created(ssh(`as ${nth}`, byPassword(), { userName }));
  for (const port of [0, 65_536, -1]) assert.match(await refused(CREATE, ssh("p", byPassword(), { port })), /port/);
});

test("REST creates, reads, lists and replaces credentials, which reference only secrets visible from their place", async () => {
  const place = { orgIdentifier: "default", projectIdentifier: "shop" };
  await made(rest("POST", `?${SHOP}`, textSecret("local_password", place)));
  await made(rest("POST", "?orgIdentifier=default", textSecret("org_phrase", { orgIdentifier: "default" })));
  const body = sshKey("in_shop", keyOf("account.key", "org.org_phrase"), place);
  const { secret } = await made(rest("POST", `?${SHOP}`, body));
  assert.deepEqual([secret.type, secret.spec], ["SSHKey", body.secret.spec]);
  const found = await made(rest("GET", `?${SHOP}&type=SSHKey`));
  assert.deepEqual(
    found.content.map((one: { secret: { identifier: string } }) => one.secret.identifier),
    ["in_shop"],
  );
  const password = { credentialType: "Password", spec: { userName: "root", password: "local_password" } };
  const put = await made(rest("PUT", `/in_shop?${SHOP}`, sshKey("in_shop", password, { name: "Renamed" })));
  assert.deepEqual([put.secret.name, put.secret.spec.auth.spec], ["Renamed", password]);
  for (const [credential, reference] of [
    [keyOf("account.nothing"), "account.nothing"],
    // A text is no key, a file no passphrase.
    [keyOf("account.password"), "account.password"],
    [keyOf("account.key", "account.key"), "account.key"],
    [{ credentialType: "Password", spec: { userName: "root", password: "account.in_shop" } }, "account.in_shop"],
  ] as const) {
    const answer = await rest("POST", "", sshKey("bad", credential));
    assert.deepEqual([answer.status, answer.body.code], [400, "INVALID_REQUEST"]);
    assert.ok(
      answer.body.message.startsWith(`No secret exists with the reference [${reference}] for the `),
      answer.text,
    );
  }
  // The password in the place of its reference.
  const pasted = { credentialType: "Password", spec: { userName: "root", password: "Sup3rS3cret!" } };
  const answer = await rest("POST", "", sshKey("bad", pasted));
  assert.match(answer.body.message, /^No secret exists with the reference \[…\] for the password/);
  assert.match(
    await refused(CREATE, ssh("x", byPassword("Sup3rS3cret!"))),
    /^No secret exists with the reference \[…\]/,
  );
  const text = await rest("PUT", `/in_shop?${SHOP}`, textSecret("in_shop"));
  assert.equal(text.status, 404);
  // By its id from the account, where nothing of a project is seen.
  const row = await platform.db.query<{ id: Uuid }>("select id from secrets where identifier = 'local_password'");
  const id = Buffer.from((row[0]?.id ?? "").replaceAll("-", ""), "hex").toString("base64url");
  assert.match(await refused(CREATE, ssh("x", byPassword(id))), /^No secret exists with the reference/);
});

test("a secret that a credential references is not deleted without force", async () => {
  const pass = (identifier: string) => ({
    credentialType: "Password",
    spec: { userName: "root", password: `account.${identifier}` },
  });
  for (const name of ["held_1", "held_2"]) await made(rest("POST", "", textSecret(name)));
  await made(rest("POST", "", sshKey("holder", pass("held_1"))));
  const refusal = await rest("DELETE", "/held_1");
  assert.deepEqual(
    [refusal.status, refusal.body.message],
    [402, "Secret [held_1] is used by secret holder and cannot be deleted."],
  );
  await made(rest("PUT", "/holder", sshKey("holder", pass("held_2"))));
  assert.equal((await rest("DELETE", "/held_1")).status, 200);
  assert.equal((await rest("DELETE", "/held_2")).status, 402);
  assert.equal((await rest("DELETE", "/holder")).status, 200);
  assert.equal((await rest("DELETE", "/held_2")).status, 200);
});

test("the audit trail has the changes, and only sealed rows contain values", async () => {
  await made(rest("POST", "", sshKey("trailed", keyOf("account.key"))));
  await made(
    rest(
      "PUT",
      "/trailed",
      sshKey("trailed", { credentialType: "Password", spec: { userName: "ops", password: "account.password" } }),
    ),
  );
  const rows = await platform.db.query<{ row: string }>(
    "select row_to_json(a)::text as row from audit_entries a where resource_id = 'trailed' order by 1",
  );
  const all = rows.map(({ row }) => row).join("\n");
  for (const part of ["userName", "ops", "SSH_KEY", "PASSWORD", "account.key"]) assert.ok(all.includes(part), all);
  const dump = await dumpOf(platform);
  for (const value of [PASSWORD, "bm90IGEga2V5"]) assert.ok(!dump.includes(value));
});

const withGrants = (permissions: readonly string[]): Actor => ({
  ...(adminOf(platform) as Extract<Actor, { kind: "user" }>),
  grants: [{ scope: {}, children: true, permissions: new Set(permissions), resources: "all" }],
});

test("the creator of a credential must be allowed to use its secrets", async () => {
  const secrets = secretsOf(platform);
  const make = (permissions: readonly string[]): Promise<unknown> =>
    secrets.create(withGrants(permissions), {
      orgIdentifier: null,
      projectIdentifier: null,
      identifier: "mine",
      name: "mine",
      description: "",
      tags: {},
      scoping: {},
      type: "SSH_CREDENTIAL",
      login: {
        port: 22,
        userName: "root",
        auth: { kind: "password", password: { by: "reference", reference: "account.password" } },
      },
    });
  await assert.rejects(make(["core_secret_edit"]), { code: "secret.bad_reference" });
  await assert.rejects(make(["core_secret_edit", "core_secret_view"]), { code: "secret.taking_refused" });
  await make(["core_secret_edit", "core_secret_access"]);
});

test("a run resolves a credential only inside its usage scope and those of its secrets", async () => {
  const scopeOf = (filterType: string) => ({
    usageScope: { appEnvScopes: [{ application: { filterType: "ALL" }, environment: { filterType } }] },
  });
  const prodOnly = scopeOf("PRODUCTION_ENVIRONMENTS");
  const prodPassword = await createdId({
    secretType: "ENCRYPTED_TEXT",
    encryptedText: { name: "prod_password", value: PASSWORD, ...prodOnly },
  });
  await created(ssh("prod_login", byPassword(), {}, prodOnly));
  await created(ssh("open_login", byPassword(prodPassword)));
  const home: Place = { orgIdentifier: "default", projectIdentifier: "shop" };
  const resolve = (reference: string, production: boolean) => {
    const place: RunPlace = {
      applicationId: accountId(),
      environmentId: null,
      production,
      names: { application: "p", environment: "e" },
    };
    return secretsOf(platform).resolveLogin(accountId(), { home, place }, named(reference));
  };
  for (const reference of ["account.prod_login", "account.open_login"]) {
    const { port, userName, takes } = await resolve(reference, true);
    const values = await Promise.all(takes.map(({ secret }) => Array.fromAsync(secret.read())));
    assert.deepEqual([port, userName, takes[0]?.role], [2222, "deploy", "password"]);
    assert.equal(Buffer.concat(values.flat()).toString(), PASSWORD);
  }
  await assert.rejects(resolve("account.prod_login", false), { code: "secret.use_refused", message: /\[prod_login\]/ });
  await assert.rejects(resolve("account.open_login", false), {
    code: "secret.use_refused",
    message: /\[prod_password\]/,
  });
  await assert.rejects(resolve("account.password", true), { code: "secret.bad_reference" });
});

test("a user name that was saved before its rule is refused when it is used", async () => {
  await made(rest("POST", "", sshKey("older", keyOf("account.key"))));
  await platform.db.query(
    "update secrets set ssh = jsonb_set(ssh, '{userName}', $1::text::jsonb) where identifier = 'older'",
    [JSON.stringify("EXAMPLE\\")],
  );
  const place: RunPlace = {
    applicationId: accountId(),
    environmentId: null,
    production: true,
    names: { application: "p", environment: "e" },
  };
  const home: Place = { orgIdentifier: null, projectIdentifier: null };
  await assert.rejects(secretsOf(platform).resolveLogin(accountId(), { home, place }, named("account.older")), {
    code: "secret.bad_user_name",
    message:
      /^The userName of the SSH credential \[older\] must begin with .* and not end with \\\. Save the credential with another one\.$/,
  });
});

test("another secret under a referenced name is not sent until the credential is saved again", async () => {
  const text = (value: string) => ({
    secret: { type: "SecretText", name: "host_password", identifier: "host_password", spec: { value } },
  });
  const password = { credentialType: "Password", spec: { userName: "root", password: "account.host_password" } };
  await made(rest("POST", "", text("the first")));
  await made(rest("POST", "", sshKey("stays", password)));
  const place: RunPlace = {
    applicationId: accountId(),
    environmentId: null,
    production: true,
    names: { application: "p", environment: "e" },
  };
  const home: Place = { orgIdentifier: null, projectIdentifier: null };
  const read = async (): Promise<string> => {
    const { takes } = await secretsOf(platform).resolveLogin(accountId(), { home, place }, named("account.stays"));
    return Buffer.concat(
      (await Promise.all(takes.map(({ secret }) => Array.fromAsync(secret.read())))).flat(),
    ).toString();
  };
  assert.equal(await read(), "the first");
  await made(rest("PUT", "/host_password", text("rotated")));
  assert.equal(await read(), "rotated", "the same secret");
  await made(rest("DELETE", "/host_password?forceDelete=true"));
  await assert.rejects(read(), { code: "secret.bad_reference" });
  await made(rest("POST", "", text("another one")));
  const recreated = {
    code: "secret.recreated",
    message: "Secret 'account.host_password' was deleted and created again. Save the SSH credential 'stays' again.",
  };
  await assert.rejects(read(), recreated);
  await made(rest("PUT", "/stays", sshKey("stays", password)));
  assert.equal(await read(), "another one");
  // A credential that a former version of the server has saved meanwhile has no ids.
  await platform.db.query("update secrets set ssh = ssh - 'ids' where identifier = 'stays'");
  await assert.rejects(read(), recreated);
});

test("a secret of a login must have the type of its role when it is used", async () => {
  const login = {
    port: 22,
    userName: "root",
    auth: { kind: "key", key: { by: "reference", reference: "account.key" }, passphrase: null },
  } as const;
  const home: Place = { orgIdentifier: null, projectIdentifier: null };
  const settled = await requireLoginSecrets({ db: platform.db }, adminOf(platform), { home, login });
  assert.deepEqual(settled.auth, { kind: "key", key: "account.key", passphrase: null });
  assert.deepEqual(settled.ids, { "account.key": fromWire(ids["key"] ?? "") });
  await made(rest("POST", "", sshKey("changed", keyOf("account.key"))));
  await platform.db.query(
    "update secrets set ssh = jsonb_set(ssh, '{auth,key}', '\"account.password\"') where identifier = 'changed'",
  );
  const place: RunPlace = {
    applicationId: accountId(),
    environmentId: null,
    production: true,
    names: { application: "p", environment: "e" },
  };
  await assert.rejects(secretsOf(platform).resolveLogin(accountId(), { home, place }, named("account.changed")), {
    code: "secret.bad_reference",
  });
});

const accountId = (): Uuid => fromWire(platform.accountId) as Uuid;
/** As in an execution that was started before ids were stored. */
const named = (reference: string) => ({ reference, id: undefined, takes: undefined });
