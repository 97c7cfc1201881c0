/** Asks the server's own Bash whether the scripts of a pipeline parse, before they are saved. Nothing of them is run. */
import { createHash } from "node:crypto";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { makeLru } from "../core/lru.ts";
import type { Fault } from "../core/problem.ts";
import { bindScript } from "../engine/index.ts";
import type { Doc } from "../platform/document/document.ts";
import { clip, pathText, type Path } from "../platform/document/path.ts";
import { invalid } from "../platform/document/validate.ts";
import { runBounded } from "../platform/run-bounded.ts";
import { placed } from "./document/fault-places.ts";
import { isMarker } from "./document/marker.ts";
import type { PipelineDocument } from "./document/schema.ts";
import { valueFields } from "./document/texts.ts";

const TIMEOUT_MS = 5_000;
/** Processes of this server at once, whoever saves. */
const AT_ONCE = 2;
/** Scripts of one pipeline that are checked when it is saved; those behind them are not. */
const MAX_SCRIPTS = 200;
const RESULTS_KEPT = 2_000;

/** `line` counts from 1 in the script. */
type ScriptError = { readonly line: number; readonly message: string };

/** Throws `document.invalid` (400) with the place of each script that does not parse. Checks nothing where there is no Bash. */
export type CheckScripts = (pipeline: PipelineDocument, doc: Pick<Doc, "positionIn">) => Promise<void>;

export function makeCheckScripts(bash: string | undefined = findBash()): CheckScripts {
  const known = makeLru<string, ScriptError | null>(RESULTS_KEPT);
  const inTurn = makeTurns(AT_ONCE);

  async function errorOf(program: string, script: string): Promise<ScriptError | null> {
    const key = createHash("sha256").update(script).digest("base64");
    const kept = known.get(key);
    if (kept !== undefined) return kept;
    const error = await inTurn(() => syntaxError(program, script));
    known.set(key, error);
    return error;
  }

  return async (pipeline, doc) => {
    if (bash === undefined) return;
    const scripts = valueFields(pipeline)
      .filter(({ kind, value }) => kind === "script" && !isMarker(value))
      .slice(0, MAX_SCRIPTS);
    const found = await Promise.all(
      scripts.map(async ({ path, value }) => {
        const script = String(value);
        const error = await errorOf(bash, boundText(script));
        return error ? [faultAt(doc, path, script, error)] : [];
      }),
    );
    const faults = found.flat();
    if (faults.length > 0) throw placed(invalid(faults), { pipeline });
  };
}

/** As the delegate gets it: with variables in the places of its expressions. */
function boundText(script: string): string {
  const bound = bindScript(script);
  return "script" in bound ? bound.script : script;
}

function faultAt(doc: Pick<Doc, "positionIn">, path: Path, script: string, { line, message }: ScriptError): Fault {
  const lines = script.split("\n");
  const offset = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  return {
    path: pathText(path),
    message: `Bash does not accept line ${line} of the script: ${message}`,
    // A script that ends too early is at fault at its last line, which may be the one after the text.
    ...doc.positionIn(path, Math.min(offset, script.length)),
  };
}

const SAID = /^[^\n]*?: line (\d+): ([^\n]*)/m;

async function syntaxError(bash: string, script: string): Promise<ScriptError | null> {
  // Bash reads such a script command by command, and knows the option by the time that it needs it.
  const options = script.includes("extglob") ? ["-O", "extglob"] : [];
  const { code, said } = await runBounded({
    words: [bash, "--norc", "--noprofile", ...options, "-n"],
    input: Buffer.from(script),
    env: { LC_ALL: "C" },
    timeoutMs: TIMEOUT_MS,
    maxOutput: 0,
  });
  // A Bash that cannot say in time decides nothing.
  if (code === null || code === 0) return null;
  const [, line, message] = SAID.exec(said) ?? [];
  return line === undefined ? null : { line: Number(line), message: clip(message ?? "") };
}

/** The first one in the search path; undefined where there is none. */
function findBash(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, "bash")).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Runs at most `most` of the works at once, the others in the order in which they came. */
function makeTurns(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // The place goes on to the next one, and is free only when nobody waits.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
