/** Passwords of other people over REST. rest.ts changes one's own, with a session. */
import { z } from "zod";
import { okWith } from "../../platform/http/response/answers.ts";
import { route, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import type { SetOneTimePassword } from "../password/one-time-password.ts";

export const passwordRoutes = ({ setOneTime }: { readonly setOneTime: SetOneTimePassword }): readonly Route[] => [
  route({
    method: "POST",
    path: "/auth/users/:userId/password/one-time",
    operation: "password.set-one-time",
    access: { permission: "core_user_manage" },
    query: z.object({}),
    doc: {
      summary: "Set a one-time password for a user",
      description:
        "Returns the password once; no mail is sent. It replaces the user's password, ends their sessions, and allows only the choice of another password. Refused with 403 if the user holds more than the caller, and with 400 for oneself.",
      answer: enveloped(z.strictObject({ email: z.string(), oneTimePassword: z.string() })),
    },
    handle: async (call) =>
      okWith(call, await setOneTime(call.actor, call.params["userId"] ?? ""), { "cache-control": "no-store" }),
  }),
];
