/**
 * Resources of the examples in api/openapi.json: the organization `default` with the project `shop`, and in it those of
 * examples/quickstart. Values that only a running server knows are listed by the parameter's name, or by operation and
 * name if one name has several meanings.
 */
import {
  connectorYaml,
  create,
  inputSetYaml,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  triggerYaml,
} from "../support/contract.ts";
import { inviteUsers, setUserPassword, linkIdentities } from "../support/sessions.ts";
import { pretendDelegate } from "../support/pretend-delegate.ts";
import type { TestPlatform } from "../support/platform.ts";

/** A runtime input for which the example input sets have values. */
const GREETED = '  variables: [{ name: who, type: String, value: "<+input>" }]\n';

const GIVEN = "    variables: [{ name: who, value: world }]\n";

export type World = Readonly<Record<string, string>>;

/** Creates a service account with a key and tokens, which the examples rename, rotate and delete. */
async function makeDeployer(platform: TestPlatform): Promise<void> {
  const post = (path: string, body: object): Promise<unknown> =>
    made(platform.send("POST", `/ng/api/${path}`, { contentType: JSON_TYPE, body: JSON.stringify(body) }));
  const owner = { apiKeyType: "SERVICE_ACCOUNT", parentIdentifier: "deployer" };
  const [deployer, key] = [{ identifier: "deployer", name: "Deployer" }, "pipelines"];
  await post("serviceaccount", deployer);
  await post("apikey", { ...owner, identifier: key, name: "Pipelines" });
  for (const identifier of ["daily", "weekly"])
    await post("token", { ...owner, apiKeyIdentifier: key, identifier, name: identifier });
}

/** Creates users and groups of a directory for the examples of both addresses. */
async function provision(platform: TestPlatform): Promise<World> {
  const urn = "urn:ietf:params:scim:schemas:core:2.0:";
  const found: [string, string][] = [];
  for (const [noun, base] of [
    ["scim", "/ng/api/scim"],
    ["scim-older", "/api/scim"],
  ] as const)
    for (const [type, fields] of [
      ["User", { userName: `kept-${noun}@example.com` }],
      ["Group", { displayName: `Kept by ${noun} alone` }],
    ] as const) {
      const answer = await platform.send("POST", `${base}/account/${platform.accountId}/${type}s`, {
        contentType: "application/scim+json",
        body: JSON.stringify({ schemas: [urn + type], ...fields }),
      });
      if (answer.status !== 201) throw new Error(answer.text);
      for (const verb of ["get", "replace", "patch", "delete"])
        found.push([`${noun}-${type.toLowerCase()}.${verb} id`, answer.body.id]);
    }
  return Object.fromEntries(found);
}

const RELEASE = `pipeline:
  name: Release
  identifier: release
  orgIdentifier: default
  projectIdentifier: shop
  stages:
    - stage:
        name: Release
        identifier: release
        type: Deployment
        failureStrategies: []
        spec:
          serviceConfig: { serviceRef: web }
          infrastructure: { environmentRef: staging }
          execution:
            steps:
              - step:
                  type: PlatformApproval
                  name: Ask
                  identifier: ask
                  spec:
                    approvalMessage: Release it?
                    includePipelineExecutionHistory: false
                    approvers: { minimumCount: 1, disallowPipelineExecutor: false, userGroups: [account._account_all_users] }
                    callbackId: release
`;

/** An execution that waits for approval, for each operation that decides. */
async function waitForApprovals(platform: TestPlatform): Promise<World> {
  await made(create.pipeline(platform, RELEASE));
  const runs: string[] = [];
  for (let times = 0; times < 3; times += 1) {
    const { planExecution } = await made(create.run(platform, "release"));
    runs.push(planExecution.uuid);
  }
  const [first = "", second = "", third = ""] = runs;
  const listed = await platform.send("GET", `/v1/orgs/default/projects/shop/approvals/execution/${first}`);
  return {
    "approval.decide approvalInstanceId": listed.body[0].id,
    "approval-v1.list executionId": first,
    "approval-v1.list-older executionId": first,
    "approval-v1.decide executionId": second,
    "approval-v1.decide-older executionId": third,
  };
}

/** Starts an execution for each operation that interrupts a node. No delegate takes its step. */
async function startInterruptible(platform: TestPlatform): Promise<World> {
  const found: [string, string][] = [];
  for (const operation of ["execution.interrupt-node", "execution.intervene"]) {
    const { planExecution } = await made(create.run(platform, "deploy"));
    const path = `/pipeline/api/pipelines/execution/${planExecution.uuid}`;
    const { executionGraph } = await made(platform.send("GET", path));
    const nodes = Object.values(executionGraph.nodeMap) as { uuid: string; stepType: string }[];
    const step = nodes.find(({ stepType }) => stepType === "ShellScript");
    found.push(
      [`${operation} planExecutionId`, planExecution.uuid],
      [`${operation} nodeExecutionId`, step?.uuid ?? ""],
    );
  }
  return Object.fromEntries(found);
}

/** An execution whose step waits for its inputs. */
async function startAsking(platform: TestPlatform): Promise<World> {
  const asking = pipelineYaml("asking", "<+input>.executionInput()");
  await made(create.pipeline(platform, asking));
  const { planExecution } = await made(create.run(platform, "asking"));
  const { executionGraph } = await made(
    platform.send("GET", `/pipeline/api/pipelines/execution/${planExecution.uuid}`),
  );
  const nodes = Object.values(executionGraph.nodeMap) as { uuid: string; executionInputConfigured: boolean }[];
  const node = nodes.find(({ executionInputConfigured }) => executionInputConfigured)?.uuid ?? "";
  return { "execution.read-inputs nodeExecutionId": node, "execution.submit-inputs nodeExecutionId": node };
}

