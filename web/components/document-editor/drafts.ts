import { currentSession } from "../../api/session.ts";

/** What a user has typed and not saved. It stays in this browser. */
export type Draft = { readonly text: string; readonly changedAt: number };

/** Other users of the browser are not offered it. */
function itemName(key: string): string {
  const { accountIdentifier, user } = currentSession();
  return `railhead.draft.${accountIdentifier}.${user.id}.${key}`;
}

export function readDraft(key: string): Draft | undefined {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(itemName(key)) ?? "null");
    return isDraft(found) ? found : undefined;
  } catch {
    // Another program's text, or storage that the browser refuses.
    return undefined;
  }
}

const isDraft = (value: unknown): value is Draft =>
  typeof value === "object" &&
  value !== null &&
  typeof (value as Partial<Draft>).text === "string" &&
  typeof (value as Partial<Draft>).changedAt === "number";

export function writeDraft(key: string, text: string): void {
  try {
    localStorage.setItem(itemName(key), JSON.stringify({ text, changedAt: Date.now() } satisfies Draft));
  } catch {
    // Without room for it there is no draft; the page itself keeps the text.
  }
}

export function removeDraft(key: string): void {
  try {
    localStorage.removeItem(itemName(key));
  } catch {
    // Storage that the browser refuses holds no draft.
  }
}
