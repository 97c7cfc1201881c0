/** All benchmarks by their names, in the order in which they run; test/conventions/benches.test.ts holds the folder to it. */
import { auditChain } from "../audit-chain.ts";
import { auditIdle } from "../audit-idle.ts";
import { credentials } from "../credentials.ts";
import { graphql } from "../graphql.ts";
import { latency } from "../latency.ts";
import { masking } from "../masking.ts";
import { readsUnderIntake } from "../reads-under-intake.ts";
import { rotation } from "../rotation.ts";
import { scim } from "../scim.ts";
import { secrets } from "../secrets.ts";
import { sequence } from "../sequence.ts";
import { start } from "../start.ts";
import { throughput } from "../throughput.ts";

export const BENCHES = {
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
} as const;
