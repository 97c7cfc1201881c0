-- 000031_groups_of_directories.sql · compatible: yes

-- Two groups of a directory that were made at the same moment could share a name: the first one keeps it, the others get
-- their identifier beside it. Each round makes names longer, so that it ends also where that name is another group's.
do $$
begin
  loop
    update user_groups g set name = g.name || ' (' || g.identifier || ')', version = g.version + 1
     where g.externally_managed and g.org_identifier is null and g.project_identifier is null
       and exists (select 1 from user_groups f
                    where f.account_id = g.account_id and f.externally_managed and f.org_identifier is null
                      and f.project_identifier is null and f.id < g.id
                      and lower(f.name collate "pg_c_utf8") = lower(g.name collate "pg_c_utf8"));
    exit when not found;
  end loop;
end
$$;

-- A directory looks for its groups by name. The order of letters that the database was made with must not decide.
create unique index user_groups_by_provided_name on user_groups (account_id, lower(name collate "pg_c_utf8"))
  where externally_managed and org_identifier is null and project_identifier is null;
