import { readFileSync } from "node:fs";
import path from "node:path";
import { readCode, root } from "../lib/files.ts";
import type { Generator } from "../lib/generated.ts";
import { declaredProblems } from "../lib/problem-tables.ts";
import { openApi } from "../openapi/document.ts";

/** The REST interface as clients see it. The import is dynamic, because it loads the whole application. */
export const openapi: Generator = {
  file: "api/openapi.json",
  make: async () => {
    const { describePlatform } = await import("../lib/described.ts");
    const { routes } = await describePlatform();
    const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { version: string };
    return `${JSON.stringify(openApi(routes, declaredProblems(readCode()), version), null, 2)}\n`;
  },
};
