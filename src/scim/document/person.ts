/**
 * Maps users to resources and back. Attributes that the platform uses have columns; the others are stored as the
 * directory sent them.
 */
import { parseEmail, type Profile, type StoredUser } from "../../identity/index.ts";
import { problem } from "../problems.ts";
import type { Resource } from "../schema/attribute.ts";
import { isMap, isPrimary } from "./read.ts";

/** The attributes that the directory has set: the base of patches and replacements. */
export function resourceOf(user: Profile): Resource {
  const { name, ...rest } = user.directory;
  const parts = {
    ...(isMap(name) ? name : {}),
    ...(user.familyName === "" ? {} : { familyName: user.familyName }),
    ...(user.givenName === "" ? {} : { givenName: user.givenName }),
  };
  return {
    ...rest,
    ...(user.externalId === null ? {} : { externalId: user.externalId }),
    userName: user.userName ?? user.email,
    ...(Object.keys(parts).length === 0 ? {} : { name: parts }),
    ...(user.displayName === null ? {} : { displayName: user.displayName }),
    active: user.active,
  };
}

/** The same with derived attributes, as responses show it. */
export const shownPerson = (user: StoredUser): Resource => ({
  displayName: user.name,
  emails: [{ value: user.email, type: "work", primary: true }],
  ...(user.managedExternally ? {} : { name: partsOf(user.name) }),
  ...resourceOf(user),
});

/**
 * Name parts of a user without a directory: the last word is the family name, a single word is both. `columns.ts`
 * filters by the same rule.
 */
const partsOf = (name: string) => ({
  familyName: /\S+$/.exec(name)?.[0] ?? name,
  givenName: /^(.*\S)\s+\S+$/.exec(name)?.[1] ?? name,
});

const MAX_TEXT = 256;
/** Characters of all attributes together, as JSON. */
const MAX_DIRECTORY = 65_536;

/** Throws `scim.invalid_value`. `now` is the replaced user: a missing `active` keeps its value. */
export function profileOf(resource: Resource, now?: Pick<Profile, "active">): Profile {
  const { userName, externalId, displayName, active, name, ...rest } = withBareAddresses(resource);
  if (typeof userName !== "string" || userName.trim() === "" || userName.length > MAX_TEXT)
    throw problem("scim.invalid_value", [`userName is required and has ${MAX_TEXT} characters at most.`]);
  if (typeof externalId === "string" && externalId.length > MAX_TEXT)
    throw problem("scim.invalid_value", [`externalId has ${MAX_TEXT} characters at most.`]);
  const { givenName, familyName, ...parts } = isMap(name) ? name : {};
  const directory = { ...rest, ...(Object.keys(parts).length === 0 ? {} : { name: parts }) };
  if (JSON.stringify(directory).length > MAX_DIRECTORY)
    throw problem("scim.invalid_value", [`The user has more than ${MAX_DIRECTORY} characters.`]);
  return {
    userName,
    email: addressOf(rest["emails"], userName),
    externalId: textOr(externalId, null),
    displayName: textOr(displayName, null),
    givenName: textOr(givenName, ""),
    familyName: textOr(familyName, ""),
    active: typeof active === "boolean" ? active : (now?.active ?? true),
    emailVerified: true,
    managedExternally: true,
    directory,
  };
}

/** Trims the stored addresses. */
const withBareAddresses = (resource: Resource): Resource =>
  Array.isArray(resource["emails"])
    ? { ...resource, emails: resource["emails"].map((one: unknown) => bare(one)) }
    : resource;

const bare = (one: unknown): unknown =>
  isMap(one) && typeof one["value"] === "string" ? { ...one, value: one["value"].trim() } : one;

const textOr = <T>(value: unknown, other: T): string | T =>
  typeof value === "string" && value.trim() !== "" ? value : other;

/** The primary address, the one for work, or the first one; without any, the userName has to be an address. */
function addressOf(emails: unknown, userName: string): string {
  const given = (Array.isArray(emails) ? emails : []).filter(isMap);
  const one =
    given.find(isPrimary) ??
    given.find(({ type }) => typeof type === "string" && type.toLowerCase() === "work") ??
    given[0];
  const text = typeof one?.["value"] === "string" ? one["value"] : userName;
  if (parseEmail(text) === undefined)
    throw problem("scim.invalid_value", [
      `An e-mail address in ASCII is needed, in emails or as userName; [${text.slice(0, 254)}] is none.`,
    ]);
  return text;
}
