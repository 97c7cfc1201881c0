import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../engine/index.ts";
import { commitOf } from "./commit.ts";

const AT = Date.UTC(2026, 2, 1, 9);
const gitlab = (more: { readonly [key: string]: Json }): Json => ({
  ...{ object_kind: "push", after: "b2", checkout_sha: "b2" },
  commits: [
    { id: "a1", timestamp: "2026-02-28T08:00:00+00:00" },
    { id: "b2", timestamp: "2026-03-01T10:00:00+01:00" },
  ],
  ...more,
});
const bitbucket = (target: Json): Json => ({
  push: { changes: [{ new: { target: { hash: "old" } } }, { new: { target } }] },
});

const PAYLOADS: readonly (readonly [string, Json | undefined, ReturnType<typeof commitOf>])[] = [
  ["of GitHub", { head_commit: { id: "b2", timestamp: "2026-03-01T10:00:00+01:00" } }, { id: "b2", committedAt: AT }],
  [
    "of Gitea",
    { head_commit: { id: "b2", timestamp: "2026-03-01T09:00:00Z" }, commits: [] },
    { id: "b2", committedAt: AT },
  ],
  ["of GitLab", gitlab({}), { id: "b2", committedAt: AT }],
  ["of GitLab, whose newest commit is not listed", gitlab({ checkout_sha: "c3" }), undefined],
  ["of GitLab without a newest commit", gitlab({ checkout_sha: null, after: null }), { id: "b2", committedAt: AT }],
  ["of Bitbucket", bitbucket({ hash: "b2", date: "2026-03-01T09:00:00.000+00:00" }), { id: "b2", committedAt: AT }],
  ["of Bitbucket, for a branch that was deleted", { push: { changes: [{ new: null }] } }, undefined],
  ["with a commit without a time", { head_commit: { id: "b2" } }, { id: "b2", committedAt: null }],
  ["with a time that is none", { head_commit: { id: "b2", timestamp: "yesterday" } }, { id: "b2", committedAt: null }],
  [
    "with a time before all",
    { head_commit: { id: "b2", timestamp: "0001-01-01T00:00:00Z" } },
    { id: "b2", committedAt: null },
  ],
  ["with a commit without an id", { head_commit: { timestamp: "2026-03-01T09:00:00Z" } }, undefined],
  ["of another form", { head_commit: "b2", commits: { id: 1 }, push: [] }, undefined],
  ["that is a text", "b2", undefined],
  ["that is not there", undefined, undefined],
];

for (const [name, payload, commit] of PAYLOADS)
  test(`the commit of a payload ${name}`, () => assert.deepEqual(commitOf(payload), commit));

test("a long id is shortened", () => assert.equal(commitOf({ head_commit: { id: "x".repeat(300) } })?.id.length, 250));
