import type { Authorize } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";

/** What the command has in place of the token. */
export const TOKEN_PLACEHOLDER = "DELEGATE_TOKEN";

type Deps = { readonly authorize: Authorize; readonly publicUrl: () => string };

/** Returns the shell command that starts a delegate of this server, in a folder where Railhead is installed. */
export const getStartCommand =
  ({ authorize, publicUrl }: Deps) =>
  (actor: Actor, { name, tags }: { readonly name: string; readonly tags: readonly string[] }): string => {
    authorize(actor, "core_delegate_view", { accountId: actor.accountId });
    const options = [["--url", publicUrl()], ["--name", name], ...tags.map((tag) => ["--tag", tag])];
    const words = options.map(([option, value = ""]) => `${option} ${quoted(value)}`);
    // Without `--no`, npx would download a package of this name into a folder without Railhead.
    return `RAILHEAD_DELEGATE_TOKEN='${TOKEN_PLACEHOLDER}' npx --no -- railhead delegate ${words.join(" ")}`;
  };

export type GetStartCommand = ReturnType<typeof getStartCommand>;

/** A word of a POSIX shell command. */
const quoted = (word: string): string =>
  /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
