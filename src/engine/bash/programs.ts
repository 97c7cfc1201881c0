/**
 * The programs that take their arguments or their input as code, as far as their
 * words show it. A program of which nothing stands here gets its arguments as data.
 */
import * as reasons from "./reasons.ts";
import type { Reason } from "./reasons.ts";

export type Program = {
  readonly reason: Reason;
  /** The option whose next word is code. */
  readonly option?: RegExp;
  /** The option with its code in the same word. */
  readonly attached?: RegExp;
  /** A word that holds a command wherever it stands among the options. */
  readonly command?: RegExp;
  /** Options, beside the one above, whose next word is their value. */
  readonly valued?: RegExp;
  /** Options whose next two words are their values. */
  readonly paired?: RegExp;
  /** The option whose next word is a file with the program, so that no operand is code. */
  readonly file?: RegExp;
  /**
   * What the first operand is: the code, a word before the code, the first of many words of code, a file with the
   * program, a host whose shell gets the rest, or the end of the options.
   */
  readonly operand?: "code" | "before" | "words" | "file" | "host" | "end";
  /** Operands before the code that belong to the program's name. */
  readonly verbs?: RegExp;
  /** It takes its option more than once. */
  readonly repeats?: true;
  /** The option after which all operands are arguments of what standard input says. */
  readonly stays?: RegExp;
  /** Why standard input takes no expression; undefined where it is data. */
  readonly input?: Reason;
};

const SHELL: Program = {
  reason: reasons.SHELL,
  option: /^[-+][A-Za-z]*c[A-Za-z]*$/,
  valued: /^(?:[-+][A-Za-z]*[oO]|--(?:rcfile|init-file))$/,
  operand: "file",
  stays: /^-[A-Za-z]*s/,
  input: reasons.SHELL_INPUT,
};
const OTHER_USER: Program = {
  reason: reasons.OTHER_SHELL,
  option: /^(?:-[A-Za-z]*c|--command|--session-command)$/,
  attached: /^--(?:session-)?command=/,
  input: reasons.SHELL_INPUT,
};

/** Found at any place of a command: `sudo bash -c`, `kubectl exec … -- sh -c`. */
const SHELLS: ReadonlyMap<string, Program> = new Map([
  ...["sh", "bash", "rbash", "dash", "ash", "ksh", "zsh"].map((name) => [name, SHELL] as const),
  ["su", OTHER_USER],
  ["runuser", OTHER_USER],
]);

/** `-c` of flock and script is run by a shell, as are all words of watch. */
const SHELL_OPTION: Program = {
  reason: reasons.OTHER_SHELL,
  option: /^(?:-[a-z]*c|--command)$/,
  attached: /^--command=/,
};
const READ_LINES: Program = { reason: reasons.WORDS, option: /^-[A-Za-z]*C$/, attached: /^-[A-Za-z]*C/ };
const COMPLETION: Program = { reason: reasons.WORDS, option: /^-[A-Za-z]*[CW]$/, attached: /^-[A-Za-z]*[CW]/ };
const SCHEDULER: Program = { reason: reasons.SHELL_INPUT, input: reasons.SHELL_INPUT };
/** Options of OpenSSH that a shell runs. */
const SSH_COMMAND = /^(?:-o ?)?(?:Proxy|Local|Remote|KnownHosts)Command\b/i;
const COPY: Program = { reason: reasons.OTHER_SHELL, command: SSH_COMMAND };
const AWK: Program = {
  reason: reasons.AWK,
  option: /^(?:-e|--source)$/,
  attached: /^--source=/,
  valued: /^(?:-[FvW]|--assign|--field-separator)$/,
  file: /^(?:-f|--file)$/,
  operand: "code",
  repeats: true,
};
const MYSQL: Program = {
  reason: reasons.SQL,
  option: /^(?:-[A-Za-z]*e|--execute)$/,
  attached: /^(?:-[A-Za-z]*e|--execute=)/,
  input: reasons.SQL,
  repeats: true,
};

