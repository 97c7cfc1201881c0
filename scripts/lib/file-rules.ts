/** Rules for single files beside the layers of scripts/import-rules.ts: imports, SQL, the order in a slice, sizes. */

/** Files and folders that may import `src/app.ts`, which depends on everything. */
export const mayImportApp: readonly string[] = ["src/main.ts", "scripts/", "test/support/"];

/**
 * Files and folders that may open database connections; other code receives a `Db`. The bare server of the benchmarks
 * must not use the platform's code. The test runner and test support create and drop databases.
 */
export const mayOpenConnections: readonly string[] = [
  "src/platform/db/",
  "bench/",
  "scripts/test.ts",
  "test/support/database.ts",
];

/** Files and folders that may hold SQL, besides `store.ts` and `store/` of each slice. */
export const mayWriteSql: readonly string[] = [
  "src/platform/db/",
  "delegate/isolation/step-id-store.ts",
  "bench/",
  "test/",
  "scripts/",
];

/**
 * The order inside a slice: a file imports files of its own level and of the levels before it. The file name
 * decides the level. Names do not distinguish nouns from operations; the ban on cycles orders them and the store.
 */
export const levels: readonly (readonly [level: string, names: RegExp])[] = [
  ["store, noun or operation", /^(?!(rest|graphql|socket)(\.ts$|\/)|index\.ts$)/],
  ["interface", /^(rest|graphql|socket)(\.ts$|\/)/],
  ["entry point", /^index\.ts$/],
];

/**
 * Files of a slice from which no chain of imports leads to its store. `noun` stands for a file such as
 * pipelines/pipeline.ts.
 */
export const pureNames: RegExp = /^(noun|wire|problems)\.ts$|^wire\//;
/** The store of a slice. */
export const storeNames: RegExp = /^store(\.ts$|\/)/;

/** Most lines of one file; tests and generated files have no limit. */
export const MAX_LINES = 320;
/** Most lines of all files in src/core together. */
export const MAX_CORE_LINES = 400;

/** Imports that break a rule for a reason. An entry that no import needs fails the test. */
export const exceptions: readonly { readonly from: string; readonly to: string; readonly because: string }[] = [
  {
    from: "bench/unprotected/credentials.ts",
    to: "src/identity/authentication/credentials.ts",
    because:
      "it replaces that module in the server without permission checks, and calls the original for the first request",
  },
  {
    from: "bench/unprotected/permits.ts",
    to: "src/access/grants/permits.ts",
    because: "it replaces that module in the server without permission checks, and exports the rest of the original",
  },
  ...["filters", "graphql-filters"].map((name) => ({
    from: `src/executions/wire/${name}.ts`,
    to: "src/executions/store/conditions.ts",
    because: "the filters of a request are conditions of the store, which have no type of their own",
  })),
];
