-- 000013_audit_requests.sql · compatible: an older server leaves the new columns null

-- The request that made the change; null for what no request made, and for entries older than these columns.
-- The path is without its query: nothing of a request that may be secret is kept.
alter table audit_entries
  add column actor_email text,
  add column request_method text,
  add column request_path text,
  add column remote_address text,
  add column correlation_id text;
-- The trail is read newest first.
create index audit_entries_newest on audit_entries (account_id, at desc, id desc);
