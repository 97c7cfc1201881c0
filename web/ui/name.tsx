import { visibleText } from "../util/visible-text.ts";

/**
 * A text that people chose: names, branches, messages of commits. Its direction does not change that of the text around
 * it, and its invisible characters are shown.
 */
export const Name = ({ children }: { readonly children: string }) => <bdi>{visibleText(children)}</bdi>;
