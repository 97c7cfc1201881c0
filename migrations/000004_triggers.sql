-- 000004_triggers.sql · compatible: new tables only

create table triggers (
  account_id   uuid   not null,
  id           uuid   not null,
  project_id   uuid   not null,
  pipeline_id  uuid   not null,
  identifier   text   not null,
  name         text   not null,
  description  text   not null,
  tags         jsonb  not null,
  enabled      boolean not null,
  yaml         text   not null,
  -- The token in the webhook's URL: hashed to look it up, sealed to show the URL again.
  token_hash   bytea  not null,
  token_sealed bytea  not null,
  version      int    not null,
  created_at   bigint not null,
  updated_at   bigint not null,
  primary key (account_id, id),
  unique (account_id, pipeline_id, identifier),
  unique (account_id, token_hash),
  foreign key (account_id, project_id) references projects (account_id, id),
  foreign key (account_id, pipeline_id) references pipelines (account_id, id)
);
create index triggers_by_project on triggers (account_id, project_id);

-- The inbox: a delivery is stored here before it is answered with 200 (law 1).
create table webhook_deliveries (
  account_id     uuid   not null,
  id             uuid   not null,
  -- 24 random hex digits; whoever sent the delivery may ask for its fate with them.
  correlation_id text   not null,
  trigger_id     uuid   not null,
  headers        jsonb  not null,
  payload        text   not null,
  received_at    bigint not null,
  processed_at   bigint,
  -- Null while the delivery waits to be processed.
  status         text,
  message        text   not null,
  execution_id   uuid,
  primary key (account_id, id),
  unique (account_id, correlation_id),
  foreign key (account_id, trigger_id) references triggers (account_id, id),
  foreign key (account_id, execution_id) references executions (account_id, id)
);
create index webhook_deliveries_by_trigger on webhook_deliveries (account_id, trigger_id);
create index webhook_deliveries_by_execution on webhook_deliveries (account_id, execution_id);
create index webhook_deliveries_waiting on webhook_deliveries (account_id, id) where processed_at is null;
