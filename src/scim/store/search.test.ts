import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { directoryToken } from "../../../test/support/clients/directory.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { callScim } from "../../../test/scim/replay.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import { GROUP_SCHEMA, USER_SCHEMA } from "../schema/resources.ts";
import { searchGroups, shortenPage } from "./search.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
});
after(() => platform?.stop());

test("a page ends before its resources have too many memberships, but has one", async () => {
  const token = await directoryToken(platform);
  const create = async (path: string, body: object): Promise<string> => {
    const answer = await callScim(platform, { token }, "POST", path, { body });
    assert.equal(answer.status, 201, answer.text);
    return answer.body.id as string;
  };
  const members: { readonly value: string }[] = [];
  for (const name of ["p1", "p2", "p3"])
    members.push({ value: await create("/Users", { schemas: [USER_SCHEMA], userName: `${name}@example.com` }) });
  for (const displayName of ["g1", "g2", "g3"])
    await create("/Groups", { schemas: [GROUP_SCHEMA], displayName, members });
  const accountId = fromWire(platform.accountId) as Uuid;
  const { items: rows } = await searchGroups(platform.db, accountId, { descending: false, limit: 10, offset: 0 });
  assert.equal(rows.length, 3);
  const shown = async (most: number): Promise<number> =>
    (await shortenPage(platform.db, accountId, { rows, by: "group_id" }, most)).length;
  assert.deepEqual([await shown(1), await shown(3), await shown(6), await shown(8), await shown(9)], [1, 1, 2, 2, 3]);
});
