export const PROFILE_TABS = ["keys", "password", "sessions", "identities"] as const;
export type ProfileSearch = { readonly tab?: (typeof PROFILE_TABS)[number] };

export function parseProfileSearch({ tab }: Readonly<Record<string, unknown>>): ProfileSearch {
  const known = PROFILE_TABS.find((one) => one === tab);
  return known === undefined || known === "keys" ? {} : { tab: known };
}
