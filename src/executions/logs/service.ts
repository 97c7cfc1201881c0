import { authorizeSomewhere } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import { toWire } from "../../core/ids.ts";
import { Problem } from "../../core/problem.ts";
import type { Db } from "../../platform/db/db.ts";
import type { GetExecution } from "../get.ts";
import { readLogPrefix } from "./prefix.ts";
import type { Download, DownloadLines } from "./logs.ts";
import { problem } from "../problems.ts";
import { findBySequence } from "../store/executions.ts";

/** The log that a prefix names, as JSON lines. `check` only asks whether the caller may read it. */
export type LogService = {
  /** Throws `execution.bad_log_prefix`, `execution.no_log`. */
  readonly check: (actor: Actor, prefix: string) => Promise<void>;
  readonly download: (actor: Actor, prefix: string) => Promise<Download>;
};

type Deps = { readonly db: Db; readonly get: GetExecution; readonly downloadLines: DownloadLines };

type Named = { readonly id: string; readonly within: readonly string[] };

export function makeLogService(deps: Deps): LogService {
  async function named(actor: Actor, text: string): Promise<Named> {
    authorizeSomewhere(actor, "core_pipeline_view");
    const prefix = readLogPrefix(text);
    if (!prefix) throw problem("execution.bad_log_prefix", [text]);
    if (prefix.account !== toWire(actor.accountId)) throw problem("execution.no_log");
    if (prefix.by === "id") return { id: prefix.executionId, within: [] };
    const id = await findBySequence(deps.db, actor.accountId, prefix);
    if (!id) throw problem("execution.no_log");
    return { id: toWire(id), within: prefix.within };
  }
  /** The answer repeats nothing of the prefix: it may name what belongs to another account. */
  async function found<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof Problem && error.code === "execution.not_found")
        throw problem("execution.no_log", [], { refusal: error.refusal });
      throw error;
    }
  }
  return {
    async check(actor, prefix) {
      const { id } = await named(actor, prefix);
      await found(deps.get(actor, id, {}));
    },
    async download(actor, prefix) {
      const { id, within } = await named(actor, prefix);
      return found(deps.downloadLines(actor, id, {}, { from: 0, within }));
    },
  };
}
