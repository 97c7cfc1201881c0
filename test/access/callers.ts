/**
 * The callers of the access matrix, one per column. Callers that are refused everything come first, so that they
 * change nothing.
 */
import type { TestPlatform } from "../support/platform.ts";

export const CALLERS = [
  "no credential",
  "wrong credential",
  "another account",
  "another organization",
  "another project",
  "viewer",
  "executor",
  "project admin",
  "organization admin",
  "admin",
] as const;
export type CallerName = (typeof CALLERS)[number];

/** Returns the key of each caller; null sends none. */
export async function createCallers(platform: TestPlatform): Promise<Readonly<Record<CallerName, string | null>>> {
  const inShop = { orgIdentifier: "default", projectIdentifier: "shop" };
  const other = await platform.addAccount();
  return {
    "no credential": null,
    // Valid in form and account, with the id of an existing token and another secret.
    "wrong credential": platform.apiKey.replace(/[^.]+$/, "x".repeat(43)),
    "another account": other.apiKey,
    "another organization": await platform.addUser("_organization_admin", { orgIdentifier: "elsewhere" }),
    "another project": await platform.addUser("_project_admin", { ...inShop, projectIdentifier: "bank" }),
    viewer: await platform.addUser("_account_viewer"),
    executor: await platform.addUser("_pipeline_executor", inShop),
    "project admin": await platform.addUser("_project_admin", inShop),
    "organization admin": await platform.addUser("_organization_admin", { orgIdentifier: "default" }),
    admin: await platform.addUser("_account_admin"),
  };
}
