import assert from "node:assert/strict";
import { test } from "node:test";
import { releaseFaults, type ReleaseState } from "./release.ts";

const ready: ReleaseState = {
  version: "0.2.0",
  changelog: "# Changelog\n\n## Unreleased\n\n## 0.2.0\n\n- New.\n\n## 0.1.0\n\n- First.\n",
  documented: "0.2.0",
  tags: ["v0.1.0", ""],
  changed: [],
};

test("a tree whose versions agree is ready for a tag", () => {
  assert.deepEqual(releaseFaults(ready), []);
});

test("each reason against a tag is reported", () => {
  const { changelog } = ready;
  for (const [change, message] of [
    [{ version: "0.2" }, /'0\.2' of package\.json is not of the form/],
    [{ changelog: changelog.replace("## Unreleased\n\n", "") }, /first section of CHANGELOG\.md is not 'Unreleased'/],
    [{ changelog: changelog.replace("Unreleased\n", "Unreleased\n\n- Later.\n") }, /'Unreleased' of CHANGELOG\.md has/],
    [{ version: "0.3.0", documented: "0.3.0" }, /newest version in CHANGELOG\.md is '0\.2\.0' and not '0\.3\.0'/],
    [{ changelog: changelog.replace("- New.\n", "") }, /section '0\.2\.0' of CHANGELOG\.md has no entry/],
    [{ documented: "0.1.0" }, /api\/openapi\.json has the version '0\.1\.0'/],
    [{ tags: ["v0.2.0"] }, /The tag v0\.2\.0 exists/],
    [{ changed: ["README.md"] }, /working tree has changes: README\.md/],
  ] as const)
    assert.match(releaseFaults({ ...ready, ...change }).join("\n"), message);
});
