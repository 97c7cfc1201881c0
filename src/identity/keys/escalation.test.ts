/** An actor cannot grant more than they hold, also not with a token of a service account that holds more. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { JSON_TYPE, made } from "../../../test/support/contract.ts";
import { assignServiceAccountRole, graphqlAs, serviceToken } from "../../../test/support/service-accounts.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { toWire, type Uuid } from "../../core/ids.ts";

const PERMISSIONS = ["core_serviceaccount_manageapikey", "core_serviceaccount_edit", "core_connector_view"];
const ALL = "_all_resources_including_child_scopes";

let platform: TestPlatform;
/** A token that may manage service accounts and their tokens everywhere and view connectors. */
let keeper: string;
before(async () => {
  platform = await startTestPlatform();
  keeper = await platform.addUser("_account_viewer");
  const [row] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  assert.ok(row);
  await platform.db.query("delete from role_assignments where principal_id = $1", [row.id]);
  await newRole("keeper", PERMISSIONS);
  await newRole("looker", ["core_connector_view"]);
  await made(assign({ identifier: toWire(row.id), type: "USER" }, "keeper"));
});
after(() => platform?.stop());

const send = (method: string, path: string, body?: object, apiKey?: string, on = platform): Promise<Answer> =>
  on.send(method, path, {
    ...(body === undefined ? {} : { contentType: JSON_TYPE, body: JSON.stringify(body) }),
    ...(apiKey === undefined ? {} : { apiKey }),
  });
const newRole = (identifier: string, permissions: readonly string[]): Promise<unknown> =>
  made(send("POST", "/authz/api/roles", { identifier, name: identifier, permissions }));
const assign = (principal: object, roleIdentifier: string, apiKey?: string): Promise<Answer> =>
  send("POST", "/authz/api/roleassignments", { principal, roleIdentifier, resourceGroupIdentifier: ALL }, apiKey);
const robot = (identifier: string): object => ({ identifier, type: "SERVICE_ACCOUNT" });

const owner = (parentIdentifier: string): object => ({ apiKeyType: "SERVICE_ACCOUNT", parentIdentifier });
const token = (of: string, more: object = {}): object => ({
  ...owner(of),
  apiKeyIdentifier: "k",
  identifier: "mine",
  name: "mine",
  ...more,
});
const mint = (of: string, apiKey?: string, on = platform): Promise<Answer> =>
  send("POST", "/ng/api/token", token(of), apiKey, on);
const rotate = (of: string, identifier: string, apiKey?: string): Promise<Answer> =>
  send(
    "POST",
    `/ng/api/token/rotate/${identifier}?apiKeyType=SERVICE_ACCOUNT&parentIdentifier=${of}&apiKeyIdentifier=k`,
    undefined,
    apiKey,
  );

/** Creates a service account with a key `k` and a token `t`. Returns the token's text. */
async function newRobot(identifier: string): Promise<string> {
  await made(send("POST", "/ng/api/serviceaccount", { identifier, name: identifier }));
  return serviceToken(platform, identifier);
}

function refused({ status, body, text }: Answer): void {
  assert.deepEqual([status, body.code], [403, "NG_ACCESS_DENIED"], text);
  assert.match(body.message, /^You cannot grant core_\w+: you do not hold it in this scope\.$/);
}

const tokensOf = async (): Promise<unknown> =>
  platform.db.query("select id, identifier, valid_from_at, valid_to_at from tokens order by id");

test("an administrator of keys cannot create or rotate tokens of a service account that holds more", async () => {
  const text = await newRobot("mighty");
  await assignServiceAccountRole(platform, "mighty", "_account_admin");
  const before = await tokensOf();
  refused(await mint("mighty", keeper));
  refused(await rotate("mighty", "t", keeper));
  assert.deepEqual(await tokensOf(), before);
  assert.equal((await graphqlAs(platform, text)).status, 200, "the old text still serves");
  // An actor with the same permissions can do both, and so can the service account itself.
  await made(mint("mighty"));
  await made(rotate("mighty", "mine", text));
});

test("an administrator of keys creates, rotates and extends tokens of a service account that holds no more", async () => {
  await newRobot("modest");
  await made(assign(robot("modest"), "looker"));
  await made(mint("modest", keeper));
  await made(rotate("modest", "mine", keeper));
  const validTo = platform.clock.now() + 1_000_000;
  await made(send("PUT", "/ng/api/token/mine", token("modest", { validTo }), keeper));
  await made(send("PUT", "/ng/api/token/mine", token("modest", { validTo: validTo + 1 }), keeper));
});

test("a token of a service account that holds more cannot be extended; shortening, renaming and revoking it are allowed", async () => {
  await newRobot("timed");
  const [from, validTo] = [platform.clock.now() + 1_000_000, platform.clock.now() + 2_000_000];
  await made(send("POST", "/ng/api/token", token("timed", { validFrom: from, validTo }), keeper));
  await assignServiceAccountRole(platform, "timed", "_account_admin");
  const change = (more: object): Promise<Answer> => send("PUT", "/ng/api/token/mine", token("timed", more), keeper);
  refused(await change({ validTo: validTo + 1 }));
  refused(await change({ validFrom: from - 1 }));
  await made(change({ name: "Renamed" }));
  await made(change({ validFrom: from + 1, validTo: validTo - 1 }));
  const query = "apiKeyType=SERVICE_ACCOUNT&parentIdentifier=timed&apiKeyIdentifier=k";
  await made(send("DELETE", `/ng/api/token/mine?${query}`, undefined, keeper));
});

test("roles that the actor does not hold cannot be assigned to a service account", async () => {
  await newRobot("given");
  refused(await assign(robot("given"), "_account_viewer", keeper));
  await made(assign(robot("given"), "looker", keeper));
});

test("a replica with outdated cached grants of a service account reads them again before it issues a token", async () => {
  const replica = await platform.replica();
  const text = await newRobot("risen");
  const look = (): Promise<Answer> => send("GET", "/ng/api/connectors/catalogue", undefined, text, replica);
  await look();
  // Written directly into the database, without a notification; the clock stands still, so the cache does not expire.
  await assignServiceAccountRole(
    { ...platform, clock: { ...platform.clock, advance: () => {} } },
    "risen",
    "_account_admin",
  );
  refused(await mint("risen", keeper, replica));
});

test("a role assignment and a new token at the same time are serialized, and no further token exists afterwards", async () => {
  for (let round = 0; round < 8; round += 1) {
    const name = `race_${round}`;
    await newRobot(name);
    const [, minted] = await Promise.all([made(assign(robot(name), "_account_viewer")), mint(name, keeper)]);
    if (minted.status !== 200) refused(minted);
    refused(await rotate(name, minted.status === 200 ? "mine" : "t", keeper));
    if (minted.status !== 200) refused(await mint(name, keeper));
  }
});
