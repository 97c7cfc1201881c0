/** What the page of delegates keeps in its address. */
export type DelegatesSearch = {
  readonly q?: string;
  readonly status?: readonly DelegateState[];
  readonly tag?: string;
  /** The delegate whose details are open. */
  readonly delegate?: string;
};

export const DELEGATE_STATES = ["connected", "busy", "unavailable", "lost", "waiting"] as const;
export type DelegateState = (typeof DELEGATE_STATES)[number];

export function parseDelegatesSearch(search: Readonly<Record<string, unknown>>): DelegatesSearch {
  const text = (name: string): object => {
    const value = search[name];
    return (typeof value === "string" || typeof value === "number") && value !== "" ? { [name]: String(value) } : {};
  };
  const wanted = Array.isArray(search["status"]) ? search["status"] : [search["status"]];
  const status = DELEGATE_STATES.filter((state) => wanted.includes(state));
  return { ...text("q"), ...text("tag"), ...text("delegate"), ...(status.length > 0 ? { status } : {}) };
}
