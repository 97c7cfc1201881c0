/** Checks of a webhook call besides the token in the URL: the request limit and, if required, an API key. */
import type { Uuid } from "../../core/ids.ts";
import { refusalOf } from "../../access/index.ts";
import type { Authenticate } from "../../identity/index.ts";
import { problem as httpProblem } from "../../platform/http/problems.ts";
import type { SettingValue } from "../../settings/index.ts";
import { problem } from "../problems.ts";
import type { Trigger } from "../trigger.ts";

export type CheckCallDeps = {
  readonly authenticate: Authenticate;
  readonly settingValue: SettingValue;
  /** Counts a request of the account. Throws `limits.too_many`. */
  readonly countAccount: (accountId: Uuid) => Promise<void> | undefined;
};

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Throws `limits.too_many` (429) over the account's limit, and where the settings ask for an API key
 * `http.no_credential` (401) or `trigger.not_permitted` (403) for one that may not run the pipeline.
 */
export const checkCall =
  (deps: CheckCallDeps) =>
  async (trigger: Trigger, headers: Headers): Promise<void> => {
    await deps.countAccount(trigger.accountId);
    const asked = await deps.settingValue(trigger.accountId, "mandate_custom_webhook_authorization", trigger);
    if (asked !== "true") return;
    const token = tokenOf(headers);
    const actor = token === undefined ? undefined : await deps.authenticate(token);
    // A key of another account is not accepted.
    if (actor?.accountId !== trigger.accountId) throw httpProblem("http.no_credential");
    const refusal = refusalOf(actor, "core_pipeline_execute", trigger, trigger.pipelineIdentifier);
    // The route has no actor, because the token of its URL names none.
    if (refusal) throw problem("trigger.not_permitted", [], { refusal: { ...refusal, actor } });
  };

function tokenOf(headers: Headers): string | undefined {
  const key = headers["x-api-key"];
  if (typeof key === "string") return key;
  const authorization = headers["authorization"];
  return typeof authorization === "string" ? /^bearer +(\S+)$/i.exec(authorization)?.[1] : undefined;
}
