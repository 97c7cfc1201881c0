/** Passwords of other people over REST. rest.ts changes one's own, with a session. */
import { z } from "zod";
import { okWith } from "../platform/http/answers.ts";
import { route, type Route } from "../platform/http/routes.ts";
import { enveloped } from "../platform/http/shapes.ts";
import type { SetOneTimePassword } from "./one-time-password.ts";

export const passwordRoutes = ({ setOneTime }: { readonly setOneTime: SetOneTimePassword }): readonly Route[] => [
  route({
    method: "POST",
    path: "/auth/users/:userId/password/one-time",
    operation: "password.set-one-time",
    access: { permission: "core_user_manage" },
    query: z.object({}),
    doc: {
      summary: "Set a one-time password for a person",
      description:
        "Answers the password, once; nothing is mailed. It replaces whatever password the person has, ends their sessions, and is good for choosing another one and nothing else. Refused with 403 to who holds less than the person, and with 400 for oneself.",
      answer: enveloped(z.strictObject({ email: z.string(), oneTimePassword: z.string() })),
    },
    handle: async (call) =>
      okWith(call, await setOneTime(call.actor, call.params["userId"] ?? ""), { "cache-control": "no-store" }),
  }),
];
