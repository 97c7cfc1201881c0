/** The operations on a real database: what is sealed, who may open it, and what a failure leaves. */
import assert from "node:assert/strict";
import { randomBytes, randomUUIDv7 } from "node:crypto";
import { after, before, test } from "node:test";
import { grantOf } from "../../test/support/access.ts";
import { create, made, projectYaml } from "../../test/support/contract.ts";
import { adminOf, dumpOf, secretsOf } from "../../test/support/secrets.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import type { Actor } from "../core/actor.ts";
import { fromWire, toWire, type Uuid } from "../core/ids.ts";
import { CHUNK, contentOf, type Content } from "../platform/crypto/chunks.ts";
import { createKeyRing } from "../platform/crypto/key-ring.ts";
import type { NewSecret } from "./create.ts";
import { ENTIRE_ACCOUNT, type EnvironmentFacts, type RunPlace } from "./scope/usage-scope.ts";

const VALUE = "s3cret-välue-of-a-test";
const HERE = { orgIdentifier: null, projectIdentifier: null };
const SHOP = { orgIdentifier: "default", projectIdentifier: "shop" };
const environments = new Map<Uuid, EnvironmentFacts>();

let platform: TestPlatform;
let admin: Actor;
let shopId: Uuid;
before(async () => {
  platform = await startTestPlatform();
  admin = adminOf(platform);
  await made(create.project(platform, projectYaml()));
  const { body } = await platform.graphql("{ applications { nodes { id } } }");
  shopId = fromWire(body.data.applications.nodes[0].id) as Uuid;
});
after(() => platform?.stop());

const secretsWith = (keys = platform.keys): ReturnType<typeof secretsOf> =>
  secretsOf(platform, { keys, maxContent: 4 * CHUNK }, environments);

type NewText = Extract<NewSecret, { readonly content: unknown }>;

const text = (identifier: string, more: Partial<NewText> = {}): NewText => ({
  ...HERE,
  identifier,
  name: identifier,
  description: "",
  tags: {},
  type: "ENCRYPTED_TEXT",
  scoping: {},
  content: contentOf(VALUE),
  ...more,
});
const paged = (bytes: Buffer): Content => ({ size: bytes.length, pages: [bytes] });
const code = (wanted: string) => (error: unknown) => (error as { code?: string }).code === wanted;
test("a text is sealed with a data key of its own and opens again", async () => {
  const secrets = secretsWith();
  for (const identifier of ["first", "second"]) await secrets.create(admin, text(identifier));
  assert.equal(await secrets.openText(admin, HERE, "first"), VALUE);
  assert.equal(await secrets.openText(admin, SHOP, "account.second"), VALUE);
  const rows = await platform.db.query(
    "select manager_id as manager, count(distinct wrapped_key) as keys, count(distinct key_id) as roots from secret_contents group by 1",
  );
  assert.deepEqual(rows, [{ manager: admin.accountId, keys: 2, roots: 1 }]);
  const everything = await dumpOf(platform);
  for (const form of [VALUE, Buffer.from(VALUE).toString("hex"), Buffer.from(VALUE).toString("base64").slice(0, -4)])
    assert.ok(!everything.includes(form), form);
});

test("a file of several chunks opens unchanged, and a changed file has only the new content", async () => {
  const secrets = secretsWith();
  const [old, now] = [randomBytes(3 * CHUNK + 5), randomBytes(CHUNK)];
  await secrets.create(admin, text("file", { type: "ENCRYPTED_FILE", content: paged(old) }));
  const read = async (): Promise<Buffer> =>
    Buffer.concat(await Array.fromAsync((await secrets.resolve(admin, HERE, "file")).read()));
  assert.ok((await read()).equals(old));
  const reading = (await secrets.resolve(admin, HERE, "file")).read();
  await reading.next();
  await secrets.update(
    admin,
    { by: "id", id: toWire((await secrets.get(admin, ref("file"))).id) },
    { changes: { content: paged(now) } },
  );
  assert.ok((await read()).equals(now));
  await assert.rejects(reading.next(), code("secret.replaced"));
  const rows = await platform.db.query(
    `select count(*) as chunks from secret_chunks k join secret_contents c on c.id = k.content_id
       join secrets s on s.id = c.secret_id where s.identifier = 'file'`,
  );
  assert.deepEqual(rows, [{ chunks: 1 }]);
  await assert.rejects(secrets.openText(admin, HERE, "file"), code("secret.not_text"));
});

