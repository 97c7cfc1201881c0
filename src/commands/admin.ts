/** `railhead admin …`. */
import { createAudit } from "../audit/index.ts";
import { createSignInUsers } from "../identity/index.ts";
import { resetPassword as createReset, type Reset } from "../login/index.ts";
import { oneAccount, runCommand, printLine, type ExitCode } from "./run.ts";

export type ResetOptions = { readonly account?: string; readonly email?: string; readonly unlink?: boolean };

/** Prints only the new one-time password on standard output; everything else goes to standard error. */
export const resetPassword = ({ account, email, unlink = false }: ResetOptions): Promise<ExitCode> =>
  runCommand(async (opened) => {
    const { db } = opened;
    const reset = createReset({ ...opened, audit: createAudit(opened), people: createSignInUsers(opened) });
    const { password, ended, identities, ...person } = await reset(await oneAccount(db, account), email, { unlink });
    const sessions = ended === 1 ? "1 session has" : `${ended} sessions have`;
    if (identities.length > 0) process.stderr.write(`${unlink ? UNLINKED : LINKED}\n${identities.map(line).join("")}`);
    process.stderr.write(
      `New one-time password of ${person.email}; ${sessions} ended. The person has to change it at the next login:\n`,
    );
    await printLine(password);
    return 0;
  });

const LINKED =
  "This person can still log in by single sign-on with these linked identities. Pass --unlink to remove them:";
const UNLINKED = "These identities were unlinked from this person:";

/** Quoted, because the provider chooses the characters. */
const line = ({ issuer, subject, linkedAt }: Reset["identities"][number]): string =>
  `  ${JSON.stringify(issuer)} ${JSON.stringify(subject)}, linked ${new Date(linkedAt).toISOString()}\n`;
