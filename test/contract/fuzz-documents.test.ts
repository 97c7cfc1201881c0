/**
 * Saves generated pipelines. Each is saved, and can then be read back, validated and started, or it is refused with a
 * place. See docs/how-to/fuzz.md.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parse } from "yaml";
import { JSON_TYPE, YAML } from "../support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../support/platform.ts";
import { createPipelines, SCOPE } from "../support/runs.ts";
import { chanceFrom } from "./fuzz/chance.ts";
import { documentFor, type GeneratedDocument } from "./fuzz/documents.ts";
import { watchLog, watchUncaught } from "./fuzz/watch.ts";

/** Small enough for a busy machine and the time limit of a test. */
const ROUND = 250;
const total = Number(process.env["FUZZ_DOCUMENTS"] ?? 500);
const first = Number(process.env["FUZZ_SEED"] ?? 1);
const PIPELINES = "/pipeline/api/pipelines";
const NAMED = { serviceRef: "s", environmentRef: "e" };
/** Refusals of what a document says, which name its place. */
const WITH_PLACE = new Set(["SCHEMA_VALIDATION_FAILED", "INVALID_YAML_ERROR"]);

for (let done = 0, seed = first; done < total; done += ROUND, seed += 1)
  test(`${Math.min(ROUND, total - done)} documents, FUZZ_SEED=${seed}`, async (t) => {
    const [log, uncaught] = [watchLog(), watchUncaught()];
    const platform = await startTestPlatform({ logTo: log.to });
    const counts = new Map<string, number>();
    let nth = 0;
    try {
      await createPipelines(platform);
      await fc.assert(
        fc.asyncProperty(fc.gen(), async (draw) => {
          const document = documentFor(chanceFrom(draw), (nth += 1), NAMED);
          const outcome = await saveAndStart(platform, document).catch((error: unknown) => String(error));
          assert.deepEqual([...log.takeErrors(), ...uncaught.take()], [], `${outcome}\n${document.text}`);
          assert.match(outcome, /^[\w ]+$/, document.text);
          counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
        }),
        { seed, numRuns: Math.min(ROUND, total - done), endOnFailure: true },
      );
      t.diagnostic([...counts].map(([outcome, count]) => `${outcome}:${count}`).join(" "));
      assert.ok((counts.get("started") ?? 0) > 0, "no document was started: the generator has to be corrected");
    } finally {
      uncaught.stop();
      await platform.stop();
    }
  });

async function saveAndStart(platform: TestPlatform, document: GeneratedDocument): Promise<string> {
  // No request is refused because there were too many.
  platform.clock.advance(6_000);
  const { identifier, text, format } = document;
  const sent = { contentType: format === "json" ? JSON_TYPE : YAML, body: text };
  const saved = await platform.send("POST", `${PIPELINES}?${SCOPE}`, sent);
  if (saved.status !== 200) return refused(document, saved);
  assert.equal(typeof saved.body.data, "string");
  const name = saved.body.data as string;
  const read = await expect(platform, "GET", `${PIPELINES}/${name}?${SCOPE}`);
  const { yamlPipeline } = read.body.data;
  if (format === "json") assert.deepEqual(parse(yamlPipeline), JSON.parse(text));
  else assert.equal(yamlPipeline, text);
  await expect(platform, "POST", `${PIPELINES}/validate-pipeline-with-schema?${SCOPE}&pipelineIdentifier=${name}`);
  await expect(platform, "POST", `/pipeline/api/inputSets/template?${SCOPE}&pipelineIdentifier=${name}`);
  const started = await platform.send("POST", `/pipeline/api/pipeline/execute/${name}?${SCOPE}`, { contentType: YAML });
  assert.ok(started.status < 500, `${identifier}: ${started.text}\n${text}`);
  if (started.status !== 200) return "start refused";
  const id = started.body.data.planExecution.uuid as string;
  await expect(platform, "GET", `${PIPELINES}/execution/v2/${id}?${SCOPE}&renderFullBottomGraph=true`);
  return "started";
}

async function expect(platform: TestPlatform, method: string, path: string): Promise<Answer> {
  const answer = await platform.send(method, path);
  assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
  return answer;
}

type Told = { readonly fqn: string; readonly message: string; readonly line?: number; readonly column?: number };

function refused({ text }: GeneratedDocument, answer: Answer): string {
  assert.ok(answer.status >= 400 && answer.status < 500, `${answer.text}\n${text}`);
  const { code, metadata } = answer.body;
  if (!WITH_PLACE.has(code)) return code;
  const lines = text.split("\n");
  const faults: readonly Told[] = metadata?.schemaErrors ?? [];
  assert.ok(faults.length > 0, `${answer.text}\n${text}`);
  for (const { message, line = 0, column = 0 } of faults) {
    assert.notEqual(message, "");
    assert.ok(line >= 1 && line <= lines.length, `line ${line}: ${answer.text}\n${text}`);
    assert.ok(column >= 1 && column <= (lines[line - 1]?.length ?? 0) + 1, `column ${column}: ${answer.text}\n${text}`);
  }
  return code;
}
