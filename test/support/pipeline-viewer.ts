import { JSON_TYPE, made } from "./contract.ts";
import type { TestPlatform } from "./platform.ts";
import { SCOPE } from "./runs.ts";
import { serviceToken } from "./service-accounts.ts";

/** Adds a service account that may see one pipeline of the project `p`. Returns an API key. */
export async function addPipelineViewer(platform: TestPlatform, pipeline: string): Promise<string> {
  const identifier = `sees_${pipeline}`;
  const post = (path: string, body: object): Promise<unknown> =>
    made(platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body) }));
  const place = { orgIdentifier: "default", projectIdentifier: "p" };
  await post("/ng/api/serviceaccount", { identifier, name: identifier });
  const resources = [{ resourceType: "PIPELINE", identifiers: [pipeline] }, { resourceType: "PROJECT" }];
  await post(`/authz/api/v2/resourcegroup?${SCOPE}`, {
    resourceGroup: { identifier, name: identifier, ...place, resourceFilter: { resources } },
  });
  await post(`/authz/api/roleassignments?${SCOPE}`, {
    principal: { identifier, type: "SERVICE_ACCOUNT", scopeLevel: "account" },
    ...{ roleIdentifier: "_project_viewer", resourceGroupIdentifier: identifier },
  });
  const apiKey = await serviceToken(platform, identifier);
  // Permissions of a second ago may still be cached.
  platform.clock.advance(1_000);
  return apiKey;
}
