import { parseArgs } from "node:util";
import { PLANTS, type PlantName } from "./faults/plants.ts";

export type ChaosOptions = {
  readonly seed: number;
  readonly seconds: number;
  /** Requests per second. */
  readonly rate: number;
  readonly plant: PlantName | undefined;
  /** Runs each planted fault, and fails if one of them is not found. */
  readonly plants: boolean;
};

export const USAGE = `usage: npm run chaos -- [--seed <number>] [--minutes <number>] [--rate <number>] [--plant <name>] [--plants]

  --seed     the plan of faults and the load; by default one by chance, which is printed
  --minutes  how long faults go on; by default 2
  --rate     requests a second; by default 3
  --plant    runs the product with a planted fault, under a short plan of its own: ${Object.keys(PLANTS).join(", ")}
  --plants   runs with each planted fault in turn, and fails unless each is found
`;

/** @throws Error that names the invalid option */
export function readOptions(args: readonly string[], chance: () => number): ChaosOptions {
  const text = { type: "string" } as const;
  const options = { seed: text, minutes: text, rate: text, plant: text, plants: { type: "boolean" } } as const;
  const { values } = parseArgs({ args: [...args], options });
  const number = (name: "seed" | "minutes" | "rate", usual: number, most: number): number => {
    const value = values[name] === undefined ? usual : Number(values[name]);
    if (!(value > 0 && value <= most)) throw new Error(`--${name} must be a number above 0 and up to ${most}.`);
    return value;
  };
  if (values.plant !== undefined && !Object.hasOwn(PLANTS, values.plant))
    throw new Error(`--plant '${values.plant}' is not one of ${Object.keys(PLANTS).join(", ")}.`);
  const plant = values.plant as PlantName | undefined;
  return {
    seed: Math.floor(number("seed", 1 + Math.floor(chance() * 999_999), 2 ** 32 - 1)),
    seconds: plant === undefined ? Math.round(number("minutes", 2, 24 * 60) * 60) : PLANTS[plant].seconds,
    rate: number("rate", 3, 100),
    plant,
    plants: values.plants === true,
  };
}
