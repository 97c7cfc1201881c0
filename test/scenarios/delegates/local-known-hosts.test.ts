/** RAILHEAD_KNOWN_HOSTS: the local delegate logs in only to hosts in the operator's file. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { createClient, type Client } from "../../support/clients/client.ts";
import { databaseByAddress } from "../../support/database.ts";
import { pipelineOf, step } from "../../support/clients/pipeline.ts";
import {
  createServerFolder,
  readFacts,
  startServer,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";
import { type SshServer, sshServerIsMissing, startSshServer } from "../../support/services/ssh-server.ts";

const missing = await sshServerIsMissing();
const needsSsh = { skip: missing ?? false };

let folder: ServerFolder;
let database: Awaited<ReturnType<typeof databaseByAddress>>;
let server: ServerProcess;
let client: Client;
let ssh: SshServer;

before(async () => {
  if (missing !== undefined) return;
  [folder, database, ssh] = await Promise.all([createServerFolder(), databaseByAddress("migrated"), startSshServer()]);
  await writeFile(`${folder.path}/hosts`, "");
  // The path is relative to the server's working directory, which differs from the delegate's.
  server = await startServer(folder, { DATABASE_URL: database.url, RAILHEAD_KNOWN_HOSTS: "hosts" });
  client = createClient(await readFacts(folder));
  await client.makeProject();
});

after(async () => {
  await server?.end("SIGTERM");
  await Promise.all([folder?.remove(), ssh?.stop()]);
  await database?.drop();
});

const CREATE = "mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { id } } }";

async function secret(secretType: string, body: object): Promise<string> {
  const made = await client.graphql(CREATE, { input: { secretType, ...body } });
  return made.createSecret.secret.id as string;
}

test("a host gets no login until the operator's file names it", needsSsh, async () => {
  const password = await secret("ENCRYPTED_TEXT", { encryptedText: { name: "password", value: ssh.password } });
  const method = { sshCredentialType: "PASSWORD", serverPassword: { passwordSecretId: password } };
  const sshAuthentication = { port: ssh.port, userName: ssh.userName, sshAuthenticationMethod: method };
  const sshCredential = { name: "web_hosts", authenticationScheme: "SSH", sshAuthentication };
  await secret("SSH_CREDENTIAL", { sshCredential });
  const target = { host: "127.0.0.1", connectorRef: "account.web_hosts" };
  await client.makePipeline(pipelineOf("away", step("there", "echo there as $(id -un)", { target })));

  const refused = await client.run("away");
  assert.equal(await client.end(refused), "FAILED");
  assert.match(await client.log(refused), /Host key verification failed/);

  await writeFile(`${folder.path}/hosts`, await ssh.knownHost());
  const believed = await client.run("away");
  assert.equal(await client.end(believed), "SUCCESS", await client.log(believed));
  assert.ok((await client.log(believed)).endsWith(`there as ${ssh.userName}\n`));
});
