-- 000045_ids_of_named_secrets.sql · compatible: what an older server saves meanwhile is refused its secrets until it is saved again

-- Who saved the connector last; null where that is unknown. The ids of the secrets that it names, by reference:
-- another secret that gets one of these names is not sent. Null for a connector that an older server made.
alter table connectors add column author_kind text, add column author_id uuid, add column secret_ids jsonb;

-- Who asked for the test: permissions are checked when the secrets are sent to a delegate. Null for tests of an older server.
alter table connection_tests add column tester_kind text, add column tester_id uuid;

-- What the references name now is taken as what was meant. One that names nothing gets no id, and stays refused.
update connectors c set secret_ids = (
  select coalesce(jsonb_object_agg(r.reference, s.id), '{}')
    from (values (c.spec #>> '{auth,spec,usernameRef}'), (c.spec #>> '{auth,spec,passwordRef}')) r (reference)
    join secrets s on s.account_id = c.account_id
     and s.identifier = regexp_replace(r.reference, '^(account|org)[.]', '')
     and s.org_identifier is not distinct from case when r.reference like 'account.%' then null else c.org_identifier end
     and s.project_identifier is not distinct from
         case when r.reference ~ '^(account|org)[.]' then null else c.project_identifier end);

-- The same for what SSH credentials take: ssh.ids.
update secrets c set ssh = c.ssh || jsonb_build_object('ids', (
  select coalesce(jsonb_object_agg(r.reference, s.id), '{}')
    from (values (c.ssh #>> '{auth,password}'), (c.ssh #>> '{auth,key}'), (c.ssh #>> '{auth,passphrase}')) r (reference)
    join secrets s on s.account_id = c.account_id
     and s.identifier = regexp_replace(r.reference, '^(account|org)[.]', '')
     and s.org_identifier is not distinct from case when r.reference like 'account.%' then null else c.org_identifier end
     and s.project_identifier is not distinct from
         case when r.reference ~ '^(account|org)[.]' then null else c.project_identifier end))
 where c.ssh is not null;
