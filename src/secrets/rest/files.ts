/** Routes of `/ng/api/v2/secrets/files`: a form with the document in `spec` and the content in `file`. */
import type { Actor } from "../../core/actor.ts";
import { parseDocument } from "../../platform/document/document.ts";
import { validateEnvelope } from "../../platform/document/json/lenient.ts";
import { ok } from "../../platform/http/response/answers.ts";
import type { Form } from "../../platform/http/request/form.ts";
import { ifMatch } from "../../platform/http/request/if-match.ts";
import { LARGE_BODY, route, type Call, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import type { CreateSecret } from "../create.ts";
import type { RequirePermission } from "../find.ts";
import { problem } from "../problems.ts";
import { inScope, keyOf, managerIn, placeOf, writeQuery, type ScopedCall } from "./query.ts";
import type { UpdateSecret } from "../update.ts";
import { fileBody, secretResponse, secretShape } from "../wire/secret.ts";

type Operations = {
  readonly create: CreateSecret;
  readonly update: UpdateSecret;
  readonly requirePermission: RequirePermission;
};

const PATH = "/ng/api/v2/secrets/files";
const EXAMPLE = {
  type: "SecretFile",
  name: "Signing key",
  identifier: "signing_key",
  spec: { secretManagerIdentifier: "platformSecretManager" },
};
const answer = enveloped(secretShape);
const edit = { permission: "core_secret_edit" };
const body = { schema: fileBody, root: "secret", types: ["multipart/form-data"], example: EXAMPLE };

/** Parses the part `spec`, which is JSON or YAML. */
function specIn(call: ScopedCall, text: string) {
  const format = text.trimStart().startsWith("{") ? "json" : "yaml";
  const spec = validateEnvelope(fileBody, parseDocument(Buffer.from(text), { format }), {
    root: "secret",
    onIgnored: call.onIgnored,
  });
  return inScope(call, spec);
}

type SecretForm = { readonly spec: string | undefined; readonly file: Form["file"]; readonly actor: Actor };

async function readForm(call: Pick<Call, "form" | "still">): Promise<SecretForm> {
  const form = await call.form();
  return { spec: form.text("spec"), file: form.file, actor: await call.still() };
}

export const fileRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "POST",
    path: PATH,
    operation: "secret.create-file",
    access: edit,
    query: writeQuery,
    form: { spec: LARGE_BODY },
    doc: {
      summary: "Create a secret file",
      description: "A form: the part spec has the document as JSON, the part file the content.",
      body: { ...body, form: { spec: "required", file: "required" } },
      answer,
      etag: true,
    },
    handle: async (call) => {
      operations.requirePermission(call.actor, "core_secret_edit", placeOf(call));
      const { spec, file, actor } = await readForm(call);
      if (spec === undefined) throw problem("secret.no_part", ["spec"]);
      if (!file) throw problem("secret.no_part", ["file"]);
      const { spec: managed, type: _, ...fields } = specIn(call, spec);
      const secret = await operations.create(actor, {
        ...fields,
        type: "ENCRYPTED_FILE",
        manager: managerIn(managed?.secretManagerIdentifier),
        scoping: {},
        content: file,
      });
      return ok(call, secretResponse(secret), secret.version);
    },
  }),
  route({
    method: "PUT",
    path: `${PATH}/:identifier`,
    operation: "secret.update-file",
    access: edit,
    query: writeQuery,
    form: { spec: LARGE_BODY },
    doc: {
      summary: "Replace the document of a secret file, its content, or both",
      description: "A form: without the part file the content stays, without the part spec all else does.",
      params: { identifier: EXAMPLE.identifier },
      body: {
        ...body,
        example: { ...EXAMPLE, name: "Key to sign with" },
        form: { spec: "optional", file: "optional" },
      },
      answer,
      etag: true,
      ifMatch: true,
    },
    handle: async (call) => {
      operations.requirePermission(call.actor, "core_secret_edit", placeOf(call));
      const version = ifMatch(call);
      const { spec, file, actor } = await readForm(call);
      if (spec === undefined && !file) throw problem("secret.no_part", ["spec' or 'file"]);
      const key = keyOf(call);
      const fields = spec === undefined ? undefined : specIn(call, spec);
      if (fields && fields.identifier !== key.identifier)
        throw problem("secret.other_identifier", [key.identifier, fields.identifier]);
      const changes = {
        name: fields?.name,
        description: fields?.description,
        tags: fields?.tags,
        manager: managerIn(fields?.spec?.secretManagerIdentifier),
        content: file,
      };
      const ref = { by: "identifier", key, type: "ENCRYPTED_FILE" } as const;
      const secret = await operations.update(actor, ref, { changes, version });
      return ok(call, secretResponse(secret), secret.version);
    },
  }),
];
