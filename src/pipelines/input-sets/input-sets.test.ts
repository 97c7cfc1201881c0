/** Input sets and overlays over REST: saved, checked against the pipeline, listed, changed, deleted. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import {
  create,
  inputSetYaml,
  JSON_TYPE,
  made,
  createTargets,
  overlayYaml,
  pipelineYaml,
  projectYaml,
  SCOPE,
  YAML,
} from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";

const OPEN = `  variables:
    - { name: who, type: String, value: "<+input>.allowedValues(world,moon,mars)" }
    - { name: count, type: Number, value: "<+input>.default(1)" }
    - { name: fixed, type: String, value: as it is }
`;
const openYaml = (identifier: string): string => pipelineYaml(identifier, "<+input>.default(none)", OPEN);
const given = (...variables: readonly string[]): string => `    variables: [${variables.join(", ")}]\n`;
const WORLD = given("{ name: who, type: String, value: world }");

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, openYaml("open")));
});
after(() => platform?.stop());

const BASE = "/pipeline/api/inputSets";
type How = { readonly version?: number; readonly type?: string; readonly pipeline?: string; readonly apiKey?: string };
function ask(method: string, path: string, body?: string, how: How = {}): Promise<Answer> {
  const { version, type = YAML, pipeline = "open", apiKey } = how;
  return platform.send(
    method,
    `${BASE}${path}${path.includes("?") ? "&" : "?"}${SCOPE}&pipelineIdentifier=${pipeline}`,
    {
      ...(body === undefined ? {} : { body, contentType: type }),
      ...(version === undefined ? {} : { headers: { "if-match": String(version) } }),
      ...(apiKey === undefined ? {} : { apiKey }),
    },
  );
}
const auditOf = (id: string): Promise<unknown[]> =>
  platform.db.query(
    "select operation, resource_type, project_identifier from audit_entries where resource_id = $1 order by id",
    [id],
  );
const refused = async (answer: Promise<Answer>): Promise<[number, string, string]> => {
  const { status, body } = await answer;
  return [status, body.code, body.message];
};
const faultsOf = async (answer: Promise<Answer>): Promise<unknown[]> => {
  const { status, body, text } = await answer;
  assert.equal(status, 400, text);
  return body.metadata.schemaErrors.map(({ fqn, line, column }: Record<string, unknown>) => [fqn, line, column]);
};

test("an input set: every field of the answer, kept as it was sent, read back the same", async () => {
  const yaml = `# kept\n${inputSetYaml("open", "full", WORLD, "  description: D\n  tags: { a: b }\n")}`;
  const set = await made(create.inputSet(platform, "open", yaml));
  assert.deepEqual(set, {
    accountId: platform.accountId,
    orgIdentifier: "default",
    projectIdentifier: "shop",
    pipelineIdentifier: "open",
    identifier: "full",
    name: "full",
    description: "D",
    tags: { a: "b" },
    isOutdated: false,
    isErrorResponse: false,
    version: 1,
    gitDetails: { objectId: null, branch: null, repoIdentifier: null, rootFolder: null, filePath: null },
    entityValidityDetails: { valid: true, invalidYaml: null },
    inputSetYaml: yaml,
    inputSetErrorWrapper: null,
  });
  assert.deepEqual(await made(ask("GET", "/full")), set);
  const json = JSON.stringify({ inputSet: { name: "J", identifier: "as_json", pipeline: { identifier: "open" } } });
  const fromJson = await made(create.inputSet(platform, "open", json, JSON_TYPE));
  assert.deepEqual(parse(fromJson.inputSetYaml), JSON.parse(json));
  assert.deepEqual(await auditOf("open/full"), [
    { operation: "input_set.create", resource_type: "INPUT_SET", project_identifier: "shop" },
  ]);
});

test("values have to be those of runtime inputs and to fit them: path, line and column of each fault", async () => {
  const save = (text: string, more = ""): Promise<Answer> =>
    create.inputSet(platform, "open", inputSetYaml("open", "bad", text, more));
  const variables = (text: string): string => `    variables:\n      - ${text}\n`;
  const at = "pipeline.variables[0].value";
  for (const [text, fault] of [
    ["{ name: fixed, value: other }", [at, 9, 31]],
    ["{ name: who, value: venus }", [at, 9, 29]],
    ["{ name: nobody, value: x }", ["pipeline.variables[0]", 9, 9]],
    ["{ name: who, extra: 1 }", ["pipeline.variables[0].extra", 9, 22]],
  ] as const)
    assert.deepEqual(await faultsOf(save(variables(text))), [fault], text);
  // The shape of the field is that of the pipeline, whose second variable is a number.
  assert.deepEqual(await faultsOf(save(variables("{ name: count, value: many }"))), [
    ["pipeline.variables[1].value", 9, 31],
  ]);
  assert.deepEqual(await faultsOf(save("    bogus: 1\n")), [["pipeline.bogus", 8, 5]]);
  assert.deepEqual(await faultsOf(save(WORLD, "  bogus: 1\n")), [["inputSet.bogus", 6, 3]]);
  assert.deepEqual(await faultsOf(create.inputSet(platform, "open", inputSetYaml("other", "bad"))), [
    ["pipeline.identifier", 7, 17],
  ]);
  const elsewhere = inputSetYaml("open", "bad").replace("projectIdentifier: shop", "projectIdentifier: other");
  assert.deepEqual(await faultsOf(create.inputSet(platform, "open", elsewhere)), [
    ["inputSet.projectIdentifier", 5, 22],
  ]);
  assert.deepEqual(await refused(create.inputSet(platform, "open", "inputSet: [")).then((one) => one.slice(0, 2)), [
    400,
    "INVALID_YAML_ERROR",
  ]);
  assert.equal((await ask("GET", "/bad")).status, 404, "nothing of it is saved");
});

test("an identifier is one set of its pipeline, whichever kind it is", async () => {
  await made(create.pipeline(platform, openYaml("second")));
  await made(create.inputSet(platform, "open", inputSetYaml("open", "once")));
  const again = refused(create.inputSet(platform, "open", inputSetYaml("open", "once")));
  const message = "An input set or overlay with identifier [once] already exists for pipeline [open].";
  assert.deepEqual(await again, [400, "DUPLICATE_FIELD", message]);
  assert.deepEqual(await refused(create.overlay(platform, "open", overlayYaml("once", "full"))), [
    400,
    "DUPLICATE_FIELD",
    message,
  ]);
  await made(create.inputSet(platform, "second", inputSetYaml("second", "once")));
  assert.deepEqual(await refused(create.inputSet(platform, "none", inputSetYaml("none", "x"))), [
    404,
    "ENTITY_NOT_FOUND",
    "Pipeline with identifier [none] not found in project [shop].",
  ]);
});

test("an overlay lists input sets of its pipeline, each once", async () => {
  const overlay = await made(create.overlay(platform, "open", overlayYaml("over", "once, full")));
  const { accountId: _, gitDetails: _g, entityValidityDetails: _e, ...rest } = overlay;
  assert.deepEqual(rest, {
    orgIdentifier: "default",
    projectIdentifier: "shop",
    pipelineIdentifier: "open",
    identifier: "over",
    name: "over",
    description: "",
    tags: {},
    isOutdated: false,
    isErrorResponse: false,
    version: 1,
    overlayInputSetYaml: overlayYaml("over", "once, full"),
    inputSetReferences: ["once", "full"],
    invalidInputSetReferences: {},
  });
  assert.deepEqual(await made(ask("GET", "/overlay/over")), overlay);
  const save = (references: string): Promise<Answer> =>
    create.overlay(platform, "open", overlayYaml("bad", references));
  const path = (index: number): string => `overlayInputSet.inputSetReferences[${index}]`;
  assert.deepEqual(await faultsOf(save("full, none, over")), [
    [path(1), 4, 30],
    [path(2), 4, 36],
  ]);
  assert.deepEqual(await faultsOf(save("full, full")), [[path(1), 4, 30]]);
  assert.equal((await save("")).status, 400);
  assert.equal((await save(Array.from({ length: 21 }, (_v, n) => `s${n}`).join(", "))).status, 400);
  const other = overlayYaml("bad", "full").replace("  name", "  pipelineIdentifier: second\n  name");
  assert.deepEqual(await faultsOf(create.overlay(platform, "open", other)), [
    ["overlayInputSet.pipelineIdentifier", 2, 23],
  ]);
  // Each kind has its own address.
  assert.equal((await ask("GET", "/over")).status, 404);
  assert.equal((await ask("GET", "/overlay/full")).status, 404);
  assert.equal((await ask("PUT", "/over", inputSetYaml("open", "over"))).status, 404);
});

test("a replacement needs the version that was read; of several writers one wins", async () => {
  const yaml = inputSetYaml("open", "once", WORLD);
  assert.equal((await made(ask("PUT", "/once", yaml, { version: 1 }))).version, 2);
  assert.deepEqual(await refused(ask("PUT", "/once", yaml, { version: 1 })), [
    402,
    "OPTIMISTIC_LOCKING_EXCEPTION",
    "Input set [once] has been changed meanwhile: it is at version 2, the request is for version 1.",
  ]);
  const raced = await Promise.all([1, 2, 3].map(() => ask("PUT", "/once", yaml, { version: 2 })));
  assert.deepEqual(
    raced.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 402, 402],
  );
  assert.equal((await ask("GET", "/once")).headers.get("etag"), '"3"');
  assert.equal((await made(ask("PUT", "/once", yaml))).version, 4);
  assert.deepEqual(await faultsOf(ask("PUT", "/once", inputSetYaml("open", "other"))), [
    ["inputSet.identifier", 3, 15],
  ]);
  assert.deepEqual(await refused(ask("PUT", "/none", inputSetYaml("open", "none"))), [
    404,
    "ENTITY_NOT_FOUND",
    "Input set with identifier [none] not found for pipeline [open].",
  ]);
  const overlay = await made(ask("PUT", "/overlay/over", overlayYaml("over", "full"), { version: 1 }));
  assert.deepEqual([overlay.version, overlay.inputSetReferences], [2, ["full"]]);
  const operations = (await auditOf("open/once")).map((one) => (one as { operation: string }).operation);
  assert.deepEqual(operations, ["input_set.create", ...Array(3).fill("input_set.update")]);
});

test("the list: by identifier, by kind, by a part of the name, in pages of at most 100", async () => {
  const list = async (query: string) => made(ask("GET", `?${query}`));
  const names = async (query: string) =>
    (await list(query)).content.map(({ identifier }: { identifier: string }) => identifier);
  assert.deepEqual(await names(""), ["as_json", "full", "once", "over"]);
  assert.deepEqual(await names("inputSetType=ALL&searchTerm=O"), ["as_json", "once", "over"]);
  assert.deepEqual(await names("inputSetType=INPUT_SET"), ["as_json", "full", "once"]);
  assert.deepEqual(await names("inputSetType=OVERLAY_INPUT_SET"), ["over"]);
  assert.deepEqual(await names("searchTerm=%25"), []);
  assert.deepEqual(await names("size=3&page=1"), ["over"]);
  const { content, ...page } = await list("pageSize=1&pageIndex=1");
  assert.deepEqual(page, {
    totalPages: 4,
    totalItems: 4,
    pageItemCount: 1,
    pageSize: 1,
    pageIndex: 1,
    empty: false,
    pageToken: null,
  });
  const { createdAt, lastUpdatedAt, gitDetails: _, entityValidityDetails: _e, ...summary } = content[0];
  assert.ok(createdAt === platform.clock.now() && lastUpdatedAt === createdAt);
  assert.deepEqual(summary, {
    identifier: "full",
    name: "full",
    pipelineIdentifier: "open",
    description: "D",
    inputSetType: "INPUT_SET",
    tags: { a: "b" },
    version: 1,
    isOutdated: false,
    inputSetErrorDetails: null,
    overlaySetErrorDetails: null,
    modules: ["CD", "PMS"],
  });
  for (const query of ["size=101", "size=-1", "page=x", "inputSetType=other", "searchTerm=a&searchTerm=b"])
    assert.equal((await ask("GET", `?${query}`)).status, 400, query);
  assert.equal((await ask("GET", "", undefined, { pipeline: "none" })).status, 404);
});

test("one that an overlay lists stays; deleting answers true once", async () => {
  assert.deepEqual(await refused(ask("DELETE", "/full")), [
    402,
    "ENTITY_REFERENCE_EXCEPTION",
    "Input set [full] is used by the overlay [over] and cannot be deleted.",
  ]);
  assert.equal((await ask("DELETE", "/over", undefined, { version: 1 })).status, 402);
  assert.equal(await made(ask("DELETE", "/over", undefined, { version: 2 })), true);
  assert.equal(await made(ask("DELETE", "/full")), true);
  assert.equal((await ask("DELETE", "/full")).status, 404);
  assert.equal((await auditOf("open/full")).length, 2);
});

test("an overlay and the deletion of what it lists: one of them is refused, never both done", async () => {
  for (let round = 0; round < 8; round += 1) {
    await made(create.inputSet(platform, "open", inputSetYaml("open", `m${round}`)));
    const [overlay, removed] = await Promise.all([
      create.overlay(platform, "open", overlayYaml(`o${round}`, `m${round}`)),
      ask("DELETE", `/m${round}`),
    ]);
    assert.deepEqual(
      [overlay.status, removed.status].toSorted((a, b) => a - b),
      overlay.status === 200 ? [200, 402] : [200, 400],
    );
  }
});

test("of a deleted pipeline nothing is left to see; a new one of its name begins without", async () => {
  assert.equal((await made(ask("GET", "/once", undefined, { pipeline: "second" }))).identifier, "once");
  await made(platform.send("DELETE", `/pipeline/api/pipelines/second?${SCOPE}`));
  assert.equal((await ask("GET", "/once", undefined, { pipeline: "second" })).status, 404);
  await made(create.pipeline(platform, openYaml("second")));
  assert.equal((await ask("GET", "/once", undefined, { pipeline: "second" })).status, 404);
  assert.deepEqual((await made(ask("GET", "", undefined, { pipeline: "second" }))).content, []);
});

test("whoever may only look cannot save or delete; another account sees nothing", async () => {
  const viewer = await platform.addUser("_account_viewer");
  for (const [method, path, body, permission] of [
    ["POST", "", inputSetYaml("open", "v"), "core_inputset_edit"],
    ["POST", "/overlay", overlayYaml("v", "once"), "core_inputset_edit"],
    ["PUT", "/once", inputSetYaml("open", "once"), "core_inputset_edit"],
    ["DELETE", "/once", undefined, "core_inputset_delete"],
  ] as const) {
    const { status, body: refusal } = await ask(method, path, body, { apiKey: viewer });
    assert.deepEqual([status, refusal.responseMessages[0].message], [403, `Missing permission ${permission}.`], path);
  }
  await made(ask("GET", "/once", undefined, { apiKey: viewer }));
  const other = await platform.addAccount();
  const answer = await platform.send("GET", `${BASE}/once?${SCOPE}&pipelineIdentifier=open`, {
    apiKey: other.apiKey,
    account: other.accountId,
  });
  assert.equal(answer.status, 404);
});
