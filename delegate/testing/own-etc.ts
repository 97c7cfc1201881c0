/** Programs with an /etc of their own: they and the test change users there and nothing on the machine. Root only. */

/** Arguments: an empty folder, and the program. */
const WITH_OWN_ETC = `mount -t tmpfs -o mode=755 railhead "$1"
mkdir "$1/upper" "$1/work"
mount -t overlay -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" railhead /etc
shift
exec "$@"`;

/**
 * Returns the beginning of a command that starts a program with a copy of /etc. The program has the process id of the
 * command.
 * @param folder an empty folder that the program's name space uses
 */
export const withOwnEtc = (folder: string): readonly string[] => [
  ...["unshare", "--mount", "--", "/bin/sh", "-ec", WITH_OWN_ETC, "sh", folder],
];

/** Arguments of nsenter, before those of the program that is to run with the /etc of the process. */
export const inEtcOf = (pid: number): readonly string[] => ["--target", String(pid), "--mount", "--"];
