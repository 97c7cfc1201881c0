/** What the editor of an input set keeps in its address. */
export const parseInputSetSearch = ({ kind }: Readonly<Record<string, unknown>>): { readonly kind?: "overlay" } =>
  kind === "overlay" ? { kind } : {};
