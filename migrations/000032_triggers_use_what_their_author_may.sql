-- 000032_triggers_use_what_their_author_may.sql · compatible: yes

-- What whoever saved a trigger could use then. Those that were saved before keep what they had: all that their pipeline
-- can name. What a server of the former version makes meanwhile may use nothing.

alter table triggers add column authority jsonb not null default '[]';

update triggers t set authority = (
  select jsonb_agg(jsonb_build_object(
           'scope', place.scope, 'children', false, 'resources', 'all',
           'permissions', '["core_secret_view", "core_secret_access", "core_connector_view", "core_connector_access",
                            "core_environment_view", "core_environment_access", "core_service_view",
                            "core_service_access"]'::jsonb))
    from projects p, lateral (values
           (jsonb_build_object('orgIdentifier', p.org_identifier, 'projectIdentifier', p.identifier)),
           (jsonb_build_object('orgIdentifier', p.org_identifier)),
           ('{}'::jsonb)) place (scope)
   where p.account_id = t.account_id and p.id = t.project_id);

-- The secrets that an input set named when it was saved; null of those that were saved before.
alter table input_sets add column secrets text[];
