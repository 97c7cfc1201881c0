/** Who did what: one row for each change, written in the transaction of the change itself. */
export { makeAudit, type Audit } from "./record.ts";
