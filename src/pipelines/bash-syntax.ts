/** Asks the server's own Bash whether the scripts of a pipeline parse, before they are saved. Nothing of them is run. */
import { hash } from "node:crypto";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { Clock } from "../core/clock.ts";
import type { Uuid } from "../core/ids.ts";
import { createLru } from "../platform/lru.ts";
import type { Fault } from "../core/problem.ts";
import { bindScript } from "../engine/index.ts";
import type { Position } from "../platform/document/position/lines.ts";
import { clip, pathText, type Path } from "../platform/document/position/path.ts";
import { documentProblem } from "../platform/document/validate.ts";
import { createFairTurns } from "../platform/fair-turns.ts";
import { runBounded } from "../platform/run-bounded.ts";
import { placed } from "./document/fault-places.ts";
import { isMarker } from "../steps/schema/marker.ts";
import type { PipelineDocument } from "./document/schema.ts";
import { valueFields } from "./document/texts.ts";

/** Of one script. */
const SCRIPT_MS = 1_000;
/** Of all scripts of one request, from its first question on: then no further script is begun. */
const REQUEST_MS = 2_000;
/** Scripts of one request, each counted once however often it is used: their bytes are bounded by those of the document. */
const MAX_SCRIPTS = 200;
const TURNS = { atOnce: 2, atOnceOfOne: 1, waiting: 64, waitingOfOne: 16 };
const RESULTS_KEPT = 2_000;

/** `line` counts from 1 in the script. */
type ScriptError = { readonly line: number; readonly message: string };
/** What Bash says of a script; undefined where it did not say in time, broke off, or could not be asked. */
type Verdict = ScriptError | "parses" | undefined;

/**
 * Throws `document.invalid` (400) with the place of each script that does not parse. Checks nothing where there is no
 * Bash, and leaves out what goes beyond the bounds: a script that was not checked passes.
 */
export type CheckScripts = (accountId: Uuid, pipeline: PipelineDocument, locate: Locate) => Promise<void>;

/** A character of the text at a path. */
export type TextPlace = { readonly path: Path; readonly offset: number };
/** Where these places stand in the document, in their order. */
export type Locate = (places: readonly TextPlace[]) => Promise<readonly (Position | undefined)[]>;

export type BashDeps = {
  readonly elapsed: Clock["elapsed"];
  /** The program; the first of the search path unless told otherwise. */
  readonly bash?: string | undefined;
  readonly scriptMs?: number;
};

export function makeCheckScripts({ elapsed, bash = findBash(), scriptMs = SCRIPT_MS }: BashDeps): CheckScripts {
  // Of each account for itself: no account learns from an answer that comes sooner what another one has saved.
  const known = createLru<string, Promise<Verdict>>(RESULTS_KEPT);
  const inTurn = createFairTurns(TURNS, elapsed);

  /** The same text that is being checked, or was, is not checked twice; what was not decided is asked again next time. */
  function verdictOn(program: string, accountId: Uuid, script: string, until: number): Promise<Verdict> {
    const key = `${accountId} ${hash("sha256", script, "base64")}`;
    const kept = known.get(key);
    if (kept) return kept;
    const asked = inTurn(accountId, until, () => {
      const timeoutMs = Math.max(1, Math.min(scriptMs, until - elapsed()));
      return askBash(program, script, timeoutMs);
    });
    known.set(key, asked);
    const forget = (): void => {
      if (known.get(key) === asked) known.delete(key);
    };
    asked.then((verdict) => verdict === undefined && forget(), forget);
    return asked;
  }

  async function verdictsOn(program: string, accountId: Uuid, texts: Iterable<string>): Promise<Map<string, Verdict>> {
    const verdicts = new Map<string, Verdict>();
    const until = elapsed() + REQUEST_MS;
    for (const text of texts) {
      if (verdicts.size >= MAX_SCRIPTS || elapsed() >= until) break;
      verdicts.set(text, await verdictOn(program, accountId, boundText(text), until));
    }
    return verdicts;
  }

  return async (accountId, pipeline, locate) => {
    if (bash === undefined) return;
    const scripts = valueFields(pipeline)
      .filter(({ kind, value }) => kind === "script" && !isMarker(value))
      .map(({ path, value }) => ({ path, text: String(value) }));
    const verdicts = await verdictsOn(bash, accountId, new Set(scripts.map(({ text }) => text)));
    const found = scripts.flatMap(({ path, text }) => {
      const verdict = verdicts.get(text);
      return verdict === undefined || verdict === "parses" ? [] : [faultAt(path, text, verdict)];
    });
    if (found.length === 0) return;
    const positions = await locate(found.map(({ place }) => place));
    const faults = found.map(({ fault }, nth) => ({ ...fault, ...positions[nth] }));
    throw placed(documentProblem(faults), { pipeline });
  };
}

/** As the delegate gets it: with variables in the places of its expressions. */
function boundText(script: string): string {
  const bound = bindScript(script);
  return "script" in bound ? bound.script : script;
}

type Found = { readonly fault: Fault; readonly place: TextPlace };

function faultAt(path: Path, script: string, { line, message }: ScriptError): Found {
  const lines = script.split("\n");
  const offset = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  return {
    fault: { path: pathText(path), message: `Bash does not accept line ${line} of the script: ${message}` },
    // A script that ends too early is at fault at its last line, which may be the one after the text.
    place: { path, offset: Math.min(offset, script.length) },
  };
}

const SAID = /^[^\n]*?: line (\d+): ([^\n]*)/m;

async function askBash(bash: string, script: string, timeoutMs: number): Promise<Verdict> {
  // Bash reads such a script command by command, and knows the option by the time that it needs it.
  const options = script.includes("extglob") ? ["-O", "extglob"] : [];
  const { code, errorOutput } = await runBounded({
    words: [bash, "--norc", "--noprofile", ...options, "-n"],
    input: Buffer.from(script),
    env: { LC_ALL: "C" },
    timeoutMs,
    maxOutput: 0,
  });
  if (code === 0) return "parses";
  const [, line, message] = (code !== null && SAID.exec(errorOutput)) || [];
  return line === undefined ? undefined : { line: Number(line), message: clip(message ?? "") };
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
