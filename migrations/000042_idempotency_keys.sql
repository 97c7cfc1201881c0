-- 000042_idempotency_keys.sql · compatible: an older server ignores the header, and starts an execution for each request

-- What a request with the header Idempotency-Key has started: for 24 hours the same request gets the same answer.
create table idempotency_keys (
  account_id uuid not null references accounts (id),
  actor_id uuid not null,
  operation text not null,
  key text not null,
  request_hash bytea not null,
  -- Null only inside the transaction that starts the execution.
  started json,
  created_at bigint not null,
  primary key (account_id, actor_id, operation, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
