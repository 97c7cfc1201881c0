/**
 * The condition that a reader may view a row: compares the columns with `reach`, passed as JSON in the parameter. Lists
 * for readers who may view everything omit it.
 */
export const within = (
  parameter: string,
  { org, project, identifier }: { readonly org: string; readonly project: string; readonly identifier: string },
): string => `exists (
  select 1 from jsonb_to_recordset(${parameter}::jsonb)
    as may ("orgIdentifier" text, "projectIdentifier" text, children boolean, identifiers text[])
   where (may."orgIdentifier" is null or may."orgIdentifier" = ${org})
     and (may."projectIdentifier" is null or may."projectIdentifier" = ${project})
     and (may.children or (may."orgIdentifier" is not distinct from ${org}
                           and may."projectIdentifier" is not distinct from ${project}))
     and (may.identifiers is null or ${identifier} = any (may.identifiers)))`;
