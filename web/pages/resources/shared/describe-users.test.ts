import assert from "node:assert/strict";
import { test } from "node:test";
import { describeUsers } from "./describe-users.ts";

const user = (type: "PIPELINE" | "CONNECTOR" | "SECRET", identifier: string) => ({
  ...{ type, identifier, orgIdentifier: null, projectIdentifier: null },
});

test("names what uses a resource, and counts what is not shown or may not be seen", () => {
  const content = [user("PIPELINE", "deploy"), user("SECRET", "ssh\u202E")];
  assert.equal(describeUsers({ content, totalItems: 2, hidden: 0 }), "pipeline 'deploy', secret 'ssh<202E>'");
  assert.equal(
    describeUsers({ content, totalItems: 4, hidden: 1 }),
    "pipeline 'deploy', secret 'ssh<202E>', and 3 more",
  );
  assert.equal(describeUsers({ content: [], totalItems: 0, hidden: 2 }), "2 that you may not see");
});
