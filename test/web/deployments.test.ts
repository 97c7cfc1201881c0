/** Deployments: the versions that run, what names a resource, and the measures of delivery. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, projectYaml } from "../support/contract.ts";
import { waitForEnd } from "../support/runs.ts";
import { assertAccessible, assertFitsNarrow, skip, startWeb, type WebTest } from "../support/web.ts";

const PROJECT = "/projects/default/shop";
const IN_PROJECT = "orgIdentifier=default&projectIdentifier=shop";
const IN_SHOP = "  orgIdentifier: default\n  projectIdentifier: shop\n";
const YAML = "application/yaml";
const HOSTILE = "<img src=x onerror=alert(1)> \u202Edesrever";

const PIPELINE = `pipeline:
  name: Release
  identifier: release
${IN_SHOP}  variables:
    - { name: version, type: String, value: <+input> }
  stages:
    - stage:
        name: Live
        identifier: live
        type: Deployment
        spec:
          serviceConfig: { serviceRef: web, serviceDefinition: { type: Kubernetes, spec: { variables: [] } } }
          infrastructure: { environmentRef: live, allowSimultaneousDeployments: true }
          execution:
            steps:
              - step:
                  type: ShellScript
                  name: Go
                  identifier: go
                  spec: { shell: Bash, source: { type: Inline, spec: { script: 'test "<+pipeline.variables.version>" != bad' } } }
`;

let web: WebTest;
before(async () => {
  if (skip) return;
  web = await startWeb({ delegate: true });
  const { platform } = web;
  await made(create.project(platform, projectYaml()));
  await made(create.service(platform, "web", IN_SHOP));
  const body = `environment:\n  name: Live\n  identifier: live\n  type: Production\n${IN_SHOP}`;
  await made(platform.send("POST", "/ng/api/environmentsV2", { contentType: YAML, body }));
  await made(create.pipeline(platform, PIPELINE));
});
after(() => web?.stop());

async function deploy(version: string): Promise<string> {
  const body = `pipeline:\n  identifier: release\n  variables:\n    - { name: version, type: String, value: ${JSON.stringify(version)} }\n`;
  const path = `/pipeline/api/pipeline/execute/release?${IN_PROJECT}`;
  const { planExecution } = await made(web.platform.send("POST", path, { contentType: YAML, body }));
  return planExecution.uuid;
}

test(
  "a deployed version appears by itself, with its history and with what names the environment",
  { skip },
  async () => {
    const { page, open, platform, complaints } = web;
    await open(`${PROJECT}/environments`, "Environments");
    await page.getByText("Nothing yet").waitFor();
    assert.equal(await waitForEnd(platform, await deploy("v1.4.2")), "SUCCESS");
    await page.getByText("web v1.4.2").waitFor();
    assert.equal(await waitForEnd(platform, await deploy("bad")), "FAILED");
    await page.getByRole("link", { name: "Live" }).click();
    await page.waitForURL(/open=live/);
    const panel = page.getByRole("dialog", { name: "Live" });
    const deployed = panel.getByRole("list", { name: "Deployed versions" });
    await deployed.getByText("v1.4.2").waitFor();
    await deployed.getByText("Failed").waitFor();
    assert.equal(await panel.getByRole("list", { name: "Last deployments" }).getByRole("link").count(), 2);
    await panel.getByRole("link", { name: "release", exact: true }).waitFor();
    await assertAccessible(page);
    await assertFitsNarrow(page);
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "hidden" });
    assert.deepEqual(complaints(), []);
  },
);

test("the page of services shows the same by environment; versions stay text", { skip }, async () => {
  const { page, open, platform, complaints } = web;
  assert.equal(await waitForEnd(platform, await deploy(HOSTILE)), "SUCCESS");
  await open(`${PROJECT}/services?open=web`, "Services");
  const panel = page.getByRole("dialog", { name: "web" });
  await panel
    .getByRole("list", { name: "Deployed versions" })
    .getByText(/<img src=x.*<202E>/)
    .waitFor();
  assert.equal(await page.locator("main img, dialog img").count(), 0);
  await assertAccessible(page);
  await assertFitsNarrow(page);
  await panel.getByRole("link", { name: "release", exact: true }).click();
  await page.getByRole("heading", { name: "Release", level: 1 }).waitFor();
  assert.deepEqual(complaints(), []);
});

test("the overviews measure the deployments to production, of one project and of each", { skip }, async () => {
  const { page, open, complaints } = web;
  await open(PROJECT, "The shop");
  const delivery = page.getByRole("region", { name: "Delivery" });
  await delivery.getByText("2 deployments").waitFor();
  await delivery.getByText("33.3 %").waitFor();
  await delivery.getByText("1 restored").waitFor();
  await delivery.getByText("no payload had the commit’s time").waitFor();
  await delivery.getByRole("figure", { name: "Deployments to production per day" }).waitFor();
  await assertAccessible(page);
  await assertFitsNarrow(page);
  await open("/?days=7", "Overview");
  const row = page.getByRole("table", { name: "Measures of delivery" }).getByRole("row", { name: /The shop/ });
  await row.getByText("33.3 %").waitFor();
  await row.getByText("0.29").waitFor();
  await page.getByRole("region", { name: "Last failures" }).getByRole("link", { name: "Release #2" }).waitFor();
  await assertAccessible(page);
  await assertFitsNarrow(page);
  assert.deepEqual(complaints(), []);
});
