/** A service account for a directory, with only the permissions that SCIM clients need. */
import { JSON_TYPE, made } from "../contract.ts";
import { serviceToken } from "../service-accounts.ts";
import type { TestPlatform } from "../platform.ts";

const PERMISSIONS = ["user_view", "user_manage", "user_invite", "usergroup_view", "usergroup_manage"];

/** Creates the service account `identifier` with these permissions over the whole account and returns its token. */
export async function directoryToken(
  on: TestPlatform,
  identifier = "directory",
  permissions: readonly string[] = PERMISSIONS,
): Promise<string> {
  await made(
    on.send("POST", "/ng/api/serviceaccount", {
      contentType: JSON_TYPE,
      body: JSON.stringify({ identifier, name: identifier, email: "", accountIdentifier: on.accountId }),
    }),
  );
  const role = `for_${identifier}`;
  await on.db.query(
    `insert into roles (account_id, id, identifier, name, description, tags, permissions, scope_levels, created_at, updated_at)
     select account_id, gen_random_uuid(), $2, $2, '', '{}', $3, '{account}', 0, 0 from service_accounts where identifier = $1`,
    [identifier, role, permissions.map((name) => `core_${name}`)],
  );
  await on.db.query(
    `insert into role_assignments
       (account_id, id, identifier, principal_type, principal_id, principal_identifier, principal_level, role_identifier,
        role_level, role_id, resource_group_identifier, disabled, created_at, updated_at)
     select s.account_id, gen_random_uuid(), $2, 'SERVICE_ACCOUNT', s.id, s.identifier, 'account', r.identifier, 'account',
            r.id, '_all_resources_including_child_scopes', false, 0, 0
       from service_accounts s join roles r on r.account_id = s.account_id and r.identifier = $2 where s.identifier = $1`,
    [identifier, role],
  );
  return serviceToken(on, identifier);
}
