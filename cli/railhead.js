#!/usr/bin/env node
// The programs of Railhead: the server, the delegate, and the operator's commands.
// Plain JavaScript, so that an older Node gets as far as the guard's message; whatever
// else is needed is imported only when it is asked for.
import "../scripts/guard.js";

const { Command } = await import("commander");

/** An action that ends the process with the code that it answers. */
const ending = (work) => async (options) => process.exit(await work(options));

const program = new Command("railhead")
  .description("A self-hosted software-delivery platform.")
  .usage("<command> [options]")
  .enablePositionalOptions()
  .helpCommand("help [command]", "show how a command is used")
  .configureHelp({ showGlobalOptions: false })
  .showHelpAfterError("(railhead --help shows what there is)")
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .addHelpText(
    "after",
    "\nadmin, audit and secrets work on the machine of the server, with its configuration (RAILHEAD_DATA_DIR,\n" +
      "DATABASE_URL, RAILHEAD_ROOT_KEY…), while it runs and while it does not. They end with 0 when all is well,\n" +
      "with 1 when what was asked is not so, and with 2 when it could not be done.",
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

const admin = program.command("admin").description("people: let somebody in again").usage("<command> [options]");

admin
  .command("reset-password")
  .description("print a new one-time password for a person, and end their sessions")
  .option("--email <address>", "whose password; without it that of the administrator of the first start")
  .option("--unlink", "end single sign-on for them too, until something is linked again")
  .option("--account <id>", "the account, where there are several")
  .action(ending(async (options) => (await import("../src/commands/admin.ts")).resetPassword(options)));

const audit = program
  .command("audit")
  .description("the audit trail: export it, verify it")
  .usage("<command> [options]");

audit
  .command("export")
  .description("print the trail, oldest first, as one JSON document a line")
  .option("--account <id>", "the account, where there are several")
  .option("--from <time>", "from this moment on: 2027-01-31T08:00:00Z, or milliseconds since 1970")
  .option("--to <time>", "up to this moment")
  .action(ending(async (options) => (await import("../src/commands/audit.ts")).exportTrail(options)));

audit
  .command("verify")
  .description("check that nothing of the trail was changed, taken away or put in; print where it ends")
  .option("--account <id>", "only this account")
  .option("--head <head...>", "what an earlier run printed after HEAD: the trail must still hold it")
  .action(ending(async (options) => (await import("../src/commands/audit.ts")).verifyTrail(options)));

const secrets = program
  .command("secrets")
  .description("what is sealed: verify it, change its keys")
  .usage("<command> [options]");
const ACCOUNT = ["--account <id>", "one account alone; otherwise all"];

secrets
  .command("verify")
  .description("open every secret; print how many, and which cannot be opened, never a value")
  .option(...ACCOUNT)
  .action(ending(async (options) => (await import("../src/commands/secrets.ts")).verifySecrets(options)));

const rotate = secrets.command("rotate").description("change keys while the platform runs").usage("<keys> [options]");

rotate
  .command("root-key")
  .description("use RAILHEAD_ROOT_KEY…, and bring everything from RAILHEAD_ROOT_KEY_PREVIOUS… under it")
  .option(...ACCOUNT)
  .action(ending(async (options) => (await import("../src/commands/secrets.ts")).rotateRootKey(options)));

rotate
  .command("data-keys")
  .description("seal every secret again, under a new data key")
  .option(...ACCOUNT)
  .action(ending(async (options) => (await import("../src/commands/secrets.ts")).rotateDataKeys(options)));

// Without a word: how it is used, which is what was missing.
if (process.argv.length <= 2) program.outputHelp();
else await program.parseAsync();
