/**
 * All benchmarks by name, in the order in which they run. test/conventions/docs/benches.test.ts compares it with the
 * folder.
 */
import { auditChain } from "../benchmarks/audit-chain.ts";
import { auditIdle } from "../benchmarks/audit-idle.ts";
import { credentials } from "../benchmarks/credentials.ts";
import { eventCost } from "../benchmarks/event-cost.ts";
import { eventStreams } from "../benchmarks/event-streams.ts";
import { graphql } from "../benchmarks/graphql.ts";
import { latency } from "../benchmarks/latency.ts";
import { logs } from "../benchmarks/logs.ts";
import { masking } from "../benchmarks/masking.ts";
import { pages } from "../benchmarks/pages.ts";
import { readsUnderIntake } from "../benchmarks/reads-under-intake.ts";
import { rotation } from "../benchmarks/rotation.ts";
import { runPage } from "../benchmarks/run-page.ts";
import { scim } from "../benchmarks/scim.ts";
import { secrets } from "../benchmarks/secrets.ts";
import { sequence } from "../benchmarks/sequence.ts";
import { start } from "../benchmarks/start.ts";
import { throughput } from "../benchmarks/throughput.ts";

export const BENCHMARKS = {
  latency,
  throughput,
  sequence,
  graphql,
  scim,
  start,
  masking,
  secrets,
  rotation,
  "reads-under-intake": readsUnderIntake,
  "audit-chain": auditChain,
  "audit-idle": auditIdle,
  credentials,
  "event-cost": eventCost,
  "event-streams": eventStreams,
  logs,
  pages,
  "run-page": runPage,
} as const;
