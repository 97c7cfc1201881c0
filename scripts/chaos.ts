/** `npm run chaos -- --seed 7 --minutes 2`: injects faults into a platform under load (docs/how-to/chaos.md). */
import { main } from "../test/chaos/main.ts";

process.exit(await main(process.argv.slice(2)));
