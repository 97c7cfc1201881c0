/** Remote steps from the credential to the host: a platform, a real delegate and a real SSH server. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { after, before, test } from "node:test";
import { type Delegate, startDelegate } from "../../../delegate/delegate.ts";
import { livingProcesses } from "../../../delegate/processes/processes.ts";
import { createPlace, QUICK, settingsFor, silentLog } from "../../../delegate/testing/kit.ts";
import { systemTimers } from "../../../delegate/timers.ts";
import { eventually, JSON_TYPE, made } from "../../support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import {
  abortRun,
  addPipeline,
  detailOf,
  waitForEnd,
  createPipelines,
  logOf,
  type PipelineSketch,
  SCOPE,
  startRun,
  statusesOf,
  type StepSketch,
} from "../../support/runs.ts";
import { dumpOf } from "../../support/secrets.ts";
import { type SshServer, sshServerIsMissing, startSshServer } from "../../support/services/ssh-server.ts";

const missing = await sshServerIsMissing();
const needsSsh = { skip: missing ?? false };

let platform: TestPlatform;
let delegate: Delegate;
let ssh: SshServer;
const place = createPlace();
const logged: string[] = [];
before(async () => {
  if (missing !== undefined) return;
  const log = new PassThrough();
  log.on("data", (line: Buffer) => logged.push(line.toString()));
  [platform, ssh] = await Promise.all([startTestPlatform({ logTo: log }), startSshServer()]);
  await createPipelines(platform);
  const socketUrl = `${platform.url.replace("http", "ws")}/delegate/connect`;
  const token = await platform.delegateToken();
  delegate = await startDelegate(
    { ...settingsFor({ socketUrl }, place), token, name: "real", tags: ["real"] },
    { ...QUICK, graceMs: 5_000, timers: systemTimers, chance: Math.random, log: silentLog() },
  );
  await secret("ENCRYPTED_TEXT", { encryptedText: { name: "password", value: ssh.password } });
  await secret("ENCRYPTED_TEXT", { encryptedText: { name: "phrase", value: ssh.passphrase } });
  await secret("ENCRYPTED_FILE", { encryptedFile: { name: "locked", value: ssh.lockedKey } });
  await secret("ENCRYPTED_TEXT", { encryptedText: { name: "greeting", value: "a word for the host only" } });
  await login("by_password", { sshCredentialType: "PASSWORD", serverPassword: { passwordSecretId: ids["password"] } });
  const inlineSSHKey = { sshKeySecretFileId: ids["locked"], passphraseSecretId: ids["phrase"] };
  await login("by_key", { sshCredentialType: "SSH_KEY", inlineSSHKey });
});
after(async () => {
  await delegate?.stop();
  await Promise.all([platform?.stop(), ssh?.stop()]);
  place.remove();
});

const CREATE = "mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { id name } } }";
const ids: Record<string, string> = {};

async function secret(secretType: string, body: object): Promise<void> {
  const { body: answer, text } = await platform.graphql(CREATE, { input: { secretType, ...body } });
  assert.ok(answer.data?.createSecret, text);
  ids[answer.data.createSecret.secret.name] = answer.data.createSecret.secret.id;
}

const login = (name: string, sshAuthenticationMethod: object, more: object = {}): Promise<void> =>
  secret("SSH_CREDENTIAL", {
    sshCredential: {
      name,
      authenticationScheme: "SSH",
      sshAuthentication: { port: ssh.port, userName: ssh.userName, sshAuthenticationMethod },
      ...more,
    },
  });

const there = (step: StepSketch, connectorRef = "account.by_key"): StepSketch => ({
  selectors: ["real"],
  target: { host: "127.0.0.1", connectorRef },
  ...step,
});

async function run(sketch: PipelineSketch) {
  await addPipeline(platform, sketch);
  const id = await startRun(platform, sketch.id);
  const status = await waitForEnd(platform, id);
  return { id, status, log: await logOf(platform, id), detail: () => detailOf(platform, id) };
}

test("steps run on the host of an expression, read outputs of other steps, and show no secret", needsSsh, async () => {
  const asked = '<+secrets.getValue("account.greeting")>';
  const { status, log, detail } = await run({
    id: "on_host",
    variables: { host: "127.0.0.1", folder: ssh.home },
    steps: [
      { id: "here", script: "FROM=delegate", outputs: ["FROM"], selectors: ["real"] },
      there({
        id: "with_password",
        script: `echo "at $(pwd) as $(id -un), from <+execution.steps.here.output.outputVariables.FROM>, $WORD"
WHO=$(id -un); echo "$WORD" | base64`,
        env: { WORD: `it is ${asked}` },
        outputs: ["WHO"],
        target: {
          host: "<+pipeline.variables.host>",
          connectorRef: "account.by_password",
          workingDirectory: "<+pipeline.variables.folder>",
        },
      }),
      there({ id: "with_key", script: 'echo "who: <+execution.steps.with_password.output.outputVariables.WHO>"' }),
    ],
  });
  assert.equal(status, "SUCCESS", log);
  assert.ok(log.includes(`at ${ssh.home} as ${ssh.userName}, from delegate, it is **************\n`), log);
  assert.ok(log.includes(`who: ${ssh.userName}\n`), log);
  const kept = [log, JSON.stringify(await detail()), await dumpOf(platform), logged.join("\n")].join("\n");
  for (const value of ["a word for the host only", ssh.password, ssh.passphrase, ssh.lockedKey.split("\n")[2] ?? "?"])
    for (const part of [value, Buffer.from(value).toString("base64").slice(0, 20)])
      assert.ok(!kept.includes(part), part);
});

test(
  "outside of the usage scope of the credential or of its secrets, the step fails before anything is sent",
  needsSsh,
  async () => {
    const usageScope = {
      appEnvScopes: [{ application: { filterType: "ALL" }, environment: { filterType: "PRODUCTION_ENVIRONMENTS" } }],
    };
    const byPassword = (id: string | undefined) => ({
      sshCredentialType: "PASSWORD",
      serverPassword: { passwordSecretId: id },
    });
    await secret("ENCRYPTED_TEXT", { encryptedText: { name: "prod_password", value: ssh.password, usageScope } });
    await login("prod_login", byPassword(ids["password"]), { usageScope });
    await login("taking_prod", byPassword(ids["prod_password"]));
    for (const [credential, named] of [
      ["prod_login", "prod_login"],
      ["taking_prod", "prod_password"],
    ] as const) {
      const step = there({ id: "x", script: `touch ${ssh.home}/was-here` }, `account.${credential}`);
      const { status, log, detail } = await run({ id: `outside_${credential}`, steps: [step] });
      assert.deepEqual([status, log], ["FAILED", ""]);
      const { message, failureTypeList } = (await detail()).step("x")["failureInfo"];
      assert.match(message, new RegExp(`secret \\[${named}\\] may not be used here`));
      assert.deepEqual(failureTypeList, ["AUTHORIZATION_ERROR"]);
    }
    assert.ok(!existsSync(join(ssh.home, "was-here")));
  },
);

/** Starts a step that does not end and returns its process on the host. */
async function going(id: string, timeout: string): Promise<{ readonly run: string; readonly pid: number }> {
  await addPipeline(platform, { id, steps: [there({ id: "x", timeout, script: 'echo "pid=$$"; sleep 1000' })] });
  const started = await startRun(platform, id);
  const log = await eventually(async () => {
    const text = await logOf(platform, started);
    return /^pid=\d+\n/m.test(text) ? text : undefined;
  });
  return { run: started, pid: Number(/^pid=(\d+)$/m.exec(log)?.[1]) };
}

