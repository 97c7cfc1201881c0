import { Lines, StackedBars } from "../../components/chart/chart.tsx";
import { Card } from "../../ui/card.tsx";
import { formatDate } from "../../util/time.ts";
import styles from "./components-page.module.css";
import { SAMPLE_TIME } from "./samples.ts";

const DAYS = Array.from({ length: 30 }, (_, day) => day);
const LABELS = DAYS.map((day) => formatDate(SAMPLE_TIME - (29 - day) * 86_400_000, "UTC").slice(0, -5));
const wave = (day: number, high: number, shift: number): number =>
  Math.round((high * (2 + Math.sin(day / 3 + shift) + Math.sin(day * 1.7 + shift))) / 4);

const RUNS = [
  { label: "Success", color: "--status-success", values: DAYS.map((day) => wave(day, 60, 0)) },
  { label: "Failed", color: "--status-failed", values: DAYS.map((day) => wave(day, 12, 2)) },
  { label: "Other", color: "--status-skipped", values: DAYS.map((day) => wave(day, 6, 4)) },
];

const DURATIONS = [
  {
    label: "p50",
    color: "--status-running",
    values: DAYS.map((day) => (day === 11 ? null : 90_000 + wave(day, 60_000, 1))),
  },
  {
    label: "p95",
    color: "--status-paused",
    dashed: true,
    values: DAYS.map((day) => (day === 11 ? null : 210_000 + wave(day, 160_000, 3))),
  },
];

export function Charts() {
  return (
    <div className={styles.wide}>
      <Card>
        <StackedBars title="Runs per day" labelHeader="Day" labels={LABELS} series={RUNS} unit="count" />
      </Card>
      <Card>
        <Lines title="Duration" labelHeader="Day" labels={LABELS} series={DURATIONS} unit="duration" />
      </Card>
    </div>
  );
}
