/** `railhead admin …`. */
import { makeAudit } from "../audit/index.ts";
import { makeLogins } from "../identity/index.ts";
import { makeResetPassword } from "../login/index.ts";
import { oneAccount, runCommand, say, type ExitCode } from "./run.ts";

export type ResetOptions = { readonly account?: string; readonly email?: string };

/** Prints a new one-time password and nothing else; what happened besides is told on standard error. */
export const resetPassword = ({ account, email }: ResetOptions): Promise<ExitCode> =>
  runCommand(async (opened) => {
    const { db } = opened;
    const reset = makeResetPassword({ ...opened, audit: makeAudit(opened), people: makeLogins(opened) });
    const { password, ended, ...person } = await reset(await oneAccount(db, account), email);
    const sessions = ended === 1 ? "1 session has" : `${ended} sessions have`;
    process.stderr.write(
      `New one-time password of ${person.email}; ${sessions} ended. It has to be changed at the next login:\n`,
    );
    await say(password);
    return 0;
  });