/** Found as the command's name, or after a program that starts others. Versions behind the name do not count. */
const OTHERS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ["flock", SHELL_OPTION],
  ["script", SHELL_OPTION],
  ["watch", { reason: reasons.OTHER_SHELL, valued: /^(?:-[a-z]*n|--interval)$/, operand: "words" }],
  [
    "env",
    {
      reason: reasons.WORDS,
      option: /^(?:-[a-z0]*S|--split-string)$/,
      attached: /^(?:-[a-z0]*S|--split-string=)/,
      operand: "end",
    },
  ],
  ["mapfile", READ_LINES],
  ["readarray", READ_LINES],
  ["compgen", COMPLETION],
  ["complete", COMPLETION],
  [
    "ssh",
    {
      reason: reasons.REMOTE,
      command: SSH_COMMAND,
      valued: /^-[A-Za-z0-9]*[BbcDEeFIiJLlmOopQRSWw]$/,
      operand: "host",
      input: reasons.REMOTE,
    },
  ],
  ["scp", COPY],
  ["sftp", COPY],
  ["at", SCHEDULER],
  ["batch", SCHEDULER],
  [
    "sed",
    {
      reason: reasons.SED,
      option: /^(?:-[nErsuz]*e|--expression)$/,
      attached: /^(?:-[nErsuz]*e|--expression=)/,
      valued: /^(?:-[nErsuz]*l|--line-length)$/,
      file: /^(?:-[nErsuz]*f|--file)$/,
      operand: "code",
      repeats: true,
    },
  ],
  ...["awk", "gawk", "mawk", "nawk"].map((name) => [name, AWK] as const),
  [
    "jq",
    {
      reason: reasons.JQ,
      valued: /^(?:--indent|-L)$/,
      paired: /^--(?:arg|argjson|slurpfile|rawfile)$/,
      file: /^(?:-[A-Za-z]*f|--from-file)$/,
      operand: "code",
    },
  ],
  [
    "yq",
    {
      reason: reasons.YQ,
      option: /^--expression$/,
      attached: /^--expression=/,
      valued: /^(?:-[opI]|--(?:input|output)-format|--indent)$/,
      paired: /^--(?:arg|argjson|slurpfile|rawfile)$/,
      file: /^--from-file$/,
      operand: "code",
      verbs: /^(?:e|ea|eval|eval-all)$/,
    },
  ],
  [
    "psql",
    {
      reason: reasons.PSQL,
      option: /^(?:-[A-Za-z]*c|--command)$/,
      attached: /^(?:-[A-Za-z1]*c|--command=)/,
      valued: /^-[A-Za-z1]*[dfvLoFPRTUhp]$/,
      input: reasons.PSQL,
      repeats: true,
    },
  ],
  ["mysql", MYSQL],
  ["mariadb", MYSQL],
  ["sqlite", { reason: reasons.SQL, operand: "before", input: reasons.SQL }],
  [
    "python",
    {
      reason: reasons.PYTHON,
      option: /^-[A-Za-z]*c$/,
      attached: /^-[A-Za-z]*c/,
      valued: /^-[A-Za-z]*[WX]$/,
      operand: "file",
      input: reasons.PYTHON,
    },
  ],
  [
    "perl",
    {
      reason: reasons.PERL,
      option: /^-[A-Za-z0-9]*[eE]$/,
      attached: /^-[A-Za-z0-9]*[eE]/,
      operand: "file",
      repeats: true,
      input: reasons.PERL,
    },
  ],
  [
    "ruby",
    {
      reason: reasons.RUBY,
      option: /^-[A-Za-z0-9]*e$/,
      attached: /^-[A-Za-z0-9]*e/,
      operand: "file",
      repeats: true,
      input: reasons.RUBY,
    },
  ],
  [
    "node",
    {
      reason: reasons.NODE,
      option: /^(?:-e|-p|-pe|--eval|--print)$/,
      attached: /^--(?:eval|print)=/,
      valued: /^(?:-r|--require|--import)$/,
      operand: "file",
      input: reasons.NODE,
    },
  ],
  ["php", { reason: reasons.PHP, option: /^-[A-Za-z]*r$/, operand: "file", input: reasons.PHP }],
  ...["lua", "Rscript"].map((name): [string, Program] => [
    name,
    { reason: reasons.INTERPRETER, option: /^-e$/, operand: "file", input: reasons.INTERPRETER },
  ]),
  ["pwsh", { reason: reasons.INTERPRETER, option: /^-(?:c|Command)$/, operand: "file", input: reasons.INTERPRETER }],
]);

/** Programs that run what their arguments name, with their own standard input. */
const WRAPPERS = new Set(
  "sudo doas env exec command nohup nice ionice setsid stdbuf time timeout unshare nsenter chroot sshpass flock xargs".split(
    " ",
  ),
);
/**
 * They do it elsewhere, behind options of which a word may be called like a program: before `--` only shells are
 * looked for.
 */
const REMOTE_WRAPPERS = new Set("ssh su docker podman nerdctl kubectl oc".split(" "));
/** Options of `find` after which a program is named. */
const FIND_OPTION = /^-(?:exec|ok)(?:dir)?$/;
/** Programs that write out what they were given, in their arguments or their input. */
const PRINTERS = new Set(
  "echo printf cat tee sed awk tr cut head tail sort grep envsubst jq yq base64 xargs sudo env".split(" "),
);
/** Of what is assigned to these, Bash runs the substitutions when it prints a prompt or starts; an alias is code. */
export const EVALUATED_VARIABLE = /^(?:PS[0124]|PROMPT_COMMAND|BASH_ENV|BASH_ALIASES)(?:\[[^\]]*\])?\+?=/;
/** What is assigned to these, Bash calculates. */
export const INTEGER_VARIABLE = /^(?:RANDOM|SRANDOM|SECONDS|OPTIND|HISTCMD|LINENO|BASHPID)$/;

/** A word as the command gets it, as far as that is known: without quotes, and of a path its last part. */
export const plain = (word: string): string => (/['"\\]/.test(word) ? word.replace(/\$(?=['"])|['"\\]/g, "") : word);
const baseOf = (word: string): string => word.slice(word.lastIndexOf("/") + 1);

type Named = { readonly name: string | null; readonly previous: string | null };

/** The program that `word` starts, as an argument of the command or as its name, which is then null. */
export function programNamed(word: string, { name, previous }: Named): Program | undefined {
  const base = baseOf(word);
  const shell = SHELLS.get(base);
  if (shell) return shell;
  const program = OTHERS.get(base.replace(/[0-9.]+$/, ""));
  if (!program || name === null) return program;
  const starter = baseOf(name);
  const starts =
    WRAPPERS.has(starter) ||
    (REMOTE_WRAPPERS.has(starter) && previous === "--") ||
    (starter === "find" && FIND_OPTION.test(previous ?? ""));
  return starts ? program : undefined;
}

/** True when the command `name` starts what its arguments name, and hands its own standard input on. */
export const startsOthers = (name: string): boolean => WRAPPERS.has(baseOf(name)) || REMOTE_WRAPPERS.has(baseOf(name));

export const prints = (name: string): boolean => PRINTERS.has(baseOf(name));