test("a content with a missing chunk is unreadable", async () => {
  const secrets = secretsWith();
  const { id } = await secrets.create(
    admin,
    text("torn", { type: "ENCRYPTED_FILE", content: paged(randomBytes(2 * CHUNK + 5)) }),
  );
  const ofTorn = "content_id = (select c.id from secret_contents c where c.secret_id = $1)";
  for (const nth of [2, 1, 0]) {
    await platform.db.query(`delete from secret_chunks where ${ofTorn} and nth = $2`, [id, nth]);
    const reading = (await secrets.resolve(admin, HERE, "torn")).read();
    await assert.rejects(Array.fromAsync(reading), code("secret.unreadable"), `piece ${nth}`);
  }
});

const ref = (identifier: string) => ({ by: "identifier", key: { ...HERE, identifier } }) as const;

test("a sealed content that was moved to another secret does not open, nor one under another root key", async () => {
  const secrets = secretsWith();
  const [one, two] = [await secrets.create(admin, text("one")), await secrets.create(admin, text("two"))];
  const rows = await platform.db.query(
    "select id, secret_id as secret, wrapped_key as key from secret_contents where secret_id = any ($1::uuid[])",
    [[one.id, two.id]],
  );
  const [ofOne, ofTwo] = [one, two].map(({ id }) => rows.find((row) => row["secret"] === id));
  await assert.rejects(
    secretsWith(createKeyRing(randomBytes(32))).openText(admin, HERE, "one"),
    code("secret.unreadable"),
  );

  // An attacker with write access to the database swaps the owner of a content, then the data key, then the chunks.
  await platform.db.query("delete from secret_contents where secret_id = $1", [two.id]);
  await platform.db.query("update secret_contents set secret_id = $1 where secret_id = $2", [two.id, one.id]);
  await assert.rejects(secrets.openText(admin, HERE, "two"), code("secret.unreadable"));
  await platform.db.query("update secret_contents set secret_id = $1 where secret_id = $2", [one.id, two.id]);
  assert.equal(await secrets.openText(admin, HERE, "one"), VALUE);
  await platform.db.query("update secret_contents set wrapped_key = $1 where secret_id = $2", [ofTwo?.["key"], one.id]);
  await assert.rejects(secrets.openText(admin, HERE, "one"), code("secret.unreadable"));
  await platform.db.query("update secret_contents set wrapped_key = $1 where secret_id = $2", [ofOne?.["key"], one.id]);
  const three = await secrets.create(admin, text("three"));
  await platform.db.query(
    "update secret_chunks set sealed = (select sealed from secret_chunks where content_id = (select id from secret_contents where secret_id = $1)) where content_id = $2",
    [three.id, ofOne?.["id"]],
  );
  await assert.rejects(secrets.openText(admin, HERE, "one"), code("secret.unreadable"));
});

test("no description of a secret contains its content", async () => {
  const secrets = secretsWith();
  const secret = await secrets.create(admin, text("quiet"));
  const said = [secret, await secrets.get(admin, ref("quiet")), await secrets.require(admin, HERE, "quiet")];
  for (const each of said) assert.ok(!JSON.stringify(each).includes(VALUE));
});

test("a reference is resolved from its place and names a secret of the required type", async () => {
  const secrets = secretsWith();
  await secrets.create(admin, text("shared"));
  await secrets.create(admin, text("shared", { ...SHOP, content: contentOf("of the shop") }));
  assert.equal(await secrets.openText(admin, SHOP, "shared"), "of the shop");
  assert.equal((await secrets.require(admin, SHOP, "account.shared", "ENCRYPTED_TEXT")).orgIdentifier, null);
  await assert.rejects(secrets.require(admin, SHOP, "account.shared", "ENCRYPTED_FILE"), code("secret.bad_reference"));
  for (const reference of ["none", "org.shared", "account.none", "a b", ""]) {
    await assert.rejects(secrets.require(admin, SHOP, reference), code("secret.bad_reference"), reference);
    await assert.rejects(secrets.resolve(admin, SHOP, reference), code("secret.bad_reference"), reference);
  }
});

