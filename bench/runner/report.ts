/** Writes results as a table for the terminal and as JSON in bench/results. */
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";
import { styleText } from "node:util";
import { type Figure, isMet, type Result } from "./result.ts";

const FOLDER = new URL("../results/", import.meta.url);

/** Facts about the machine for comparing two runs. They do not identify the machine. */
export type Machine = ReturnType<typeof machineFacts>;

export function machineFacts() {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? "unknown",
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    /**
     * Over one, five and fifteen minutes before the benchmark; more than 0.5 means that other programs were running.
     */
    loadAverage: loadavg().map((value) => round(value)),
  };
}

export function writeResult(name: string, machine: Machine, at: Date, result: Result): void {
  mkdirSync(FOLDER, { recursive: true });
  const figures = result.figures.map(({ value, floor, ratio, ...rest }) => ({
    ...rest,
    value: round(value),
    ...(floor === undefined ? {} : { floor: round(floor) }),
    ...(ratio === undefined ? {} : { ratio: round(ratio) }),
  }));
  const content = { name, measuredAt: at.toISOString(), machine, ...result, figures };
  writeFileSync(new URL(`${name}.json`, FOLDER), `${JSON.stringify(content, null, 2)}\n`);
}

const HEAD = ["", "measured", "floor", "ratio", "goal"] as const;

export function table(name: string, { figures }: Result): string {
  const rows = figures.map((figure) => [
    figure.name,
    show(figure.value, figure.unit),
    figure.floor === undefined ? "" : show(figure.floor, figure.unit),
    figure.ratio === undefined ? "" : `${figure.ratio.toPrecision(3)} ×`,
    goalText(figure),
  ]);
  const widths = HEAD.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const formatRow = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join("   ")
      .trimEnd();
  const lines = rows.map((row, at) => {
    const met = figures[at] && isMet(figures[at]);
    return met === undefined
      ? formatRow(row)
      : `${formatRow(row)} ${met ? styleText("green", "✓") : styleText("red", "✗")}`;
  });
  return [styleText("bold", name), styleText("dim", formatRow(HEAD)), ...lines].join("\n  ");
}

function goalText({ goal, unit }: Figure): string {
  if (!goal) return "";
  const limit = (value: number): string => (goal.of === "ratio" ? `${value} ×` : `${value} ${unit}`);
  return goal.atMost === undefined ? `≥ ${limit(goal.atLeast ?? 0)}` : `≤ ${limit(goal.atMost)}`;
}

const show = (value: number, unit: Figure["unit"]): string =>
  `${value >= 100 ? Math.round(value).toString() : value.toPrecision(3)} ${unit}`;

/** Four significant digits; further digits are noise. */
const round = (value: number): number => Number(value.toPrecision(4));
