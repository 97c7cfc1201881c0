/**
 * The programs that take their arguments or their input as code, as far as their
 * words show it. A program of which nothing stands here gets its arguments as data.
 */
export type Program = {
  /** The option whose next word is code. */
  readonly option: RegExp;
  /** The option with its code in the same word. */
  readonly attached?: RegExp;
  /** Options, beside the one above, whose next word is their value. */
  readonly valued?: RegExp;
  /** What the first operand is: a file with the program, a host whose shell gets the rest, or the end of the options. */
  readonly operand?: "file" | "host" | "end";
  /** The option after which all operands are arguments of what standard input says. */
  readonly stays?: RegExp;
  /** Standard input is the program when nothing else was. */
  readonly input: boolean;
};

const SHELL: Program = {
  option: /^[-+][A-Za-z]*c[A-Za-z]*$/,
  valued: /^(?:[-+][A-Za-z]*[oO]|--(?:rcfile|init-file))$/,
  operand: "file",
  stays: /^-[A-Za-z]*s/,
  input: true,
};
const OTHER_USER: Program = {
  option: /^(?:-[A-Za-z]*c|--command|--session-command)$/,
  attached: /^--(?:session-)?command=/,
  input: true,
};

/** Found at any place of a command: `sudo bash -c`, `kubectl exec … -- sh -c`. */
const SHELLS: ReadonlyMap<string, Program> = new Map([
  ...["sh", "bash", "rbash", "dash", "ash", "ksh", "zsh"].map((name) => [name, SHELL] as const),
  ["su", OTHER_USER],
  ["runuser", OTHER_USER],
]);

/** Found as the command's name, or after a program that starts others. */
const OTHERS: ReadonlyMap<string, Program> = new Map([
  ["flock", { option: /^(?:-[a-z]*c|--command)$/, attached: /^--command=/, input: false }],
  ["script", { option: /^(?:-[a-z]*c|--command)$/, attached: /^--command=/, input: false }],
  [
    "env",
    {
      option: /^(?:-[a-z0]*S|--split-string)$/,
      attached: /^(?:-[a-z0]*S|--split-string=)/,
      operand: "end",
      input: false,
    },
  ],
  ["mapfile", { option: /^-[A-Za-z]*C$/, attached: /^-[A-Za-z]*C/, input: false }],
  ["readarray", { option: /^-[A-Za-z]*C$/, attached: /^-[A-Za-z]*C/, input: false }],
  ["compgen", { option: /^-[A-Za-z]*[CW]$/, attached: /^-[A-Za-z]*[CW]/, input: false }],
  ["complete", { option: /^-[A-Za-z]*[CW]$/, attached: /^-[A-Za-z]*[CW]/, input: false }],
  ["ssh", { option: /^$/, valued: /^-[A-Za-z0-9]*[BbcDEeFIiJLlmOopQRSWw]$/, operand: "host", input: true }],
  ["at", { option: /^$/, input: true }],
  ["batch", { option: /^$/, input: true }],
  ["python", { option: /^-[A-Za-z]*c$/, valued: /^-[A-Za-z]*[WX]$/, operand: "file", input: true }],
  ["perl", { option: /^-[A-Za-z0-9]*[eE]$/, operand: "file", input: true }],
  ["ruby", { option: /^-[A-Za-z0-9]*e$/, operand: "file", input: true }],
  ["node", { option: /^(?:-e|-p|-pe|--eval|--print)$/, attached: /^--(?:eval|print)=/, operand: "file", input: true }],
  ["php", { option: /^-[A-Za-z]*r$/, operand: "file", input: true }],
]);

/** Programs that run what their arguments name, with their own standard input. */
const WRAPPERS = new Set(
  "sudo doas env exec command nohup nice ionice setsid stdbuf time timeout unshare nsenter chroot sshpass flock".split(
    " ",
  ),
);
/** They do it elsewhere, behind options of which a word may be called like a program: only shells are looked for. */
const REMOTE_WRAPPERS = new Set("ssh su docker podman nerdctl kubectl oc".split(" "));
/** Programs that write out what they were given, in their arguments or their input. */
const PRINTERS = new Set(
  "echo printf cat tee sed awk tr cut head tail sort grep envsubst jq yq base64 xargs sudo env".split(" "),
);
/** Of what is assigned to these, Bash runs the substitutions when it prints a prompt or starts. */
export const EVALUATED_VARIABLE = /^(?:PS[0124]|PROMPT_COMMAND|BASH_ENV)\+?=/;

/** A word as the command gets it, as far as that is known: without quotes, and of a path its last part. */
export const plain = (word: string): string => word.replace(/\$(?=['"])|['"\\]/g, "");
const baseOf = (word: string): string => word.slice(word.lastIndexOf("/") + 1);

/** The program that `word` starts as an argument of the command `name`, or as the command's name, which is then null. */
export function programNamed(word: string, name: string | null): Program | undefined {
  const base = baseOf(word);
  const shell = SHELLS.get(base);
  if (shell) return shell;
  return name === null || WRAPPERS.has(baseOf(name)) ? OTHERS.get(base.replace(/[0-9.]+$/, "")) : undefined;
}

/** True when the command `name` starts what its arguments name, and hands its own standard input on. */
export const startsOthers = (name: string): boolean => WRAPPERS.has(baseOf(name)) || REMOTE_WRAPPERS.has(baseOf(name));

export const prints = (name: string): boolean => PRINTERS.has(baseOf(name));
