import { messageOf } from "../../../api/api-error.ts";
import { fetchData } from "../../../api/client.ts";
import { invitationCreate, userAdd, userGroupAddMember, userList } from "../../../api/operations.gen.ts";

export type AddedUser =
  | { readonly kind: "invited"; readonly email: string; readonly link: string }
  | { readonly kind: "unchanged" | "created" | "failed"; readonly email: string; readonly message: string };

/** Addresses separated by spaces, commas or semicolons; each once. */
export const parseEmails = (text: string): readonly string[] => [
  ...new Set(text.split(/[\s,;]+/).filter((one) => one !== "")),
];

type AddOptions = {
  /** Identifiers of groups of the account. */
  readonly groups: readonly string[];
  readonly mayInvite: boolean;
};

/** Creates the users that do not exist yet, in the groups and with an invitation, and tells what became of each. */
export async function addUsers(emails: readonly string[], options: AddOptions): Promise<readonly AddedUser[]> {
  const { addUserResponseMap: outcomes } = await fetchData(userAdd, { body: { emails } });
  const made = Object.keys(outcomes).filter((email) => outcomes[email] === "USER_ADDED_SUCCESSFULLY");
  const ids = made.length === 0 ? new Map<string, string>() : await findIds(made);
  const results: AddedUser[] = [];
  for (const [email, outcome] of Object.entries(outcomes)) {
    const userId = ids.get(email.toLowerCase());
    if (outcome === "FAIL") results.push({ kind: "failed", email, message: "This is not a valid e-mail address." });
    else if (outcome === "USER_ALREADY_ADDED" || userId === undefined)
      results.push({ kind: "unchanged", email, message: "There is a user with this address already." });
    else results.push(await completeUser(email, userId, options));
  }
  return results;
}

/** The user exists from here on, so what fails is told of this one alone. */
async function completeUser(email: string, userId: string, { groups, mayInvite }: AddOptions): Promise<AddedUser> {
  try {
    for (const identifier of groups)
      await fetchData(userGroupAddMember, { path: { identifier, userIdentifier: userId } });
    if (!mayInvite) return { kind: "created", email, message: "The user was created." };
    const { link } = await fetchData(invitationCreate, { path: { userId }, body: {} });
    return { kind: "invited", email, link };
  } catch (error) {
    return { kind: "failed", email, message: `The user was created, but not completed. ${messageOf(error)}` };
  }
}

/** Ids by addresses in lower case, as the server keeps them. */
async function findIds(emails: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { content } = await fetchData(userList, { query: { pageSize: 100 }, body: { emails } });
  return new Map(content.map(({ email, uuid }) => [email.toLowerCase(), uuid]));
}
