/** Our connector ↔ the shapes of spec.md ("Connector", "Create connector"). */
import { z } from "zod";
import { description, displayName, scopeIdentifier, tags } from "../platform/document/fields.ts";
import type { Connector } from "./connector.ts";
import { registrySpec } from "./types/container-registry.ts";

export const connectorBody = z.strictObject({
  name: displayName,
  identifier: scopeIdentifier,
  description,
  orgIdentifier: scopeIdentifier.nullish(),
  projectIdentifier: scopeIdentifier.nullish(),
  tags,
  type: z.enum(["ContainerRegistry"]),
  spec: registrySpec,
});

const NO_GIT = { objectId: null, branch: null, repoIdentifier: null, rootFolder: null, filePath: null };

export const connectorResponse = (connector: Connector) => ({
  connector: {
    name: connector.name,
    identifier: connector.identifier,
    description: connector.description,
    orgIdentifier: connector.orgIdentifier,
    projectIdentifier: connector.projectIdentifier,
    tags: connector.tags,
    type: connector.type,
    spec: {
      registryUrl: connector.spec.registryUrl,
      providerType: connector.spec.providerType,
      auth: { type: connector.spec.auth.type },
      delegateSelectors: connector.spec.delegateSelectors,
    },
  },
  createdAt: connector.createdAt,
  lastModifiedAt: connector.updatedAt,
  // Null until the connection has been tested.
  status: null,
  activityDetails: { lastActivityTime: connector.updatedAt },
  platformManaged: false,
  gitDetails: NO_GIT,
  entityValidityDetails: { valid: true, invalidYaml: null },
});
