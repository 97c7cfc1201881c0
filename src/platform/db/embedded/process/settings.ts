export type Settings = Readonly<Record<string, string>>;

/**
 * Settings that the server passes to the embedded PostgreSQL. Settings of memory (`shared_buffers`, `work_mem`,
 * `maintenance_work_mem`) and of connections (`max_connections`) are not among them: PostgreSQL's defaults apply.
 */
export const SETTINGS: Settings = {
  listen_addresses: "",
  unix_socket_permissions: "0700",
  fsync: "on",
  jit: "off", // the packages bring no compiler
  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "",
  // Errors of statements go to their sender. This log reports only events of the server, without user data.
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
  log_checkpoints: "off",
};
