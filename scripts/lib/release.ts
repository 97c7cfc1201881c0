export type ReleaseState = {
  /** Of package.json. */
  readonly version: string;
  /** The text of CHANGELOG.md. */
  readonly changelog: string;
  /** The version in api/openapi.json. */
  readonly documented: string;
  readonly tags: readonly string[];
  /** Changed and untracked files. */
  readonly changed: readonly string[];
};

/** The reasons against a tag of this version, one sentence each. */
export function releaseFaults({ version, changelog, documented, tags, changed }: ReleaseState): readonly string[] {
  const sections = sectionsOf(changelog);
  const [unreleased, newest] = sections;
  const isVersion = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)$/.test(version);
  const faults: readonly (readonly [isFault: boolean, text: string])[] = [
    [!isVersion, `The version '${version}' of package.json is not of the form 1.2.3.`],
    [unreleased?.title !== "Unreleased", "The first section of CHANGELOG.md is not 'Unreleased'. Add it."],
    [
      (unreleased?.body ?? "") !== "",
      `The section 'Unreleased' of CHANGELOG.md has entries. Move them to the section '${version}'.`,
    ],
    [newest?.title !== version, `The newest version in CHANGELOG.md is '${newest?.title}' and not '${version}'.`],
    [newest?.body === "", `The section '${newest?.title}' of CHANGELOG.md has no entry.`],
    [documented !== version, `api/openapi.json has the version '${documented}'. Run 'npm run gen'.`],
    [tags.includes(`v${version}`), `The tag v${version} exists. Raise the version in package.json.`],
    [changed.length > 0, `The working tree has changes: ${changed.join(", ")}. Commit them.`],
  ];
  return faults.flatMap(([isFault, text]) => (isFault ? [text] : []));
}

const sectionsOf = (changelog: string): readonly { readonly title: string; readonly body: string }[] =>
  changelog
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title = "", ...lines] = section.split("\n");
      return { title: title.trim(), body: lines.join("\n").trim() };
    });
