/** API keys and tokens over REST: owners, permissions, and validity. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { JSON_TYPE, made } from "../../../test/support/contract.ts";
import { graphqlAs } from "../../../test/support/service-accounts.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";

let platform: TestPlatform;
let me: string;
before(async () => {
  platform = await startTestPlatform();
  me = (await platform.graphql(`{ userByName(name: "admin") { id } }`)).body.data.userByName.id;
});
after(() => platform?.stop());

const send = (method: string, path: string, body?: object, apiKey?: string): Promise<Answer> =>
  platform.send(method, `/ng/api/${path}`, {
    ...(body === undefined ? {} : { contentType: JSON_TYPE, body: JSON.stringify(body) }),
    ...(apiKey === undefined ? {} : { apiKey }),
  });
const mine = (): object => ({ apiKeyType: "USER", parentIdentifier: me });
const OWN = (): string => `apiKeyType=USER&parentIdentifier=${me}`;
const newKey = (identifier: string, more: object = {}): Promise<Answer> =>
  send("POST", "apikey", { ...mine(), identifier, name: identifier, ...more });
const newToken = (key: string, identifier: string, more: object = {}): Promise<Answer> =>
  send("POST", "token", { ...mine(), apiKeyIdentifier: key, identifier, name: identifier, ...more });
const works = async (apiKey: string): Promise<number> => (await graphqlAs(platform, apiKey)).status;

const codeOf = ({ status, body }: Answer): unknown[] => [status, body.code];

test("a user creates an API key with name, description and tags, and in it a token with an expiration date", async () => {
  const key = await made(newKey("laptop", { description: "At home", tags: { place: "home" } }));
  const home = { accountIdentifier: platform.accountId, orgIdentifier: null, projectIdentifier: null, ...mine() };
  const expected = { identifier: "laptop", name: "laptop", description: "At home", tags: { place: "home" }, ...home };
  assert.deepEqual(key, { ...expected, defaultTimeToExpireToken: null });
  const text: string = await made(
    newToken("laptop", "shell", { description: "d", tags: { a: "b" }, validTo: "12/31/2027" }),
  );
  assert.match(text, new RegExp(`^pat\\.${platform.accountId}\\.[\\w-]{22}\\.[\\w-]{43}$`));
  const page = await made(send("GET", `token/aggregate?${OWN()}&apiKeyIdentifier=laptop`));
  const now = platform.clock.now();
  assert.deepEqual(page.content, [
    {
      token: {
        identifier: "shell",
        name: "shell",
        description: "d",
        tags: { a: "b" },
        validFrom: now,
        validTo: Date.parse("2027-12-31T23:59:59.999Z"),
        scheduledExpireTime: null,
        valid: true,
        apiKeyIdentifier: "laptop",
        ...home,
        email: "admin@railhead.local",
        username: "admin",
      },
      expiryAt: Date.parse("2027-12-31T23:59:59.999Z"),
      createdAt: now,
      lastModifiedAt: now,
    },
  ]);
  assert.equal(await works(text), 200);
  const aggregate = { apiKey: key, createdAt: now, lastModifiedAt: now, tokensCount: 1 };
  assert.deepEqual(await made(send("GET", `apikey/aggregate/laptop?${OWN()}`)), aggregate);
  const all = await made(send("GET", `apikey/aggregate?${OWN()}&searchTerm=LAP`));
  assert.deepEqual([all.content, all.totalItems], [[aggregate], 1]);
  const listed: { identifier: string }[] = await made(send("GET", `apikey?${OWN()}`));
  assert.deepEqual(
    listed.map(({ identifier }) => identifier),
    ["first_start", "laptop"],
  );
  assert.deepEqual(await made(send("GET", `apikey?${OWN()}&identifiers=laptop&identifiers=none`)), [key]);
});

test("a token's text is in the response that created it and nowhere else", async () => {
  await made(newKey("once"));
  const text: string = await made(newToken("once", "t"));
  const secret = text.split(".").at(-1) ?? "";
  for (const path of [`apikey?${OWN()}`, `apikey/aggregate?${OWN()}`, `token/aggregate?${OWN()}&apiKeyIdentifier=once`])
    assert.equal((await send("GET", path)).text.includes(secret), false, path);
  const rows = await platform.db.query("select * from tokens");
  assert.equal(JSON.stringify(rows).includes(secret), false);
  const trail = await platform.db.query("select * from audit_entries");
  assert.equal(JSON.stringify(trail).includes(secret), false);
});

test("tokens survive renaming their key, and end at once when it is deleted", async () => {
  await made(newKey("going", { defaultTimeToExpireToken: 60_000 }));
  const text: string = await made(newToken("going", "t"));
  const changed = await made(
    send("PUT", "apikey/going", { ...mine(), identifier: "going", name: "Still here", tags: { a: "" } }),
  );
  assert.deepEqual([changed.name, changed.tags, changed.defaultTimeToExpireToken], ["Still here", { a: "" }, null]);
  assert.equal(await works(text), 200);
  assert.equal(await made(send("DELETE", `apikey/going?${OWN()}`)), true);
  assert.equal(await works(text), 401);
  assert.deepEqual(codeOf(await send("DELETE", `apikey/going?${OWN()}`)), [404, "ENTITY_NOT_FOUND"]);
  assert.deepEqual(codeOf(await send("GET", `apikey/aggregate/going?${OWN()}`)), [404, "ENTITY_NOT_FOUND"]);
  assert.deepEqual(codeOf(await newToken("going", "t")), [404, "ENTITY_NOT_FOUND"]);
});

test("a token with an end by date, by time or by its key answers EXPIRED_TOKEN after its end", async () => {
  const now = platform.clock.now();
  await made(newKey("ends", { defaultTimeToExpireToken: 5_000 }));
  const texts = {
    byKey: await made(newToken("ends", "by_key")),
    byMoment: await made(newToken("ends", "by_moment", { validTo: now + 5_000 })),
    byText: await made(newToken("ends", "by_text", { validTo: `${now + 5_000}` })),
    scheduled: await made(newToken("ends", "scheduled", { validTo: now + 90_000, scheduledExpireTime: now + 5_000 })),
  };
  platform.clock.advance(5_000);
  for (const [how, text] of Object.entries(texts)) assert.equal(await works(text), 200, how);
  platform.clock.advance(1);
  for (const [how, text] of Object.entries(texts)) {
    const rest = await platform.send("GET", "/ng/api/projects?orgIdentifier=default", { apiKey: text });
    assert.deepEqual(codeOf(rest), [401, "EXPIRED_TOKEN"], how);
    assert.equal((await graphqlAs(platform, text)).body.responseMessages[0].code, "EXPIRED_TOKEN", how);
    const guessed = `${text.slice(0, -4)}AAAA`;
    const stranger = await platform.send("GET", "/ng/api/projects?orgIdentifier=default", { apiKey: guessed });
    assert.deepEqual(codeOf(stranger), [401, "INVALID_TOKEN"], how);
  }
  const { content } = await made(send("GET", `token/aggregate?${OWN()}&apiKeyIdentifier=ends`));
  for (const { token, expiryAt } of content) assert.deepEqual([token.valid, expiryAt], [false, now + 5_000]);
  const late = await send("PUT", "token/by_key", {
    ...mine(),
    apiKeyIdentifier: "ends",
    identifier: "by_key",
    name: "x",
    validTo: platform.clock.now() + 60_000,
  });
  assert.equal(late.status, 402, "an ended token cannot be renewed");
});

test("a token that begins later is not valid yet", async () => {
  await made(newKey("later"));
  const text = await made(newToken("later", "t", { validFrom: platform.clock.now() + 2_000 }));
  assert.equal(await works(text), 401);
  platform.clock.advance(2_000);
  assert.equal(await works(text), 200);
});

test("invalid and past dates are refused with the expected format", async () => {
  await made(newKey("dates"));
  for (const field of ["validFrom", "validTo", "scheduledExpireTime"])
    for (const value of ["31/12/2027", "2027-12-31", "02/30/2028", "tomorrow", -1, 1.5, true, "1".repeat(40)]) {
      const answer = await newToken("dates", "t", { [field]: value });
      assert.equal(answer.status, 400, `${field} ${value}`);
      assert.match(answer.body.message, new RegExp(`${field}: takes a date as mm/dd/yyyy`), `${value}: ${answer.text}`);
    }
  const beyond = "is beyond the range of dates: the last moment is 8640000000000000, in epoch milliseconds";
  for (const field of ["validFrom", "validTo", "scheduledExpireTime"])
    for (const given of [8_640_000_000_000_001, "8640000000000001", "100000000000000000000"]) {
      const answer = await newToken("dates", "t", { [field]: given });
      assert.deepEqual(codeOf(answer), [400, "SCHEMA_VALIDATION_FAILED"]);
      assert.ok(
        answer.body.message.startsWith(`The document is not valid: ${field}: ${beyond}, at line 1`),
        answer.text,
      );
    }
  // A text is parsed before its field is known.
  const unkept = await newToken("dates", "t", { validTo: 1e20 });
  assert.deepEqual(codeOf(unkept), [400, "INVALID_YAML_ERROR"]);
  assert.match(
    unkept.body.message,
    /^Invalid JSON: validTo: The number is beyond 9007199254740991, so .* at line 1, column \d+\.$/,
  );
  const rotated = await send(
    "POST",
    `token/rotate/t?${OWN()}&apiKeyIdentifier=dates&rotateTimestamp=${"9".repeat(20)}`,
  );
  assert.deepEqual(
    [...codeOf(rotated), rotated.body.message],
    [400, "INVALID_REQUEST", `Query parameter rotateTimestamp ${beyond}.`],
  );
  for (const validTo of ["01/01/2001", 1_000, Math.floor(platform.clock.now() / 1_000)]) {
    const answer = await newToken("dates", "t", { validTo });
    assert.deepEqual([answer.status, answer.body.message], [400, "validTo lies in the past."]);
  }
  for (const defaultTimeToExpireToken of [0, -1, 1.5, 1e15, "30d"])
    assert.equal((await newKey("bad", { defaultTimeToExpireToken })).status, 400, `${defaultTimeToExpireToken}`);
  assert.deepEqual((await made(send("GET", `token/aggregate?${OWN()}&apiKeyIdentifier=dates`))).content, []);
});

test("a token is renamed and its end moved; omitted fields stay", async () => {
  await made(newKey("moving"));
  const now = platform.clock.now();
  const text = await made(newToken("moving", "t", { validTo: now + 60_000 }));
  const put = (more: object): Promise<Answer> =>
    send("PUT", "token/t", { ...mine(), apiKeyIdentifier: "moving", identifier: "t", name: "T", ...more });
  assert.equal((await made(put({ validTo: null }))).validTo, now + 60_000, "a null takes no end away");
  const shown = await made(put({ description: "d", validTo: now + 1_000 }));
  assert.deepEqual([shown.name, shown.description, shown.validTo, shown.valid], ["T", "d", now + 1_000, true]);
  assert.deepEqual((await made(put(shown))).validTo, now + 1_000, "what was read may be sent back");
  platform.clock.advance(1_001);
  assert.equal(await works(text), 401);
});

const rotate = (key: string, token: string, more = ""): Promise<Answer> =>
  send("POST", `token/rotate/${token}?${OWN()}&apiKeyIdentifier=${key}${more}`);

test("after a rotation the new token is valid, and the old one until rotateTimestamp", async () => {
  await made(newKey("ci"));
  const old = await made(newToken("ci", "build"));
  const now = platform.clock.now();
  const fresh = await made(rotate("ci", "build", `&rotateTimestamp=${now + 10_000}`));
  assert.notEqual(fresh, old);
  assert.deepEqual([await works(old), await works(fresh)], [200, 200]);
  const { content } = await made(send("GET", `token/aggregate?${OWN()}&apiKeyIdentifier=ci`));
  assert.deepEqual(
    content.map(
      ({
        token,
        expiryAt,
      }: {
        token: { identifier: string; scheduledExpireTime: number | null };
        expiryAt: number;
      }) => [token.identifier.replace(/[0-9a-f]{32}$/, "…"), token.scheduledExpireTime, expiryAt],
    ),
    [
      ["build", null, null],
      ["rotated_…", now + 10_000, now + 10_000],
    ],
  );
  platform.clock.advance(10_001);
  assert.deepEqual([await works(old), await works(fresh)], [401, 200]);
  const newest = await made(rotate("ci", "build"));
  assert.deepEqual([await works(fresh), await works(newest)], [401, 200], "without a time the old one ends at once");
});

test("a rotated token cannot be rotated or extended again; revoking the token ends all of them", async () => {
  await made(newKey("chain"));
  const first = await made(newToken("chain", "t"));
  const until = platform.clock.now() + 60_000;
  const second = await made(rotate("chain", "t", `&rotateTimestamp=${until}`));
  const third = await made(rotate("chain", "t", `&rotateTimestamp=${until}`));
  for (const text of [first, second, third]) assert.equal(await works(text), 200);
  const { content } = await made(send("GET", `token/aggregate?${OWN()}&apiKeyIdentifier=chain&searchTerm=rotated`));
  assert.equal(content.length, 2);
  const replaced = content[0].token;
  const again = await rotate("chain", replaced.identifier);
  assert.deepEqual([again.status, again.body.message.includes("Rotate [t] instead")], [402, true]);
  const putOff = { ...replaced, scheduledExpireTime: until + 1 };
  assert.equal((await send("PUT", `token/${replaced.identifier}`, putOff)).status, 400);
  const endless = { ...replaced, scheduledExpireTime: null, validTo: until + 1_000_000 };
  assert.equal((await made(send("PUT", `token/${replaced.identifier}`, endless))).scheduledExpireTime, until);
  const far = await rotate("chain", "t", `&rotateTimestamp=${platform.clock.now() + 91 * 86_400_000}`);
  assert.deepEqual(codeOf(far), [400, "INVALID_REQUEST"]);
  assert.equal((await rotate("chain", "t", "&rotateTimestamp=soon")).status, 400);
  assert.equal(await made(send("DELETE", `token/t?${OWN()}&apiKeyIdentifier=chain`)), true);
  for (const text of [first, second, third]) assert.equal(await works(text), 401);
});

test("two rotations at once run one after the other, and all tokens except the last have an end", async () => {
  await made(newKey("race"));
  const first = await made(newToken("race", "t"));
  const until = platform.clock.now() + 60_000;
  const texts = await Promise.all([1, 2, 3].map(() => made(rotate("race", "t", `&rotateTimestamp=${until}`))));
  assert.equal(new Set([first, ...texts]).size, 4);
  const { content } = await made(send("GET", `token/aggregate?${OWN()}&apiKeyIdentifier=race`));
  const ends: (number | null)[] = content.map(({ expiryAt }: { expiryAt: number | null }) => expiryAt);
  assert.equal(ends.filter((end) => end === null).length, 1, "never two that have no end");
  assert.equal(ends.filter((end) => end === until).length, 3);
});

test("a token of another user cannot be created, changed or rotated; administrators of users list and delete it", async () => {
  const viewer = await platform.addUser("_account_viewer");
  const their = (await graphqlAs(platform, viewer, "{ users { nodes { id name } } }")).body.data.users.nodes.find(
    ({ name }: { name: string }) => name.startsWith("user "),
  ).id;
  const theirs = { apiKeyType: "USER", parentIdentifier: their };
  const key = { ...theirs, identifier: "k", name: "k" };
  const unknown = { ...key, parentIdentifier: "AAAAAAAAAAAAAAAAAAAAAA" };
  const token = { ...theirs, apiKeyIdentifier: "test", identifier: "t", name: "t" };
  const refused = await send("POST", "apikey", key);
  assert.deepEqual(codeOf(refused), [403, "ACCESS_DENIED"]);
  assert.equal(
    (await send("POST", "apikey", unknown)).body.message,
    refused.body.message,
    "the answer does not reveal whether the user exists",
  );
  const query = `apiKeyType=USER&parentIdentifier=${their}`;
  for (const [method, path, body] of [
    ["PUT", "apikey/test", { ...key, identifier: "test" }],
    ["POST", "token", token],
    ["PUT", "token/test", { ...token, identifier: "test" }],
    ["POST", `token/rotate/test?${query}&apiKeyIdentifier=test`, undefined],
  ] as const)
    assert.deepEqual(codeOf(await send(method, path, body)), [403, "ACCESS_DENIED"], `${method} ${path}`);
  assert.equal((await made(send("GET", `apikey?${query}`))).length, 1);
  assert.equal((await made(send("GET", `token/aggregate?${query}&apiKeyIdentifier=test`))).totalItems, 1);

  // A user without the permission sees nothing of others.
  for (const path of [`apikey?${OWN()}`, `apikey/aggregate?${OWN()}`, `token/aggregate?${OWN()}&apiKeyIdentifier=ci`])
    assert.deepEqual(codeOf(await send("GET", path, undefined, viewer)), [403, "NG_ACCESS_DENIED"], path);
  for (const path of [`apikey/ci?${OWN()}`, `token/build?${OWN()}&apiKeyIdentifier=ci`])
    assert.deepEqual(codeOf(await send("DELETE", path, undefined, viewer)), [403, "NG_ACCESS_DENIED"], path);

  // A viewer has keys of their own nevertheless.
  assert.equal((await send("POST", "apikey", key, viewer)).status, 200);
  const text = await made(send("POST", "token", { ...token, apiKeyIdentifier: "k" }, viewer));
  assert.equal(await works(text), 200);
  assert.equal((await send("POST", "serviceaccount", { identifier: "x", name: "x" }, text)).status, 403);
  assert.equal(await made(send("DELETE", `token/t?${query}&apiKeyIdentifier=k`)), true);
  assert.equal(await works(text), 401);
});

test("an API key of a user belongs to the account and names its owner", async () => {
  const scoped = await newKey("scoped", { orgIdentifier: "default" });
  assert.deepEqual(codeOf(scoped), [400, "INVALID_REQUEST"]);
  assert.equal((await send("GET", "apikey?apiKeyType=USER&orgIdentifier=default")).status, 400);
  const unnamed = await made(send("POST", "apikey", { apiKeyType: "USER", identifier: "unnamed", name: "u" }));
  assert.equal(unnamed.parentIdentifier, me, "left out, it is the person who asks");
  assert.equal((await send("GET", "apikey")).status, 400);
  assert.equal((await send("GET", "apikey?apiKeyType=USERS")).status, 400);
  assert.equal((await send("GET", "apikey?apiKeyType=SERVICE_ACCOUNT")).status, 400);
  const other = await send("POST", "apikey?apiKeyType=SERVICE_ACCOUNT", { ...mine(), identifier: "x", name: "x" });
  assert.match(other.body.message, /contradicts itself: apiKeyType/);
  assert.match((await send("PUT", "apikey/a", { ...mine(), identifier: "b", name: "x" })).body.message, /contradicts/);
  const elsewhere = { ...mine(), identifier: "x", name: "x", accountIdentifier: "AAAAAAAAAAAAAAAAAAAAAA" };
  assert.equal((await send("POST", "apikey", elsewhere)).status, 403);
});

test("an identifier is unique among the keys of an owner and the tokens of a key", async () => {
  await made(newKey("twice"));
  assert.deepEqual(codeOf(await newKey("twice")), [400, "DUPLICATE_FIELD"]);
  await made(newToken("twice", "t"));
  assert.deepEqual(codeOf(await newToken("twice", "t")), [400, "DUPLICATE_FIELD"]);
});

test("the audit trail has each change, and the end of a token", async () => {
  await made(newKey("told"));
  await made(newToken("told", "t"));
  await made(rotate("told", "t"));
  await made(send("DELETE", `token/t?${OWN()}&apiKeyIdentifier=told`));
  await made(send("DELETE", `apikey/told?${OWN()}`));
  const rows = await platform.db.query<{ operation: string; resource_id: string }>(
    "select operation, resource_id from audit_entries where resource_id like '%/told%' order by id",
  );
  assert.deepEqual(
    rows.map(({ operation, resource_id }) => `${operation} ${resource_id.replace(me, "me")}`),
    [
      "api-key.create me/told",
      "token.create me/told/t",
      "token.rotate me/told/t",
      "token.delete me/told/t",
      "api-key.delete me/told",
    ],
  );
});
