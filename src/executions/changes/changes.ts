/** What is different from the last execution of the same pipeline that succeeded. */
import type { Actor } from "../../core/actor.ts";
import type { MaybeInProject } from "../../pipelines/index.ts";
import type { Db } from "../../platform/db/db.ts";
import { parseDocument } from "../../platform/document/document.ts";
import { commitOf, type Commit } from "../deployments/commit.ts";
import type { ListedExecution } from "../execution.ts";
import type { GetListed } from "../get.ts";
import { findGiven, findPreviousSuccess, type GivenToExecution } from "../store/previous.ts";
import { inputChanges, type InputChanges } from "./inputs.ts";

export type ComparedExecution = ListedExecution & { readonly commit: Commit | undefined };

export type ExecutionChanges = {
  readonly execution: ComparedExecution;
  /** Undefined if none of the thousand executions before it succeeded. */
  readonly previous: ComparedExecution | undefined;
  readonly inputs: InputChanges;
};

type Deps = { readonly db: Db; readonly getListed: GetListed };

/** Throws `execution.not_found`. */
export const getChanges =
  ({ db, getListed }: Deps) =>
  async (actor: Actor, id: string, scope: MaybeInProject): Promise<ExecutionChanges> => {
    const execution = await getListed(actor, id, scope);
    const previous = await findPreviousSuccess(db, actor.accountId, execution);
    const rows = await findGiven(db, actor.accountId, [execution.id, ...(previous ? [previous.id] : [])]);
    const given = (of: ListedExecution): GivenToExecution | undefined => rows.find((row) => row.id === of.id);
    const compared = (of: ListedExecution): ComparedExecution => ({ ...of, commit: commitOf(given(of)?.payload) });
    return {
      execution: compared(execution),
      previous: previous && compared(previous),
      inputs: previous
        ? inputChanges(documentOf(given(previous)), documentOf(given(execution)))
        : { changes: [], hasMore: false },
    };
  };

export type GetChanges = ReturnType<typeof getChanges>;

const documentOf = (given: GivenToExecution | undefined): unknown =>
  given?.inputYaml ? parseDocument(given.inputYaml).value : undefined;
