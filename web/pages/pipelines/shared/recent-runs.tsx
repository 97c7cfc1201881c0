import type { PipelineContent } from "../../../api/operations.gen.ts";
import { Sparkline, type SparklineBar } from "../../../components/chart/sparkline.tsx";
import { lookOf } from "../../../components/execution-status.ts";
import { formatDuration } from "../../../util/duration.ts";
import { formatExactTime } from "../../../util/time.ts";

type Run = PipelineContent["recentExecutionsInfo"][number];

/** The newest runs of a pipeline as bars, the newest at the right. */
export function RecentRuns({ runs }: { readonly runs: readonly Run[] }) {
  if (runs.length === 0) return <span>No runs yet</span>;
  const oldestFirst = runs.toSorted((a, b) => a.runSequence - b.runSequence);
  return <Sparkline label={summaryOf(oldestFirst)} bars={oldestFirst.map(barOf)} />;
}

function barOf(run: Run): SparklineBar {
  const { tone, label } = lookOf(run.status);
  const value = run.startTs === null ? 0 : (run.endTs ?? Date.now()) - run.startTs;
  const when = run.startTs === null ? "" : `, ${formatExactTime(run.startTs)}`;
  return {
    key: run.planExecutionId,
    value,
    tone,
    title: `Run ${run.runSequence}: ${label}, ${formatDuration(value)}${when}`,
  };
}

/** Last 3 runs: 2 success, 1 failed */
export function summaryOf(runs: readonly Pick<Run, "status">[]): string {
  const counts = new Map<string, number>();
  for (const { status } of runs) {
    const label = lookOf(status).label.toLowerCase();
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  const parts = [...counts].map(([label, count]) => `${count} ${label}`);
  return `Last ${runs.length === 1 ? "run" : `${runs.length} runs`}: ${parts.join(", ")}`;
}