const isAlive = (pid: number): boolean => livingProcesses(pid).some((info) => info.pid === pid);

test("an abort and a timeout end the processes on the host", needsSsh, async () => {
  const aborted = await going("aborted_there", "10m");
  assert.ok(isAlive(aborted.pid));
  assert.equal((await abortRun(platform, aborted.run)).status, 200);
  assert.equal(await waitForEnd(platform, aborted.run), "ABORTED");
  assert.ok(!isAlive(aborted.pid));
  const late = await going("late_there", "1m");
  platform.clock.advance(60_000);
  await platform.platform.sweep();
  assert.equal(await waitForEnd(platform, late.run), "EXPIRED");
  assert.equal(await statusesOf(platform, late.run, "x"), "Expired x:Expired");
  assert.ok(!isAlive(late.pid));
});

const save = (step: StepSketch, id: string) =>
  platform.send("POST", `/pipeline/api/pipelines?${SCOPE}`, {
    contentType: JSON_TYPE,
    body: JSON.stringify({
      pipeline: {
        name: id,
        identifier: id,
        stages: [
          {
            stage: {
              name: "S",
              identifier: "s",
              type: "Deployment",
              spec: {
                serviceConfig: { serviceRef: "s" },
                infrastructure: { environmentRef: "e" },
                execution: {
                  steps: [
                    {
                      step: {
                        type: "ShellScript",
                        name: "x",
                        identifier: "x",
                        spec: {
                          shell: "Bash",
                          onDelegate: false,
                          executionTarget: step.target,
                          source: { type: "Inline", spec: { script: step.script } },
                        },
                      },
                    },
                  ],
                },
              },
            },
          },
        ],
      },
    }),
  });

test("a pipeline must name an existing credential, which then cannot be deleted", needsSsh, async () => {
  for (const [connectorRef, message] of [
    ["account.nothing", /executionTarget\.connectorRef: No secret 'account\.nothing' exists/],
    ["account.password", /executionTarget\.connectorRef: The secret 'account\.password' is no SSH credential/],
  ] as const) {
    const answer = await save(there({ id: "x", script: "true" }, connectorRef), "names_wrong");
    assert.equal(answer.status, 400);
    assert.match(answer.body.message, message);
  }
  const script = 'echo "<+secrets.getValue("account.by_key")>"';
  const asText = await save(there({ id: "x", script }), "as_text");
  assert.match(asText.body.message, /The secret 'account\.by_key' is an SSH credential/);
  await made(save(there({ id: "x", script: "true" }), "names_right"));
  const refused = await platform.send("DELETE", "/ng/api/v2/secrets/by_key");
  assert.equal(refused.status, 402);
  assert.match(refused.body.message, /is used by pipeline/);
});

test("an invalid host from an expression fails the step before any login", needsSsh, async () => {
  for (const [id, host] of [
    ["option_as_host", "-oProxyCommand=touch /tmp/x"],
    ["user_in_host", "root@127.0.0.1"],
  ] as const) {
    const target = { host: "<+pipeline.variables.host>", connectorRef: "account.by_password" };
    const { status, log, detail } = await run({ id, variables: { host }, steps: [there({ id: "x", target })] });
    assert.deepEqual([status, log], ["FAILED", ""]);
    const { message, failureTypeList } = (await detail()).step("x")["failureInfo"];
    assert.match(
      message,
      /executionTarget\.host has come to a value that cannot be used\. A host is a name or an address/,
    );
    assert.deepEqual(failureTypeList, ["CONFIGURATION_FAILURE"]);
  }
});
