/**
 * Who sends a request is found out before its body comes, and a body may take a minute. Whoever has lost credential or
 * rights by the time it is there does not act by them: attack class 28.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, projectYaml } from "../../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../../test/support/platform.ts";
import { rawRequest, type RawAnswer } from "../../../../test/support/clients/raw-http.ts";

let platform: TestPlatform;
/** Statements that have looked for what somebody may do, which is the last thing to be found out of who sends a request. */
let looked = 0;
before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => ({
      ...db,
      query: async (text, values) => {
        const rows = await db.query(text, values);
        if (text.includes("from role_assignments a")) looked += 1;
        return rows as never;
      },
    }),
  });
});
after(() => platform?.stop());

type Loss = (userId: string) => Promise<unknown>;
const losses: Readonly<Record<string, { readonly lose: Loss; readonly status: number }>> = {
  "the credential": {
    lose: (id) => platform.db.query("update users set active = false where id = $1", [id]),
    status: 401,
  },
  "the role": {
    lose: (id) => platform.db.query("delete from role_assignments where principal_id = $1", [id]),
    status: 403,
  },
};

const BOUNDARY = "between";
const part = (name: string, text: string): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${name === "file" ? '; filename="k"' : ""}\r\n\r\n${text}\r\n`;
const form = (...parts: readonly string[]): string => `${parts.join("")}--${BOUNDARY}--\r\n`;
const MUTATION = "mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { id } } }";

/** Each makes something of a name; where it would stand. */
type Case = { readonly path: string; readonly type: string; readonly body: (name: string) => string };
const GRAPHQL = "/gateway/api/graphql?";
const cases: Readonly<Record<string, Case>> = {
  "a document over REST": {
    path: "/gateway/ng/api/projects?orgIdentifier=default&",
    type: "application/yaml",
    body: (name) => projectYaml(name),
  },
  "a form over REST": {
    path: "/gateway/ng/api/v2/secrets/files?",
    type: `multipart/form-data; boundary=${BOUNDARY}`,
    body: (name) => {
      const spec = { secretManagerIdentifier: "platformSecretManager" };
      const secret = { type: "SecretFile", name, identifier: name, spec };
      return form(part("spec", JSON.stringify({ secret })), part("file", "content"));
    },
  },
  "JSON over GraphQL": {
    path: GRAPHQL,
    type: "application/json",
    body: (name) => JSON.stringify({ query: MUTATION, variables: { input: textNamed(name) } }),
  },
  "a form over GraphQL": {
    path: GRAPHQL,
    type: `multipart/form-data; boundary=${BOUNDARY}`,
    body: (name) => {
      const input = { secretType: "ENCRYPTED_FILE", encryptedFile: { name } };
      return form(part("query", JSON.stringify({ query: MUTATION, variables: { input } })), part("file", "content"));
    },
  },
};
const textNamed = (name: string) => ({
  secretType: "ENCRYPTED_TEXT",
  encryptedText: { name, value: "v", secretManagerId: platform.accountId },
});

/** Sends the half of the body, lets something happen once the server knows who sends it, and then the rest. */
function slowly(
  { path, type, body }: Case,
  name: string,
  key: string,
  meanwhile: () => Promise<unknown>,
): Promise<RawAnswer> {
  const text = body(name);
  const head = [
    `POST ${path}accountIdentifier=${platform.accountId}&accountId=${platform.accountId} HTTP/1.1`,
    ...["host: test", `x-api-key: ${key}`, `content-type: ${type}`, `content-length: ${Buffer.byteLength(text)}`],
  ];
  const before = looked;
  return rawRequest(
    platform.url,
    head,
    (async function* () {
      yield text.slice(0, 20);
      await eventually(async () => {
        await platform.db.query("select 1");
        return looked > before ? true : undefined;
      });
      await meanwhile();
      yield text.slice(20);
    })(),
  );
}

let nth = 0;

test("whoever loses the credential or the role while a body is on its way changes nothing, however it is sent", async () => {
  for (const [what, sent] of Object.entries(cases))
    for (const [lost, { lose, status }] of Object.entries(losses)) {
      const key = await platform.addUser("_account_admin");
      const [user] = await platform.db.query<{ id: string }>("select id from users order by id desc limit 1");
      const name = `made_${(nth += 1)}`;
      const answer = await slowly(sent, name, key, async () => {
        await lose(user?.id ?? "");
        platform.clock.advance(1_000);
      });
      // GraphQL says what is not permitted in an answer of its own.
      const isTold = answer.status === 200 && status === 403 && /not authorized|permission/i.test(answer.body);
      assert.ok(isTold || answer.status === status, `${what}, ${lost}: ${answer.status} ${answer.body}`);
      const made = await platform.db.query(
        "select 1 from projects where identifier = $1 union all select 1 from secrets where identifier = $1",
        [name],
      );
      assert.deepEqual(made, [], `${what}, ${lost}`);
    }
});

test("whoever loses nothing is served, however long a body takes", async () => {
  for (const [what, sent] of Object.entries(cases)) {
    const key = await platform.addUser("_account_admin");
    const name = `kept_${(nth += 1)}`;
    const answer = await slowly(sent, name, key, async () => platform.clock.advance(30_000));
    assert.equal(answer.status, 200, `${what}: ${answer.body}`);
    assert.doesNotMatch(answer.body, /"errors"/, what);
  }
});
