/** Limits of a mail. */

/** All addresses of `to` and `cc`, with the members of user groups. */
export const MAX_RECIPIENTS = 256;
/** RFC 5322 section 2.1.1 allows as many characters in a line. */
export const MAX_SUBJECT = 998;
export const MAX_BODY_BYTES = 256 * 1024;
