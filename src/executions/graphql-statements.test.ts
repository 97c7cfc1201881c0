/** The number of statements of a query does not depend on the number of nodes and aliases below its lists. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, createTargets, pipelineYaml, projectYaml } from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";

let platform: TestPlatform;
let statements: string[] = [];

before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => ({
      ...db,
      query: (text, values) => {
        statements.push(text);
        return db.query(text, values);
      },
    }),
  });
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  for (const name of ["one", "two", "three", "four"]) {
    await made(create.pipeline(platform, pipelineYaml(name)));
    await made(create.run(platform, name));
  }
});
after(() => platform?.stop());

const aliases = (field: string): string => Array.from({ length: 25 }, (_, at) => `a${at}: ${field}`).join(" ");
const BELOW = {
  pipeline: `... on PipelineExecution { pipeline { ${aliases("description")} } }`,
  application: `application { ${aliases("description")} }`,
  user: `cause { ... on ExecutedByUser { user { ${aliases("isEmailVerified")} } } }`,
  pipelines: "application { pipelines(limit: 1) { nodes { id } pageInfo { total hasMore } } }",
  groups: "cause { ... on ExecutedByUser { user { userGroups(limit: 1) { nodes { id } pageInfo { total } } } } }",
};

for (const [name, below] of Object.entries(BELOW))
  test(`${name} below a list: as many statements for four nodes as for one`, async () => {
    const count = async (limit: number): Promise<number> => {
      statements = [];
      const { body } = await platform.graphql(`{ executions(limit: ${limit}) { nodes { ${below} } } }`);
      assert.equal(body.errors, undefined, JSON.stringify(body.errors));
      assert.equal(body.data.executions.nodes.length, limit);
      return statements.filter((text) =>
        /from (pipelines|projects|users|service_accounts|unnest|user_groups) /.test(text),
      ).length;
    };
    const one = await count(1);
    assert.ok(one > 0);
    for (const _use of ["interpreted", "interpreted", "compiled"]) assert.equal(await count(4), one);
  });
