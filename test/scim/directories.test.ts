/** The request sequences of Okta and of Microsoft Entra ID, replayed with exact responses, at both addresses. */
import { test } from "node:test";
import { directoryToken } from "../support/clients/directory.ts";
import { startTestPlatform } from "../support/platform.ts";
import * as entra from "./entra.ts";
import * as okta from "./okta.ts";
import { replay, scimPath } from "./replay.ts";

for (const [name, sequences] of [
  ["Okta", okta],
  ["Microsoft Entra ID", entra],
] as const)
  test(`${name} provisions, renames, pushes a group, deactivates and reactivates`, async () => {
    const platform = await startTestPlatform();
    try {
      const token = await directoryToken(platform);
      const { accountId } = platform;
      for (const [base, contentType] of [
        [scimPath(platform), "application/scim+json"],
        [`/gateway/api/scim/account/${accountId}`, "application/json"],
      ] as const) {
        const kept = {};
        for (const part of ["provisioning", "renaming", "groupPush", "deactivation", "reactivation"] as const)
          await replay(platform, { token, base, contentType }, sequences[part], kept);
        // The other address starts without these users.
        await platform.db.query("delete from users where managed_externally");
      }
    } finally {
      await platform.stop();
    }
  });
