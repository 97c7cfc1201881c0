/** `railhead admin …`. */
import { createAudit } from "../audit/index.ts";
import { createLogins } from "../identity/index.ts";
import { resetPassword as createReset, type Reset } from "../login/index.ts";
import { oneAccount, runCommand, say, type ExitCode } from "./run.ts";

export type ResetOptions = { readonly account?: string; readonly email?: string; readonly unlink?: boolean };

/** Prints a new one-time password and nothing else; what happened besides is told on standard error. */
export const resetPassword = ({ account, email, unlink = false }: ResetOptions): Promise<ExitCode> =>
  runCommand(async (opened) => {
    const { db } = opened;
    const reset = createReset({ ...opened, audit: createAudit(opened), people: createLogins(opened) });
    const { password, ended, identities, ...person } = await reset(await oneAccount(db, account), email, { unlink });
    const sessions = ended === 1 ? "1 session has" : `${ended} sessions have`;
    if (identities.length > 0) process.stderr.write(`${unlink ? UNLINKED : LINKED}\n${identities.map(line).join("")}`);
    process.stderr.write(
      `New one-time password of ${person.email}; ${sessions} ended. It has to be changed at the next login:\n`,
    );
    await say(password);
    return 0;
  });

const LINKED = "Single sign-on still lets this person in, by what is linked here; --unlink ends that:";
const UNLINKED = "No longer linked with this person:";

/** Quoted: the provider has chosen the characters. */
const line = ({ issuer, subject, linkedAt }: Reset["identities"][number]): string =>
  `  ${JSON.stringify(issuer)} ${JSON.stringify(subject)}, linked ${new Date(linkedAt).toISOString()}\n`;
