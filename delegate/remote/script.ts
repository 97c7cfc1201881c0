/**
 * The program on the other host and its input (docs/decisions/0017-steps-on-remote-hosts.md).
 *
 * The command for the login shell is one constant line: Bash reads a length and
 * as many bytes from its standard input, and runs them. So scripts, variables and
 * secrets appear in no argument, here or there, and in no file there. A payload
 * that was cut off does not run: all lines but the last are definitions.
 *
 * After the payload, standard input is the lifeline: an empty line at intervals.
 * When it ends or is silent for too long, the script's processes are terminated:
 * the connection is lost, or the delegate has terminated the step.
 *
 * The script's output returns as standard error. Standard output carries the output
 * variables, between two marks that only this task knows (outputs.ts).
 *
 * The script is the leader of a process group. Processes that left the group, by
 * `setsid` or as a daemon, are recognised by RAILHEAD_TASK in their environment,
 * if the host has /proc.
 */
import { createHash } from "node:crypto";
import { COOKIE_NAME } from "../processes/members.ts";
import { bashLine, quoteForBash, type OutputVariable } from "../output/output-variables.ts";

/**
 * The command for the login shell, any shell: no line break, no single quote inside the quotes. `-p`: functions
 * that the host exports, as one called `kill`, are not taken for the commands below.
 */
export const BOOT = `exec bash --norc --noprofile -p -c 'IFS= read -r n && eval "$(head -c "$n")"'`;

const HEARTBEAT_S = 15;
/** Of the lifeline, until the script is ended. */
const SILENCE_S = 6 * HEARTBEAT_S;
/** From TERM to KILL: shorter than the delegate's own grace period, so that output meanwhile still arrives. */
const GRACE_S = 3;
const LEFTOVER_GRACE_S = 1;

/**
 * On the delegate: `bash FEEDER payload outputs most ssh …`. ssh lets TERM pass,
 * which ends the feeding and with it, on the other side, the script; ssh then ends with
 * its connection. The last processes here end with it.
 *
 * The result lies in memory, so the file is limited to `most` bytes after its first byte; then ssh cannot write any
 * more. The file is emptied if it could not be written.
 */
export const FEEDER = `payload=$1 outputs=$2 most=$3
shift 3
exec 3< <(cat -- "$payload"; while sleep ${HEARTBEAT_S} || sleep 1; do echo; done)
trap '' HUP INT QUIT TERM
"$@" <&3 3<&- | head -c "$most" 3<&- >>"$outputs"
ended=("\${PIPESTATUS[@]}")
((ended[1] == 0)) || : >|"$outputs"
exit "\${ended[0]}"
`;

export type RemoteScript = {
  readonly script: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly outputs: readonly OutputVariable[];
  readonly workingDirectory: string | null;
  readonly cookie: string;
  /** Seconds without a word from the delegate; for tests. */
  readonly silence?: number;
};

/**
 * Cookie of the script's processes on the other host. The task's own cookie identifies processes on the delegate's
 * machine.
 */
export const remoteCookie = (cookie: string): string =>
  createHash("sha256").update(`on another host: ${cookie}`).digest("base64url");

/** The input for BOOT: a length, and the text for Bash. */
export function createPayload(remote: RemoteScript): string {
  const text = [
    environmentOf(remote),
    main(remote),
    BECOME,
    OVER,
    MEMBERS,
    FOREIGN,
    FINISH,
    "__railhead; exit $?",
    "",
  ].join("\n");
  return `${Buffer.byteLength(text)}\n${text}`;
}

export const beginMark = (cookie: string): string => `\0railhead begin ${cookie}\0`;
export const endMark = (cookie: string): string => `\0railhead end ${cookie} `;

/** Variables that Bash sets itself: they are read-only, or a value would change Bash's behaviour. */
const BASH_READONLY = new Set(["BASHOPTS", "BASH_VERSINFO", "EUID", "OPTIND", "PPID", "SHELLOPTS", "UID"]);

/**
 * Unset first: to RANDOM and some others a value is arithmetic, which Bash evaluates as code, until they are (Bash's
 * manual, "Bash Variables"). POSIXLY_CORRECT changes how the rest is read, so it is the last.
 */
function environmentOf({ env, cookie }: RemoteScript): string {
  const isLast = ({ name }: { readonly name: string }): boolean => name === "POSIXLY_CORRECT";
  const given = env
    .filter(({ name }) => !BASH_READONLY.has(name))
    .toSorted((a, b) => Number(isLast(a)) - Number(isLast(b)))
    .map(({ name, value }) => `builtin unset -v ${name}; builtin export ${name}=${quoteForBash(value)}`);
  return ["__railhead_env() {", `export ${COOKIE_NAME}=${quoteForBash(cookie)}`, ...given, "}"].join("\n");
}

/**
 * 1. Say that it has begun. 2. Put the lifeline aside; two relays carry what the script writes, so that an
 * undetected process holds a pipe of a relay and not the connection. 3. Start the script, and beside it the
 * watch over the lifeline. 4. When the script has ended, end what it left behind. 5. Say how it ended.
 *
 * Names begin with __railhead: one that the host exports under the same name would be exported again. Once the step's
 * variables are set the wrapper reads no variable: they may have any name.
 */
