/** Service accounts with tokens. */
import assert from "node:assert/strict";
import { JSON_TYPE, made } from "./contract.ts";
import type { BuiltIn } from "./access.ts";
import type { Answer, TestPlatform } from "./platform.ts";

/** Sends a GraphQL request with an API key. */
export const graphqlAs = (
  on: TestPlatform,
  apiKey: string,
  query = "{ applications { nodes { name } } }",
): Promise<Answer> =>
  on.send("POST", `/gateway/api/graphql?accountId=${on.accountId}`, {
    apiKey,
    contentType: JSON_TYPE,
    body: JSON.stringify({ query }),
  });

/**
 * Creates an API key with a token for an existing service account. `scope` is the query string of the account's
 * scope.
 */
export async function serviceToken(on: TestPlatform, identifier: string, scope = ""): Promise<string> {
  const post = (path: string, body: object): Promise<string> =>
    made(on.send("POST", `/ng/api/${path}?${scope}`, { contentType: JSON_TYPE, body: JSON.stringify(body) }));
  const owner = { apiKeyType: "SERVICE_ACCOUNT", parentIdentifier: identifier };
  await post("apikey", { ...owner, identifier: "k", name: "k" });
  return post("token", { ...owner, apiKeyIdentifier: "k", identifier: "t", name: "t" });
}

/** Gives a service account of the account a role over everything. */
export async function assignServiceAccountRole(on: TestPlatform, identifier: string, role: BuiltIn): Promise<void> {
  const rows = await on.db.query(
    `insert into role_assignments
       (account_id, id, identifier, principal_type, principal_id, principal_identifier, principal_level, role_identifier,
        role_level, resource_group_identifier, disabled, created_at, updated_at)
     select account_id, gen_random_uuid(), 'role_assignment_' || identifier, 'SERVICE_ACCOUNT', id, identifier, 'account', $2,
            'account', '_all_resources_including_child_scopes', false, created_at, created_at
       from service_accounts where identifier = $1 and org_identifier is null returning id`,
    [identifier, role],
  );
  assert.equal(rows.length, 1, `there is one service account ${identifier}`);
  // Grants are cached for one second.
  on.clock.advance(1_000);
}
