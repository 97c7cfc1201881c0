import { missingDebianPackage } from "./debian.ts";

/** Returns the reason to skip the test, or undefined if there is kubectl. */
export const kubectlIsMissing = (): Promise<string | undefined> =>
  missingDebianPackage(["/usr/bin/kubectl"], ["kubernetes-client"]);
