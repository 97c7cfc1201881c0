-- 000056_secret_outputs.sql · compatible: an older server refuses pipelines with secret outputs

-- Output variables of the type Secret. `sealed`: under the account's root key (src/platform/crypto/seal.ts). `name`: where the value
-- comes from, for operators.
create table secret_outputs (
  account_id   uuid not null,
  id           uuid not null,
  execution_id uuid not null,
  name         text not null,
  size         integer not null,
  sealed       bytea not null,
  primary key (account_id, id),
  foreign key (account_id, execution_id) references executions (account_id, id) on delete cascade
);
create index secret_outputs_by_execution on secret_outputs (account_id, execution_id);
