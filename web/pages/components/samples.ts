/** Names of people who test what a page does with them. */
export const LONG_NAME = "release-train-".repeat(14).concat("end");
export const HOSTILE_NAME = `<img src=x onerror="alert(1)"> \u202Egnp.exe \u001B[31mred`;

export type SampleRow = {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly person: string;
};

/** A fixed time, so that screenshots are equal. */
export const SAMPLE_TIME = Date.UTC(2026, 2, 4, 13, 5, 9);

const row = (id: string, name: string, status: string, minutesAgo: number, person: string): SampleRow => ({
  id,
  name,
  status,
  startedAt: SAMPLE_TIME - minutesAgo * 60_000,
  durationMs: 4_000 + minutesAgo * 7_300,
  person,
});

export const SAMPLE_ROWS: readonly SampleRow[] = [
  row("1", "deploy-shop", "Running", 1, "Ada Lovelace"),
  row("2", "build-images", "Success", 12, "Grace Hopper"),
  row("3", HOSTILE_NAME, "Failed", 44, "deploy-bot"),
  row("4", "approve-release", "ApprovalWaiting", 95, "Ada Lovelace"),
  row("5", LONG_NAME, "Aborted", 600, LONG_NAME),
];

export const SAMPLE_YAML = `pipeline:
  identifier: deploy_shop
  name: Deploy shop
  stages:
    - stage:
        identifier: build
        type: CI
        spec:
          steps:
            - step: { type: Run, identifier: compile, spec: { command: make } }
            - step: { type: Run, identifier: test, spec: { command: make test } }
`;

export const CHANGED_YAML = SAMPLE_YAML.replace("make test", "make test -j4").replace(
  "name: Deploy shop",
  "name: Deploy the shop",
);
