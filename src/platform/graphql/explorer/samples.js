/** Operations to begin with, and the commands for what a page cannot show: the requests that carry a file. */

const SECRET = `id
    name
    secretType
    usageScope {
      appEnvScopes {
        application { filterType appId }
        environment { filterType envId }
      }
    }
    ... on EncryptedFile { secretManagerId inheritScopesFromSM scopedToAccount }`;

export const samples = [
  {
    name: "Applications",
    query: "query {\n  applications(limit: 10) {\n    nodes { id name }\n    pageInfo { total hasMore }\n  }\n}",
    variables: {},
  },
  {
    name: "Pipelines of an application",
    query:
      "query ($applicationId: String!) {\n  application(applicationId: $applicationId) {\n    id\n    name\n    pipelines(limit: 20) {\n      nodes { id name description createdBy { id } }\n    }\n  }\n}",
    variables: { applicationId: "<application id>" },
  },
  {
    name: "Latest execution of a pipeline",
    query:
      "query ($pipelineId: String!) {\n  executions(filters: [{ pipeline: { operator: EQUALS, values: [$pipelineId] } }], limit: 1) {\n    nodes { id status startedAt endedAt application { name } }\n  }\n}",
    variables: { pipelineId: "<pipeline id>" },
  },
  {
    name: "Executions since a moment",
    query:
      "query ($since: Long!) {\n  executions(filters: [{ startTime: { operator: AFTER, value: $since } }], limit: 100, offset: 0) {\n    nodes { id status startedAt endedAt application { name } }\n  }\n}",
    variables: { since: Date.now() - 24 * 60 * 60 * 1000 },
  },
  {
    name: "Encrypted file by id",
    query: `query ($id: String!) {\n  secret(secretId: $id, secretType: ENCRYPTED_FILE) {\n    ${SECRET}\n  }\n}`,
    variables: { id: "<secret id>" },
  },
  {
    name: "Encrypted file by name",
    query: `query ($name: String!) {\n  secretByName(name: $name, secretType: ENCRYPTED_FILE) {\n    ${SECRET}\n  }\n}`,
    variables: { name: "<secret name>" },
  },
  {
    name: "Delete an encrypted file",
    query: "mutation ($secret: DeleteSecretInput!) {\n  deleteSecret(input: $secret) { clientMutationId }\n}",
    variables: { secret: { secretId: "<secret id>", secretType: "ENCRYPTED_FILE" } },
  },
  {
    name: "User by name",
    query: "query ($name: String!) {\n  userByName(name: $name) { id name }\n}",
    variables: { name: "<user name>" },
  },
];

const OPERATIONS = {
  create: [
    "mutation($secret: CreateSecretInput!) { createSecret(input: $secret) { secret { id name } } }",
    {
      secretType: "ENCRYPTED_FILE",
      encryptedFile: { name: "<secret name>", scopedToAccount: false, inheritScopesFromSM: true, usageScope: null },
    },
  ],
  update: [
    "mutation($secret: UpdateSecretInput!) { updateSecret(input: $secret) { secret { id name } } }",
    { secretId: "<secret id>", secretType: "ENCRYPTED_FILE", encryptedFile: { name: "<secret name>" } },
  ],
};

/**
 * The curl command that creates or updates an encrypted file. The key is a placeholder: a shown key would be copied
 * along.
 */
export function curlOf(kind, url) {
  const [query, secret] = OPERATIONS[kind];
  const lines = [
    `curl '${url}'`,
    "--header 'x-api-key: <API_KEY>'",
    "--form 'file=@<path of the file>'",
    `--form-string 'query=${JSON.stringify({ query, variables: { secret } })}'`,
  ];
  return lines.join(" \\\n  ");
}
