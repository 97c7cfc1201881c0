import type { Violation } from "./violations.ts";

/**
 * Reports files of bench/ that no name of the table starts, names without a file, and benchmarks that bench/README.md
 * does not describe completely (what is measured, the floor, the goal). `files`: paths relative to the checkout.
 */
export function benchViolations(
  files: readonly string[],
  names: readonly string[],
  readme: string,
): readonly Violation[] {
  const there = files.flatMap((file) => /^bench\/benchmarks\/([^/]+)(?<!\.test)\.ts$/.exec(file)?.[1] ?? []);
  const rows = new Map(
    readme.split("\n").flatMap((line) => {
      const [, name, ...cells] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
      const key = /^`([^`]+)`$/.exec(name ?? "")?.[1];
      return key === undefined ? [] : [[key, cells.slice(0, -1)] as const];
    }),
  );
  const say = (name: string, message: string): Violation => ({ key: name, message });
  return [
    ...there
      .filter((name) => !names.includes(name))
      .map((name) =>
        say(name, `bench/benchmarks/${name}.ts is never started: add it to bench/runner/benchmarks.ts, or move it`),
      ),
    ...names
      .filter((name) => !there.includes(name))
      .map((name) => say(name, `the benchmark ${name} has no file bench/benchmarks/${name}.ts`)),
    ...names
      .filter((name) => !(rows.get(name)?.length === 3 && rows.get(name)?.every((cell) => cell !== "")))
      .map((name) => say(name, `bench/README.md: say of ${name} what is measured, its floor and its goal, or "none"`)),
    ...[...rows.keys()]
      .filter((name) => !names.includes(name))
      .map((name) => say(name, `bench/README.md: there is no benchmark ${name}`)),
  ];
}
