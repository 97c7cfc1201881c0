-- 000025_secret_uses.sql · compatible: an older server neither reads nor writes it; what it saves meanwhile is not noted

-- Who names which secret, so that one in use is not deleted by mistake.
create table secret_uses (
  account_id uuid not null references accounts (id),
  user_type text not null,
  user_id uuid not null,
  user_org_identifier text,
  user_project_identifier text,
  user_identifier text not null,
  org_identifier text,
  project_identifier text,
  identifier text not null,
  unique nulls not distinct (account_id, user_type, user_id, identifier, org_identifier, project_identifier)
);
create index secret_uses_by_secret on secret_uses (account_id, identifier, org_identifier, project_identifier);

insert into secret_uses (account_id, user_type, user_id, user_org_identifier, user_project_identifier, user_identifier,
                         org_identifier, project_identifier, identifier)
select distinct c.account_id, 'CONNECTOR', c.id, c.org_identifier, c.project_identifier, c.identifier,
       case when r.text like 'account.%' then null else c.org_identifier end,
       case when r.text like '%.%' then null else c.project_identifier end,
       regexp_replace(r.text, '^(account|org)\.', '')
  from connectors c
  cross join lateral (values (c.spec #>> '{auth,spec,passwordRef}'), (c.spec #>> '{auth,spec,usernameRef}')) r (text)
 where r.text is not null;
