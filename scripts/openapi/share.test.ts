import assert from "node:assert/strict";
import { test } from "node:test";
import { shareSchemas } from "./share.ts";

const long = (name: string) => ({
  type: "object",
  properties: { [name]: { type: "string", pattern: name.repeat(100) } },
});
const operation = (operationId: string, schema: object) => ({ operationId, requestBody: { schema, example: schema } });

test("a schema that occurs twice becomes a component named after its first operation; examples do not change", () => {
  const [shop, once] = [long("shop"), long("once")];
  const paths = {
    "/a": { get: operation("shop.get", shop), put: operation("shop.update", { type: "array", items: shop }) },
    "/b": { get: operation("other.get", once), put: operation("other.put", { type: "string" }) },
  };
  const shared = shareSchemas(paths, ["ShopBody"]);
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
  // A schema that occurs only within a shared schema is not shared itself.
  assert.deepEqual(Object.keys(shared.schemas), ["ShopBody2"]);
});