test("a viewer sees a secret but cannot use it; another account finds nothing", async () => {
  const secrets = secretsWith();
  await secrets.create(admin, text("mine"));
  const viewer = { ...admin, grants: [grantOf("_account_viewer")] } as Actor;
  await assert.rejects(secrets.require(viewer, HERE, "mine"), code("secret.taking_refused"));
  for (const refused of [
    () => secrets.resolve(viewer, HERE, "mine"),
    () => secrets.create(viewer, text("theirs")),
    () => secrets.update(viewer, ref("mine"), { changes: { name: "x" } }),
    () => secrets.delete(viewer, ref("mine")),
  ])
    await assert.rejects(refused(), code("access.not_permitted"));
  const stranger = { ...admin, accountId: fromWire((await platform.addAccount()).accountId) as Uuid } as Actor;
  await assert.rejects(secrets.require(stranger, HERE, "mine"), code("secret.bad_reference"));
  await assert.rejects(secrets.resolve(stranger, HERE, "mine"), code("secret.bad_reference"));
  const { id } = await secrets.get(admin, ref("mine"));
  for (const by of [ref("mine"), { by: "id", id: toWire(id) }, { by: "name", name: "mine" }] as const) {
    await assert.rejects(secrets.get(stranger, by), code("secret.not_found"));
    await assert.rejects(secrets.update(stranger, by, { changes: { name: "x" } }), code("secret.not_found"));
    await assert.rejects(secrets.delete(stranger, by), code("secret.not_found"));
  }
});

test("a run uses a secret only inside its scope; the error names the secret and not the value", async () => {
  const secrets = secretsWith();
  const production: RunPlace = {
    applicationId: shopId,
    environmentId: null,
    production: true,
    names: { application: "p", environment: "e" },
  };
  const elsewhere = { ...production, production: false };
  const usageScope = [{ ...ENTIRE_ACCOUNT[0], applicationId: shopId }] as typeof ENTIRE_ACCOUNT;
  await secrets.create(admin, text("live", { scoping: { usageScope } }));
  assert.equal(await secrets.openText(admin, HERE, "live", production), VALUE);
  await assert.rejects(secrets.openText(admin, HERE, "live", elsewhere), {
    message:
      "The secret [live] may not be used here: the run's environment [e] (not there) is outside its usage scope.",
  });
  await secrets.create(admin, text("inherits"));
  assert.equal(await secrets.openText(admin, HERE, "inherits", elsewhere), VALUE);
  await secrets.create(admin, text("account_only", { scoping: { scopedToAccount: true } }));
  await assert.rejects(secrets.resolve(admin, HERE, "account_only", production), code("secret.use_refused"));
  assert.equal(await secrets.openText(admin, HERE, "account_only"), VALUE);
  await platform.db.query("delete from secret_manager_scopes where environments = 'PRODUCTION_ENVIRONMENTS'");
  await assert.rejects(secrets.resolve(admin, HERE, "inherits", production), code("secret.use_refused"));
  await assert.rejects(
    secrets.create(admin, text("wider", { scoping: { usageScope } })),
    code("secret.beyond_manager"),
  );
  await platform.db.query(
    "insert into secret_manager_scopes (account_id, manager_id, nth, environments) values ($1, $1, 0, 'PRODUCTION_ENVIRONMENTS')",
    [admin.accountId],
  );
});

