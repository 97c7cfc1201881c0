/**
 * The small program that stands beside every step: `/bin/sh -c SUPERVISOR`,
 * one extra exec. It writes to the journal (file descriptor 3): its own pid,
 * the step's status when that has ended, and the copier's status when the last
 * writer of the output has closed it.
 *
 * The output passes through a pipe and `cat` into the file, although the step
 * could write the file itself: `echo oops >/dev/stderr` opens what stands
 * behind the descriptor again, and with a file that would empty the log (or be
 * forbidden, when the file is not the step user's). Measured: 1 ms at the end
 * of a step, nothing in steps per second.
 *
 * A step that does `kill 0` reaches the whole group. The supervisor and its
 * left half catch the signal (a caught one is restored for the step, an ignored
 * one would not be); the copier ignores it and ends with the last writer.
 *
 * A dump of a process would hold its secrets: none is made unless the step asks for it.
 *
 * No variable is set: one that the step's environment has too would be changed.
 */
const SIGNALS = "HUP INT QUIT TERM USR1 USR2 ALRM";

/** Arguments: the copier, then the step's program and its arguments. */
export const SUPERVISOR = `trap : ${SIGNALS}
ulimit -S -c 0
echo "pid $$" >&3
{ trap : ${SIGNALS}; ( shift; exec "$@" 2>&1 3>&- ); echo "exit $?" >&3; } |
{ trap '' ${SIGNALS}; exec "$1" 3>&-; }
echo "copied $?" >&3
`;
