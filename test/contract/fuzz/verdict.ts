/** Checks a response and its effects against the rules for every request. */
import assert from "node:assert/strict";
import { Kind, OperationTypeNode, parse, type DocumentNode } from "graphql";
import type { Answer } from "../../support/platform.ts";
import type { Operation } from "../operations.ts";
import type { CheckAnswer } from "../shapes.ts";
import { MARK, webhooksDone, type Arena } from "./ground.ts";
import type { Sent } from "./send.ts";
import type { Written } from "./watch.ts";

export type Judged = { readonly operation: Operation; readonly sent: Sent; readonly answer: Answer };

/** What they store is processed after the answer. */
const STORES_EVENT: ReadonlySet<string> = new Set(["webhook.receive", "delivery.replay"]);

export async function judge(arena: Arena, check: CheckAnswer, judged: Judged): Promise<void> {
  const { operation, sent, answer } = judged;
  if (STORES_EVENT.has(operation.operationId) && answer.status === 200) await webhooksDone(arena.platform.db);
  const written = await arena.writes.take();
  if (written.some(({ relation }) => relation === "settings")) await forgetLimits(arena);
  assert.deepEqual(arena.uncaught.take(), [], "uncaught error");
  assert.deepEqual(arena.log.takeErrors(), [], "the log has an error");
  assert.ok(answer.status < 500, `${answer.status}: ${answer.text.slice(0, 2_000)}`);
  check(operation, answer);
  const isGraphql = operation.operationId.startsWith("graphql.");
  const ran =
    answer.status < 400 || answer.headers.get("content-type")?.startsWith("application/graphql-response+json");
  if (isGraphql && ran) checkGraphqlShape(answer.body);
  const readsOnly = isGraphql ? !isMutation(sent) || changedNothing(answer.body) : operation.method === "GET";
  // A failed sign-in is counted and recorded.
  if ((answer.status >= 400 && !/^(session\.create|password\.change)$/.test(operation.operationId)) || readsOnly)
    assert.deepEqual(written, [], `written, and answered ${answer.text.slice(0, 500)}`);
  checkOtherAccount(arena, answer, written);
}

/** A request may set the limits. All later ones would then be refused. */
async function forgetLimits({ platform, writes }: Arena): Promise<void> {
  await platform.db.query(`delete from settings where identifier like 'requests_per_minute%'`);
  await writes.take();
}

function checkOtherAccount({ foreignUuid, ground }: Arena, answer: Answer, written: readonly Written[]): void {
  assert.deepEqual(
    written.filter(({ accountId }) => accountId === foreignUuid),
    [],
    "another account has changed",
  );
  assert.ok(!answer.text.includes(MARK), `shows what belongs to another account: ${answer.text.slice(0, 2_000)}`);
  const shown = ground.hidden.filter((id) => answer.text.includes(id));
  assert.deepEqual(shown, [], `shows ids of another account: ${answer.text.slice(0, 2_000)}`);
}

/** Checks for data, errors or both and no other member, and for errors in the form that clients of this API match. */
function checkGraphqlShape(body: unknown): void {
  const { data, errors, ...rest } = body as { data?: unknown; errors?: readonly Record<string, unknown>[] };
  assert.deepEqual(rest, {});
  assert.ok(data !== undefined || errors !== undefined, "The response has neither data nor errors.");
  if (errors === undefined) return;
  assert.ok(errors.length > 0, "The list of errors is empty.");
  for (const { message, locations, path, extensions, ...more } of errors) {
    assert.deepEqual(more, {});
    assert.equal(typeof message, "string");
    assert.match(
      String((extensions as { classification?: unknown }).classification),
      /^(DataFetchingException|InvalidSyntax|ValidationError)$/,
    );
    if (path !== undefined) assert.match(String(message), /^Exception while fetching data \(\//);
    for (const { line, column } of (locations ?? []) as { line: number; column: number }[])
      assert.ok(line > 0 && column > 0);
  }
}

/** The fields of a mutation are independent: the request has no effect only if all of them have failed. */
const changedNothing = (body: unknown): boolean =>
  Object.values((body as { data?: object | null }).data ?? {}).every(
    (value) => value === null || typeof value === "string",
  );

function isMutation({ body }: Sent): boolean {
  const text = body?.toString() ?? "";
  // An unreadable document counts as a mutation.
  return documentsIn(text).length === 0 || documentsIn(text).some(hasMutation);
}

const hasMutation = ({ definitions }: DocumentNode): boolean =>
  definitions.some((one) => one.kind === Kind.OPERATION_DEFINITION && one.operation === OperationTypeNode.MUTATION);

function documentsIn(text: string): readonly DocumentNode[] {
  try {
    return [parse((JSON.parse(text) as { query: string }).query)];
  } catch {
    return [];
  }
}
