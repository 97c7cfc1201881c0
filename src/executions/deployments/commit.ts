/** The commit that the payload of a trigger names, as GitHub, Gitea, GitLab and Bitbucket send it. */
import type { Json } from "../../engine/index.ts";
import { markText } from "../marks.ts";
import { itemsOf, member, textIn } from "./json.ts";

export type Commit = {
  readonly id: string;
  /** Epoch milliseconds; null if the payload has no time that can be read. */
  readonly committedAt: number | null;
};

/** Undefined for a payload of another form. */
export const commitOf = (payload: Json | undefined): Commit | undefined =>
  commitFrom(member(payload, "head_commit"), "id", "timestamp") ?? commitOfList(payload) ?? commitOfChanges(payload);

function commitFrom(commit: Json | undefined, idKey: string, timeKey: string): Commit | undefined {
  const id = textIn(member(commit, idKey));
  return id === undefined ? undefined : { id: markText(id), committedAt: timeOf(textIn(member(commit, timeKey))) };
}

/** GitLab lists the commits of a push, the newest last, and names the newest apart. */
function commitOfList(push: Json | undefined): Commit | undefined {
  const head = textIn(member(push, "checkout_sha")) ?? textIn(member(push, "after"));
  const commits = itemsOf(member(push, "commits"));
  const commit = commits.findLast((one) => head === undefined || member(one, "id") === head);
  return commitFrom(commit, "id", "timestamp");
}

/** Bitbucket tells of each branch what it leads to now. */
function commitOfChanges(push: Json | undefined): Commit | undefined {
  const changes = itemsOf(member(member(push, "push"), "changes"));
  return commitFrom(member(member(changes.at(-1), "new"), "target"), "hash", "date");
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

function timeOf(text: string | undefined): number | null {
  const time = text !== undefined && TIME.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) || time < 0 ? null : time;
}
