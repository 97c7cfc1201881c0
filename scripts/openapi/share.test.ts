import assert from "node:assert/strict";
import { test } from "node:test";
import { withShared } from "./share.ts";

const long = (name: string) => ({
  type: "object",
  properties: { [name]: { type: "string", pattern: name.repeat(100) } },
});
const operation = (operationId: string, schema: object) => ({ operationId, requestBody: { schema, example: schema } });

test("what stands twice is told once, by the name of where it stands first; examples stay", () => {
  const [shop, once] = [long("shop"), long("once")];
  const paths = {
    "/a": { get: operation("shop.get", shop), put: operation("shop.update", { type: "array", items: shop }) },
    "/b": { get: operation("other.get", once), put: operation("other.put", { type: "string" }) },
  };
  const shared = withShared(paths, ["ShopBody"]);
  const $ref = "#/components/schemas/ShopBody2";
  assert.deepEqual(shared.paths, {
    "/a": {
      get: { ...operation("shop.get", shop), requestBody: { schema: { $ref }, example: shop } },
      put: {
        operationId: "shop.update",
        requestBody: { schema: { type: "array", items: { $ref } }, example: { type: "array", items: shop } },
      },
    },
    "/b": paths["/b"],
  });
  // What stands only within something shared stands there.
  assert.deepEqual(Object.keys(shared.schemas), ["ShopBody2"]);
});
