/** Groups of lines: from a line that begins one to where it ends. */
import type { GroupsAnswer } from "../lines/log-answers.ts";

export type Marker = GroupsAnswer["groups"][number];

export type Group = {
  /** The line that begins it. */
  readonly header: number;
  /** The last line that it hides when it is closed. */
  readonly to: number;
};

const isSection = ({ marker }: Marker): boolean => marker !== "::group::" && marker !== "::endgroup::";

/** Where the groups end. The last one may end where nothing was looked through yet: at infinity. */
export function groupsOf(markers: readonly Marker[]): readonly Group[] {
  const groups: Group[] = [];
  let section: number | undefined;
  let command: number | undefined;
  const close = (header: number | undefined, to: number): void => {
    if (header !== undefined && to > header) groups.push({ header, to });
  };
  for (const one of markers) {
    const { number, marker } = one;
    close(command, marker === "::endgroup::" ? number : number - 1);
    command = marker === "::group::" ? number : undefined;
    if (!isSection(one)) continue;
    close(section, number - 1);
    section = number;
  }
  close(command, Number.POSITIVE_INFINITY);
  close(section, Number.POSITIVE_INFINITY);
  return groups.toSorted((one, other) => one.header - other.header);
}
