/** Preloaded into a server or a delegate (`--import`): replaces lines of a module as CHAOS_PLANT says. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { PLANTS, type PlantName } from "./plants.ts";

const plant = PLANTS[process.env["CHAOS_PLANT"] as PlantName];
const changes = new Map(
  plant.changes.map((change) => [new URL(`../../../${change.module}`, import.meta.url).href, change]),
);

registerHooks({
  load(loaded, context, next) {
    const change = changes.get(loaded);
    if (!change) return next(loaded, context);
    const source = readFileSync(fileURLToPath(loaded), "utf8");
    const [from, to] = change.replace;
    if (source.search(from) < 0) throw new Error(`${change.module} has no ${from.source}. Update the planted fault.`);
    return { format: "module-typescript", source: source.replace(from, to), shortCircuit: true };
  },
});