/** A pipeline of which single stages may be run, and an execution of it. */
async function createStaged(platform: TestPlatform): Promise<World> {
  await made(create.pipeline(platform, pipelineYaml("staged", "none", "  allowStageExecutions: true\n")));
  const { planExecution } = await made(create.run(platform, "staged"));
  return { "execution.rerun-stages originalExecutionId": planExecution.uuid };
}

/** An execution that has ended and can be retried, for each operation that does. */
async function abortRetried(platform: TestPlatform): Promise<World> {
  const found: [string, string][] = [];
  for (const operation of ["execution.retry", "execution.retry-by-id"]) {
    const { planExecution } = await made(create.run(platform, "deploy"));
    const path = `/pipeline/api/pipeline/execute/interrupt/${planExecution.uuid}?interruptType=AbortAll`;
    await made(platform.send("PUT", path));
    found.push([`${operation} planExecutionId`, planExecution.uuid]);
  }
  return Object.fromEntries(found);
}

/** Registers a delegate, one that waits for approval, and one to delete. */
async function registerDelegates(platform: TestPlatform): Promise<World> {
  const old = await platform.send("POST", "/ng/api/delegate-token-ng?tokenName=old-hosts");
  const register = async (name: string): Promise<string> => {
    const { value: token } = old.body.resource;
    const delegate = await pretendDelegate({ url: platform.url, token, name, tags: ["linux"] });
    const { delegate: id } = await delegate.next("welcome");
    await delegate.close();
    return id;
  };
  const requireApproval = async (value: string): Promise<void> => {
    const entry = { identifier: "delegate_approval_required", value, allowOverrides: false, updateType: "UPDATE" };
    const body = JSON.stringify([entry]);
    await made(platform.send("PUT", "/ng/api/settings", { contentType: JSON_TYPE, body }));
  };
  await requireApproval("true");
  const waiting = await register("build-3");
  await requireApproval("false");
  return {
    delegateId: await register("build-1"),
    "delegate.delete delegateId": await register("build-2"),
    "delegate.approve delegateId": waiting,
    groupIdentifier: "build-1",
  };
}

export async function createWorld(platform: TestPlatform): Promise<World> {
  await setUserPassword(platform);
  const identities = await linkIdentities(platform);
  const invitations = await inviteUsers(platform);
  const provisioned = await provision(platform);
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.connector(platform, connectorYaml()));
  // No delegate matches: a pretend one would let the connection test wait.
  const unserved = connectorYaml("unserved").replace("    auth:", "    delegateSelectors: [nowhere]\n    auth:");
  await made(create.connector(platform, unserved));
  await made(create.pipeline(platform, pipelineYaml()));
  await made(create.pipeline(platform, pipelineYaml("greeting", "<+input>.default(none)", GREETED)));
  await made(create.inputSet(platform, "greeting", inputSetYaml("greeting", "basic", GIVEN)));
  await makeDeployer(platform);
  const { webhookUrl } = await made(create.trigger(platform, "deploy", triggerYaml()));
  const { planExecution } = await made(create.run(platform, "deploy"));
  // One execution is aborted by the older operation, the other by the newer one.
  const other = (await made(create.run(platform, "deploy"))).planExecution.uuid;
  const detail = await made(platform.send("GET", `/pipeline/api/pipelines/execution/${planExecution.uuid}`));
  const { pathname } = new URL(webhookUrl);
  const event = await made(platform.send("POST", pathname, { body: "{}", contentType: "application/json" }));
  const delegates = await registerDelegates(platform);
  const people = await platform.send("POST", "/ng/api/user/users", {
    body: '{"emails":["ada@example.com"]}',
    contentType: "application/json",
  });
  if (people.status !== 200) throw new Error(people.text);
  const { content } = await made(platform.send("POST", "/ng/api/user/batch?searchTerm=ada@"));
  const approvals = await waitForApprovals(platform);
  const interruptible = await startInterruptible(platform);
  const retried = await abortRetried(platform);
  const staged = await createStaged(platform);
  const asking = await startAsking(platform);
  const input = "pipeline: { variables: [{ name: who, value: world }] }";
  const { planExecution: greeted } = await made(create.run(platform, "greeting", input));
  const { content: trail } = await made(
    platform.send("POST", "/audit/api/audits/list?pageSize=1", { contentType: JSON_TYPE, body: "{}" }),
  );
  const { userByName } = (await platform.graphql('{ userByName(name: "admin") { id } }')).body.data;
  return {
    userIdentifier: userByName.id,
    "connector.test identifier": "unserved",
    "ownership.list principalIdentifier": userByName.id,
    auditId: trail[0].auditId,
    prefix: `${platform.accountId}/pipeline/deploy/1/-${planExecution.uuid}`,
    userId: content[0].uuid,
    smtpConfigId: platform.accountId,
    ...delegates,
    ...identities,
    ...invitations,
    ...provisioned,
    ...approvals,
    ...interruptible,
    ...retried,
    ...staged,
    ...asking,
    // Public operations also require the account.
    "webhook.execution-details accountIdentifier": platform.accountId,
    "webhook.processing-details accountIdentifier": platform.accountId,
    planExecutionId: planExecution.uuid,
    executionId: other,
    originalExecutionId: planExecution.uuid,
    "execution.rerun-with-input-sets originalExecutionId": greeted.uuid,
    nodeExecutionId: detail.executionGraph.rootNodeId,
    token: pathname.split("/").at(-2) ?? "",
    eventId: event.eventCorrelationId,
  };
}