test("a scope names existing applications, and existing environments of these", async () => {
  const secrets = secretsWith();
  const environment = randomUUIDv7() as Uuid;
  const entry = (applicationId: Uuid | null, environmentId: Uuid | null) => ({
    usageScope: [
      { applicationId, environmentId, environments: environmentId ? null : ("PRODUCTION_ENVIRONMENTS" as const) },
    ],
  });
  const unknown = randomUUIDv7() as Uuid;
  for (const scoping of [entry(unknown, null), entry(null, environment)])
    await assert.rejects(secrets.create(admin, text("scoped", { scoping })), code("secret.bad_scope"));
  environments.set(environment, { applicationId: unknown, production: true });
  await assert.rejects(
    secrets.create(admin, text("scoped", { scoping: entry(shopId, environment) })),
    code("secret.bad_scope"),
  );
  environments.set(environment, { applicationId: shopId, production: true });
  await platform.db.query(
    `insert into environments (account_id, id, org_identifier, project_identifier, identifier, name, description, tags, type,
                               color, yaml, version, created_at, updated_at)
     select account_id, $2, org_identifier, identifier, 'live', 'Live', '', '{}', 'Production', '#0063F7', '', 1, 1, 1
       from projects where id = $1`,
    [shopId, environment],
  );
  const scoped = await secrets.create(admin, text("scoped", { scoping: entry(shopId, environment) }));
  assert.deepEqual(await secrets.get(admin, ref("scoped")), scoped);
  const many = Array.from({ length: 101 }, () => ENTIRE_ACCOUNT[0] as (typeof ENTIRE_ACCOUNT)[number]);
  await assert.rejects(
    secrets.create(admin, text("many", { scoping: { usageScope: many } })),
    code("secret.bad_scope"),
  );
});

test("a rejected request leaves no row, no chunk and no audit entry", async () => {
  const secrets = secretsWith();
  await secrets.create(admin, text("there", { name: "There" }));
  const before = await dumpOf(platform);
  const big = text("big", { type: "ENCRYPTED_FILE", content: paged(Buffer.alloc(4 * CHUNK + 1)) });
  await assert.rejects(secrets.create(admin, big), code("secret.too_large"));
  await assert.rejects(
    secrets.update(admin, ref("there"), { changes: { content: big.content } }),
    code("secret.too_large"),
  );
  await assert.rejects(secrets.create(admin, text("there")), code("secret.duplicate_identifier"));
  await assert.rejects(secrets.create(admin, text("other", { name: "There" })), code("secret.duplicate_name"));
  await assert.rejects(
    secrets.update(admin, ref("first"), { changes: { name: "There" } }),
    code("secret.duplicate_name"),
  );
  await assert.rejects(
    secrets.update(admin, ref("there"), { changes: { name: "x" }, version: 7 }),
    code("core.stale_version"),
  );
  await assert.rejects(secrets.delete(admin, ref("there"), { version: 7 }), code("core.stale_version"));
  await assert.rejects(
    secrets.update(admin, ref("there"), { changes: { manager: { by: "id", id: randomUUIDv7() as Uuid } } }),
    code("secret.other_manager"),
  );
  await assert.rejects(
    secrets.create(admin, text("x", { manager: { by: "id", id: randomUUIDv7() as Uuid } })),
    code("secret.no_manager"),
  );
  await assert.rejects(secrets.create(admin, text("x", { orgIdentifier: "none" })), code("project.no_organization"));
  assert.equal(await dumpOf(platform), before);
});

test("two concurrent changes do not overwrite each other", async () => {
  const secrets = secretsWith();
  const { id } = await secrets.create(admin, text("shared_by_two"));
  await Promise.all([
    secrets.update(admin, { by: "id", id: toWire(id) }, { changes: { description: "told" } }),
    secrets.update(admin, { by: "id", id: toWire(id) }, { changes: { scoping: { usageScope: ENTIRE_ACCOUNT } } }),
    secrets.update(admin, { by: "id", id: toWire(id) }, { changes: { content: contentOf("new") } }),
  ]);
  const secret = await secrets.get(admin, ref("shared_by_two"));
  assert.deepEqual([secret.description, secret.inheritsScope, secret.version], ["told", false, 4]);
  assert.deepEqual(secret.usageScope, ENTIRE_ACCOUNT);
  assert.equal(await secrets.openText(admin, HERE, "shared_by_two"), "new");
  await secrets.delete(admin, { by: "id", id: toWire(id) }, { version: 4 });
  await assert.rejects(secrets.get(admin, ref("shared_by_two")), code("secret.not_found"));
});
