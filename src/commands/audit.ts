/** `railhead audit …`. */
import { entriesOf, lineOf } from "../audit/index.ts";
import { momentOf, oneAccount, runCommand, say, type ExitCode } from "./run.ts";

export type ExportOptions = { readonly account?: string; readonly from?: string; readonly to?: string };

/** Prints the trail of an account, oldest first, one JSON document a line. */
export const exportTrail = (options: ExportOptions): Promise<ExitCode> =>
  runCommand(async ({ db }, signal) => {
    const within = { from: momentOf("--from", options.from), to: momentOf("--to", options.to) };
    const account = await oneAccount(db, options.account);
    for await (const entry of entriesOf(db, account, within)) {
      if (signal.aborted) return 2;
      await say(lineOf(entry));
    }
    return 0;
  });
