/** `railhead audit …`. */
import { entriesOf, lineOf, verifyChain, type DecreasedTime, type Verdict } from "../audit/index.ts";
import { fromWire, toWire } from "../core/ids.ts";
import { problem } from "./problems.ts";
import { parseMoment, namedAccounts, oneAccount, runCommand, printLine, type ExitCode } from "./run.ts";

export type ExportOptions = { readonly account?: string; readonly from?: string; readonly to?: string };

/** Prints the audit trail of an account, oldest entry first, one JSON document per line. */
export const exportTrail = (options: ExportOptions): Promise<ExitCode> =>
  runCommand(async ({ db }, signal) => {
    const within = { from: parseMoment("--from", options.from), to: parseMoment("--to", options.to) };
    const account = await oneAccount(db, options.account);
    for await (const entry of entriesOf(db, account, within)) {
      if (signal.aborted) return 2;
      await printLine(lineOf(entry));
    }
    return 0;
  });

export type VerifyOptions = { readonly account?: string; readonly head?: readonly string[] };

/**
 * Checks the chain of each account and prints its head. Exit code 1 when a chain is broken or has decreasing
 * timestamps.
 */
export const verifyTrail = (options: VerifyOptions): Promise<ExitCode> =>
  runCommand(async ({ db, clock }) => {
    const noted = (options.head ?? []).map(parseHead);
    const accounts = await namedAccounts(db, options.account);
    const unchecked = noted.find(({ accountId }) => !accounts.includes(accountId));
    // A head that is not compared must not look confirmed.
    if (unchecked)
      throw problem("command.bad_option", [
        "--head",
        toWire(unchecked.accountId),
        "the head of an account that is checked",
      ]);
    let code: ExitCode = 0;
    for (const accountId of accounts) {
      const own = noted.filter((head) => head.accountId === accountId);
      const verdict = await verifyChain(db, accountId, { now: clock.now(), noted: own });
      for (const line of formatVerdict(verdict)) await printLine(line);
      if (verdict.broken || verdict.back) code = 1;
    }
    return code;
  });

function formatVerdict({ accountId, head, cut, entries, pending, unchecked, broken, back }: Verdict): string[] {
  const id = toWire(accountId);
  if (broken) {
    const place = broken.sequence === null ? "" : ` ${broken.sequence}`;
    const entry = broken.entryId === null ? "" : ` (${toWire(broken.entryId)})`;
    return [
      `BROKEN ${id}: entry${place}${entry} is ${broken.how}: ${broken.what}; ${entries} entries before it are whole`,
    ];
  }
  const since = cut.sequence === 0 ? "" : `, the first ${cut.sequence} removed by retention`;
  const later = pending === 0 ? "" : `, ${pending} not sealed yet`;
  const before = unchecked === 0 ? "" : `, ${unchecked} noted heads lie before that and cannot be checked`;
  return [
    `OK ${id}: ${entries} entries${since}${before}${later}`,
    ...(back ? [`TIME ${id}: ${formatRunBack(back)}`] : []),
    `HEAD ${id}:${head.sequence}:${head.hash.toString("hex")}:${head.at}`,
  ];
}

function formatRunBack({ first, behind, entries }: DecreasedTime): string {
  const [time, previous] = [first, behind].map(({ at }) => new Date(at).toISOString());
  const others = entries === 1 ? "" : `; ${entries - 1} more entries like it`;
  return `entry ${first.sequence} (${toWire(first.entryId)}) has the time ${time} and was sealed after entry ${behind.sequence} of ${previous}${others}`;
}

/** Parses `<account>:<number>:<hash>:<epoch ms>`, as `verify` prints it. */
function parseHead(text: string) {
  const [account = "", sequence = "", hash = "", at = "", ...rest] = text.split(":");
  const accountId = fromWire(account);
  const isWhole = /^\d{1,15}$/.test(sequence) && /^[0-9a-f]{64}$/.test(hash) && /^\d{1,15}$/.test(at);
  if (accountId && isWhole && rest.length === 0)
    return { accountId, sequence: Number(sequence), hash: Buffer.from(hash, "hex"), at: Number(at) };
  throw problem("command.bad_option", ["--head", text.slice(0, 120), "what was printed after HEAD"]);
}
