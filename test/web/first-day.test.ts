/** A person's first day with a new installation, from the sign-in to the audit log, by keyboard alone. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { keyboardOf, type Keyboard } from "../support/keyboard.ts";
import { ADMIN, PASSWORD } from "../support/sessions.ts";
import { skip, startWeb, type WebTest } from "../support/web.ts";

const NEW_PASSWORD = "seven grey herons at dusk";
const PROJECT = "/projects/default/Shop";

const PIPELINE = `pipeline:
  name: Quickstart
  identifier: quickstart
  stages:
    - stage:
        name: Build
        identifier: build
        type: Custom
        spec:
          execution:
            steps:
              - step:
                  type: ShellScript
                  name: Compile
                  identifier: compile
                  spec:
                    shell: Bash
                    source: { type: Inline, spec: { script: 'for n in 1 2 3; do echo "compiling part $n"; done' } }
              - step:
                  type: ShellScript
                  name: Publish
                  identifier: publish
                  spec:
                    shell: Bash
                    source:
                      type: Inline
                      spec:
                        script: |-
                          case <+secrets.getValue("deploy_key")> in
                            expired*) echo "the shop refuses the key: it has expired"; exit 3 ;;
                            *) echo "published" ;;
                          esac
    - stage:
        name: Release
        identifier: release
        type: Approval
        spec:
          execution:
            steps:
              - step:
                  type: PlatformApproval
                  name: Ask
                  identifier: ask
                  timeout: 1h
                  spec:
                    approvalMessage: Release it?
                    includePipelineExecutionHistory: true
                    approvers:
                      userGroups: [account._account_all_users]
                      minimumCount: 1
                      disallowPipelineExecutor: false
`;

let web: WebTest;
let keyboard: Keyboard;
before(async () => {
  if (skip) return;
  web = await startWeb({ delegate: true });
  await web.browser.context.clearCookies();
  keyboard = keyboardOf(web.page);
});
after(async () => {
  await web?.page.screenshot({ path: "/tmp/rw/fd.png" });
  await web?.stop();
}); // DEV

const button = (name: string | RegExp) => web.page.getByRole("button", { name });
const link = (name: string | RegExp) => web.page.getByRole("link", { name });
const heading = (name: string | RegExp) => web.page.getByRole("heading", { name, level: 1 }).waitFor();
const status = (name: string) => web.page.locator("header:has(h1)").getByText(name, { exact: true }).waitFor();

async function signInAndChangePassword(): Promise<void> {
  const { page, platform } = web;
  await page.goto(platform.url);
  await page.waitForURL((url) => url.pathname === "/login");
  await keyboard.type(page.getByLabel("E-mail"), ADMIN);
  await keyboard.type(page.getByRole("textbox", { name: "Password", exact: true }), PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname === "/");
  await keyboard.press(button(ADMIN));
  await keyboard.pick(page.getByRole("menuitem", { name: "Profile, keys and sessions" }), "ArrowDown");
  await keyboard.openTab("Password");
  await keyboard.type(page.getByLabel("Current password"), PASSWORD);
  await keyboard.type(page.getByLabel("New password", { exact: true }), NEW_PASSWORD);
  await keyboard.type(page.getByLabel("New password, again"), NEW_PASSWORD);
  await keyboard.press(button("Change password"));
  await page.getByText("The password was changed.").waitFor();
}

async function createKey(): Promise<void> {
  const { page, platform } = web;
  await keyboard.openTab("API keys");
  await keyboard.press(button("New API key with a token"));
  const dialog = page.getByRole("dialog");
  await keyboard.type(dialog.getByLabel("Name of the API key"), "Laptop");
  await keyboard.type(dialog.getByLabel("Name of the token"), "First");
  await keyboard.press(dialog.getByRole("button", { name: "Create token" }));
  const token = await dialog.getByRole("group", { name: "Token" }).locator("code").innerText();
  await keyboard.press(dialog.getByRole("button", { name: "Done" }));
  const { status: answered } = await platform.send("GET", "/ng/api/user/currentUser", { apiKey: token });
  assert.equal(answered, 200);
}

async function createProject(): Promise<void> {
  const { page, platform } = web;
  await keyboard.goTo("Projects");
  await keyboard.press(button("New project").first());
  const dialog = page.getByRole("dialog");
  await keyboard.type(dialog.getByLabel("Name"), "Shop");
  await keyboard.press(dialog.getByRole("button", { name: "Create project" }));
  await page.waitForURL(`${platform.url}${PROJECT}`);
}

async function createPipeline(): Promise<void> {
  const { page } = web;
  await keyboard.goTo("Pipelines");
  await keyboard.press(link("New pipeline").first());
  await keyboard.type(page.getByRole("textbox", { name: "Pipeline document" }), PIPELINE);
  await page.getByText("Valid", { exact: true }).waitFor();
  // Tab writes in the editor; this key lets it leave.
  await page.keyboard.press("Control+m");
  await keyboard.press(button("Create pipeline"));
  await heading("Quickstart");
}

async function runAndFindFailure(): Promise<void> {
  const { page } = web;
  await keyboard.press(link("Run"));
  await heading(/^Run/);
  await keyboard.press(button("Run pipeline"));
  await heading("Quickstart #1");
  // The log appears while it runs.
  await status("Failed");
  const failure = page.getByRole("article", { name: "Publish" });
  await failure.getByText("the shop refuses the key: it has expired").waitFor();
  await keyboard.press(failure.getByRole("link", { name: "Open the log" }));
  await page
    .getByRole("region", { name: /^Log of Publish/ })
    .getByText("the shop refuses the key: it has expired")
    .waitFor();
}

async function createSecret(): Promise<void> {
  const { page } = web;
  await keyboard.goTo(/^Secrets.*Shop/, "Secrets");
  await keyboard.press(button("New secret").first());
  const dialog = page.getByRole("dialog");
  await keyboard.type(dialog.getByLabel("Name"), "deploy_key");
  await keyboard.type(dialog.getByLabel("Value"), "expired-key-of-the-shop");
  await keyboard.press(dialog.getByRole("button", { name: "Create secret" }));
  await page.getByText("The secret deploy_key was created.").waitFor();
}

async function replaceSecret(): Promise<void> {
  const { page } = web;
  await keyboard.goTo(/^Secrets.*Shop/, "Secrets");
  await keyboard.press(button("Actions of deploy_key"));
  await keyboard.pick(page.getByRole("menuitem", { name: "Replace the value" }), "ArrowDown");
  const dialog = page.getByRole("dialog");
  await keyboard.type(dialog.getByLabel("Value"), "present-key-of-the-shop");
  await keyboard.press(dialog.getByRole("button", { name: "Replace" }));
  await page.getByText("deploy_key has a new value.").waitFor();
}

async function uploadSecret(): Promise<void> {
  const { page } = web;
  await keyboard.goTo(/^Secrets.*Shop/, "Secrets");
  await keyboard.press(button("New secret").first());
  const dialog = page.getByRole("dialog");
  await keyboard.type(dialog.getByLabel("Name"), "ssh_key");
  await keyboard.choose(dialog.getByLabel("Type"), "File");
  const chooser = page.waitForEvent("filechooser");
  await keyboard.press(dialog.getByRole("button", { name: "Choose a file" }));
  await (await chooser).setFiles({ name: "id_ed25519", mimeType: "text/plain", buffer: Buffer.from("a private key") });
  await keyboard.press(dialog.getByRole("button", { name: "Create secret" }));
  await page.getByText("The secret ssh_key was created.").waitFor();
}

async function retryAndApprove(): Promise<void> {
  const { page } = web;
  await keyboard.goTo(/^Quickstart #1/, "Quickstart");
  await heading("Quickstart #1");
  await keyboard.press(page.getByRole("region", { name: "Stage Build" }).getByRole("button", { name: /Publish/ }));
  await keyboard.press(button("Retry from here"));
  await heading("Quickstart #2");
  const form = page.getByRole("form", { name: "Decision" });
  await keyboard.type(form.getByLabel("Comment"), "go");
  await keyboard.press(form.getByRole("button", { name: "Approve" }));
  await status("Success");
}

async function tagDelegate(): Promise<void> {
  const { page } = web;
  await keyboard.goTo("Delegates");
  await keyboard.press(link("real"));
  await keyboard.press(page.getByRole("dialog", { name: "real" }).getByRole("button", { name: "Edit tags" }));
  const edit = page.getByRole("dialog", { name: "Tags of real" });
  await keyboard.type(edit.getByLabel("Tags"), "linux, eu");
  await keyboard.press(edit.getByRole("button", { name: "Save tags" }));
  await page.getByRole("dialog", { name: "real" }).getByText("eu", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
}

async function readAudit(): Promise<void> {
  const { page } = web;
  await keyboard.goTo(/^Audit/, "Audit");
  await heading("Audit trail");
  await page
    .getByRole("row", { name: /ssh_key/ })
    .first()
    .waitFor();
}

test("the first day of a person who has no pointer", { skip }, async () => {
  await signInAndChangePassword();
  await createKey();
  await createProject();
  await createSecret();
  await createPipeline();
  await runAndFindFailure();
  await replaceSecret();
  await retryAndApprove();
  await uploadSecret();
  await tagDelegate();
  await readAudit();
  assert.deepEqual(web.complaints(), []);
});