function main({ script, outputs, workingDirectory, cookie, silence = SILENCE_S }: RemoteScript): string {
  const line = `exec {__railhead_out}>&9 9>&-; ${bashLine(". /dev/fd/8", '>&"$__railhead_out"', outputs)}`;
  const signals = "HUP INT QUIT TERM USR1 USR2 ALRM PIPE";
  // A name like \`-\` or one that CDPATH knows would lead elsewhere.
  const folder =
    workingDirectory === null || workingDirectory.startsWith("/") ? workingDirectory : `./${workingDirectory}`;
  return `__railhead() {
builtin unset -v POSIXLY_CORRECT
shopt -uo posix
local __railhead_cookie=${quoteForBash(cookie)}
local __railhead_script=${quoteForBash(script)}
local __railhead_line=${quoteForBash(line)}
local __railhead_life __railhead_tell __railhead_log __railhead_outputs __railhead_relays __railhead_job __railhead_watch __railhead_status __railhead_nth
builtin printf '\\0railhead begin %s\\0' "$__railhead_cookie"
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
  builtin echo "railhead: this host has Bash $BASH_VERSION; steps need 4.4 or a newer one" >&2
  __railhead_over 126
  return 126
fi
${
  folder === null
    ? ":"
    : `if ! builtin cd -- ${quoteForBash(folder)} >/dev/null; then
  builtin echo "railhead: the step's working directory cannot be entered" >&2
  __railhead_over 1
  return 1
fi`
}
ulimit -S -c 0
trap : ${signals}
exec {__railhead_life}<&0 </dev/null
exec {__railhead_log}> >(exec cat >&2)
__railhead_relays=$!
exec {__railhead_outputs}> >(exec cat {__railhead_log}>&-)
__railhead_relays+=" $!"
shopt -so monitor
(
  exec {__railhead_life}<&-
  trap - ${signals}
  exec 8< <(builtin printf %s "$__railhead_script") 9>&"$__railhead_outputs" >&"$__railhead_log" 2>&1
  exec {__railhead_log}>&- {__railhead_outputs}>&-
  __railhead_become "$BASH" "$__railhead_line"
) &
__railhead_job=$!
shopt -uo monitor
exec {__railhead_log}>&- {__railhead_outputs}>&-
(
  while IFS= read -r -t ${silence} -u "$__railhead_life" 2>/dev/null; __railhead_nth=$?; ((__railhead_nth == 0)); do :; done
  ((__railhead_nth <= 128)) || builtin echo "railhead: nothing was heard from the delegate for ${silence} s" >&2
  __railhead_finish "$__railhead_job" "$__railhead_cookie" ${GRACE_S} >/dev/null 2>&1
) >/dev/null &
__railhead_watch=$!
exec {__railhead_tell}>&2 {__railhead_life}<&- 2>/dev/null
wait "$__railhead_job"
while kill -0 "$__railhead_job"; do wait "$__railhead_job"; done
wait "$__railhead_job"
__railhead_status=$?
__railhead_finish "$__railhead_job" "$__railhead_cookie" ${LEFTOVER_GRACE_S}
__railhead_foreign "$__railhead_job" >&"$__railhead_tell"
for ((__railhead_nth = 0; __railhead_nth < 20; __railhead_nth++)); do
  kill -0 $__railhead_relays || break
  sleep 0.1
done
kill -KILL $__railhead_relays "$__railhead_watch"
wait
__railhead_over "$__railhead_status"
return "$__railhead_status"
}`;
}

/** Arguments: Bash and its program. The wrapper reads no variable after the step's variables are set. */
const BECOME = `__railhead_become() {
__railhead_env 2>/dev/null
exec "$1" --norc --noprofile -c "$2" railhead-step
}`;

/** Argument: the script's exit code. */
const OVER = `__railhead_over() {
builtin printf '\\0railhead end %s %d\\0' "$__railhead_cookie" "$1"
}`;

/** Arguments: the script's process group, the cookie. Prints what \`kill\` takes for each that is left. */
const MEMBERS = `__railhead_members() {
local __railhead_folder __railhead_word
! kill -0 -- "-$1" 2>/dev/null || builtin echo "-$1"
for __railhead_folder in /proc/[0-9]*; do
  [[ -O $__railhead_folder/environ ]] || continue
  while IFS= read -r -d '' __railhead_word; do
    [[ $__railhead_word == "${COOKIE_NAME}=$2" ]] || continue
    builtin echo "\${__railhead_folder#/proc/}"
    break
  done 2>/dev/null <"$__railhead_folder/environ"
done
}`;

/**
 * Argument: the script's process group. Says which of it belong to other users, as with sudo: this login may not end
 * them.
 */
const FOREIGN = `__railhead_foreign() {
local __railhead_stat __railhead_line __railhead_group __railhead_left=
for __railhead_stat in /proc/[0-9]*/stat; do
  IFS= read -r __railhead_line 2>/dev/null <"$__railhead_stat" || continue
  read -r _ _ __railhead_group _ <<<"\${__railhead_line##*) }"
  [[ $__railhead_group != "$1" || -O $__railhead_stat ]] || __railhead_left+=" \${__railhead_line%% *}"
done
[[ ! $__railhead_left ]] || builtin echo "railhead: of the script these processes are another user's and go on:$__railhead_left"
}`;

/** Arguments: the same, and seconds from TERM to KILL. */
const FINISH = `__railhead_finish() {
local __railhead_round __railhead_left
__railhead_left=$(__railhead_members "$1" "$2")
[[ $__railhead_left ]] || return 0
kill -TERM -- $__railhead_left
kill -CONT -- $__railhead_left
for ((__railhead_round = 0; __railhead_round < $3 * 10; __railhead_round++)); do
  sleep 0.1
  __railhead_left=$(__railhead_members "$1" "$2")
  [[ $__railhead_left ]] || return 0
done
for ((__railhead_round = 0; __railhead_round < 10; __railhead_round++)); do
  __railhead_left=$(__railhead_members "$1" "$2")
  [[ $__railhead_left ]] || return 0
  kill -KILL -- $__railhead_left
  sleep 0.1
done
}`;
