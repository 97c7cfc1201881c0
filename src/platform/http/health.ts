/** Health probes: liveness and readiness. */
import { z } from "zod";
import { outsideShares } from "../db/pool/budget.ts";
import { json } from "./response/answers.ts";
import { publicRoute, type Answer, type Route } from "./routes.ts";

export type HealthDeps = {
  /** Names of the migrations that are not applied yet. Rejects when the database does not answer. */
  readonly pendingMigrations: () => Promise<readonly string[]>;
  /** Aborted when the server is asked to stop; requests are still served. */
  readonly leaving: AbortSignal;
  readonly stopping: AbortSignal;
  /** Milliseconds of a clock that only goes forward. */
  readonly elapsed: () => number;
};

export type Health = {
  readonly routes: readonly Route[];
  /** Marks the start as finished. */
  readonly ready: () => void;
};

/** The reason why a server without its database is not ready. */
export const NO_DATABASE = "the database does not answer";

const up = z.strictObject({ status: z.literal("UP") });
const down = z.strictObject({ status: z.literal("DOWN"), reason: z.string() });
const PROBE = { public: "probes have no credential, and learn nothing here" };

/** The result of a check is valid for this time. Without it, thousands of probes would be answered at one moment. */
const VALID_MS = 100;

/** Not ready until `ready` is called, and never again once `leaving` or `stopping` is aborted. */
export function createHealth({ pendingMigrations, leaving, stopping, elapsed }: HealthDeps): Health {
  let started = false;
  let underWay: Promise<string | undefined> | undefined;
  let last: { readonly at: number; readonly reason: string | undefined } | undefined;

  async function checkDatabase(): Promise<string | undefined> {
    try {
      // The query itself shows that the database answers.
      return (await pendingMigrations()).length > 0 ? "migrations are pending" : undefined;
    } catch {
      return NO_DATABASE;
    }
  }

  async function check(): Promise<string | undefined> {
    const at = elapsed();
    const reason = await checkDatabase();
    last = { at, reason };
    underWay = undefined;
    return reason;
  }

  /** Probes at the same time share a check, which does not wait among other requests. */
  function checkOnce(): string | undefined | Promise<string | undefined> {
    if (last && elapsed() - last.at < VALID_MS) return last.reason;
    return (underWay ??= outsideShares(check));
  }

  async function whyNot(): Promise<string | undefined> {
    if (leaving.aborted || stopping.aborted) return "the server stops";
    const reason = await checkOnce();
    return reason ?? (started ? undefined : "the server is still starting");
  }

  async function readiness(): Promise<Answer> {
    const reason = await whyNot();
    return reason === undefined ? json(200, { status: "UP" }) : json(503, { status: "DOWN", reason });
  }

  return {
    ready: () => void (started = true),
    routes: [
      publicRoute({
        method: "GET",
        path: "/health/live",
        operation: "health.live",
        doc: { summary: "Whether the process runs", answer: up },
        access: PROBE,
        query: z.object({}),
        handle: async () => json(200, { status: "UP" }),
      }),
      publicRoute({
        method: "GET",
        path: "/health/ready",
        operation: "health.ready",
        doc: { summary: "Whether requests can be served now", answer: up, otherAnswers: { 503: down } },
        access: PROBE,
        query: z.object({}),
        handle: readiness,
      }),
    ],
  };
}
