-- 000016_input_sets.sql · compatible: an older server never reads the table, and a project with input sets waits for a newer one

-- Values for runtime inputs of one pipeline, kept by name. An overlay lists others instead, of which later ones win.
create table input_sets (
  account_id   uuid   not null,
  id           uuid   not null,
  project_id   uuid   not null,
  pipeline_id  uuid   not null,
  identifier   text   not null,
  name         text   not null,
  description  text   not null,
  tags         jsonb  not null,
  yaml         text   not null,
  -- Identifiers of input sets of the pipeline, in order, when this is an overlay; otherwise null.
  overlays     text[],
  version      int    not null,
  created_by   uuid,
  created_at   bigint not null,
  updated_at   bigint not null,
  primary key (account_id, id),
  unique (account_id, pipeline_id, identifier),
  foreign key (account_id, project_id) references projects (account_id, id),
  foreign key (account_id, pipeline_id) references pipelines (account_id, id)
);
create index input_sets_by_project on input_sets (account_id, project_id);
