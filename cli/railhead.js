#!/usr/bin/env node
// The program `railhead`: the server, the delegate and the operator's commands. It is plain JavaScript, so that an
// older Node reaches the message of the guard. Other modules are imported when a command needs them.
import "../scripts/guard.js";

const { Command } = await import("commander");

/** Creates an action that exits with the code that `work` returns. */
const exitWith = (work) => async (options) => process.exit(await work(options));

const program = new Command("railhead")
  .description("A self-hosted software-delivery platform.")
  .usage("<command> [options]")
  .enablePositionalOptions()
  .helpCommand("help [command]", "show how a command is used")
  .configureHelp({ showGlobalOptions: false })
  .showHelpAfterError("(railhead --help lists the commands)")
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .addHelpText(
    "after",
    "\nadmin, audit and secrets work on the machine of the server, with its configuration (RAILHEAD_DATA_DIR,\n" +
      "DATABASE_URL, RAILHEAD_ROOT_KEY…), while it runs and while it does not. They end with 0 when all is well,\n" +
      "with 1 when a check fails, and with 2 when the command could not run.",
  );

program
  .command("server")
  .description("run the server: interface, engine, background jobs, a local delegate")
  .action(() => import("../src/main.ts"));

program
  .command("delegate")
  .description("run a delegate, which runs steps where the targets are (railhead delegate --help)")
  .helpOption(false)
  .allowUnknownOption()
  .allowExcessArguments()
  .passThroughOptions()
  .action(async () => {
    const { main } = await import("../delegate/main.ts");
    process.exit(await main(process.argv.slice(3)));
  });

const admin = program.command("admin").description("users: reset a password").usage("<command> [options]");

admin
  .command("reset-password")
  .description("print a new one-time password for a user, and end the user's sessions")
  .option("--email <address>", "e-mail address of the user; default: the administrator of the first start")
  .option("--unlink", "also remove the user's links to identity providers")
  .option("--account <id>", "the account; required if there are several")
  .action(exitWith(async (options) => (await import("../src/commands/admin.ts")).resetPassword(options)));

const audit = program
  .command("audit")
  .description("the audit trail: export it, verify it")
  .usage("<command> [options]");

audit
  .command("export")
  .description("print the trail, oldest first, as one JSON document a line")
  .option("--account <id>", "the account; required if there are several")
  .option("--from <time>", "from this moment on: 2027-01-31T08:00:00Z, or milliseconds since 1970")
  .option("--to <time>", "up to this moment")
  .action(exitWith(async (options) => (await import("../src/commands/audit.ts")).exportTrail(options)));

audit
  .command("verify")
  .description("check that no entry was changed, removed or inserted; print the head of each account")
  .option("--account <id>", "only this account")
  .option("--head <head...>", "heads that an earlier run printed; the trail must still contain them")
  .action(exitWith(async (options) => (await import("../src/commands/audit.ts")).verifyTrail(options)));

const secrets = program
  .command("secrets")
  .description("sealed secrets: verify them, rotate their keys")
  .usage("<command> [options]");
const ACCOUNT = ["--account <id>", "only this account"];

secrets
  .command("verify")
  .description("open every secret; print their number and the names of those that cannot be opened, never a value")
  .option(...ACCOUNT)
  .action(exitWith(async (options) => (await import("../src/commands/secrets.ts")).verifySecrets(options)));

const rotate = secrets.command("rotate").description("rotate keys while the platform runs").usage("<keys> [options]");

rotate
  .command("root-key")
  .description("seal everything under RAILHEAD_ROOT_KEY… instead of RAILHEAD_ROOT_KEY_PREVIOUS…")
  .option(...ACCOUNT)
  .action(exitWith(async (options) => (await import("../src/commands/secrets.ts")).rotateRootKey(options)));

rotate
  .command("data-keys")
  .description("seal every secret again, under a new data key")
  .option(...ACCOUNT)
  .action(exitWith(async (options) => (await import("../src/commands/secrets.ts")).rotateDataKeys(options)));

// Without arguments it prints the help.
if (process.argv.length <= 2) program.outputHelp();
else await program.parseAsync();
