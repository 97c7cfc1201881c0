#!/usr/bin/env node
// The programs of Railhead: `npx railhead server`, `npx railhead delegate …`.
// Plain JavaScript, so that an older Node gets as far as the guard's message.
import "../scripts/guard.js";

const [program, ...rest] = process.argv.slice(2);

switch (program) {
  case "server":
    await import("../src/main.ts");
    break;
  case "delegate": {
    const { main } = await import("../delegate/main.ts");
    process.exit(await main(rest));
    break;
  }
  default:
    process.stderr.write(
      "usage: railhead server\n" +
        "       railhead delegate --url <address> --name <name> [--token <token>] [--tag <tag>]…\n",
    );
    process.exitCode = program === undefined || program === "--help" || program === "help" ? 0 : 2;
}
