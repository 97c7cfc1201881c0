import { useQuery } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, type DataOf } from "../../../api/client.ts";
import { accessExplain } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Section } from "../../../ui/card.tsx";
import { Name } from "../../../ui/name.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import type { Principal } from "../assignments/principal.ts";
import { levelOf } from "../shared/levels.ts";
import { builtInName } from "../shared/names.ts";
import styles from "../shared/panel.module.css";
import { AssignmentText } from "./principal-columns.tsx";

type Found = DataOf<typeof accessExplain>;
type Reason = Found["reasons"][number];
type ExplanationProps = {
  readonly principal: Principal;
  readonly scope: Scope;
  readonly permission: string;
  /** Empty: all resources. */
  readonly resource: string;
};

/** Whether a principal may do something, and the role assignments that decide it. */
export function Explanation({ principal, scope, permission, resource }: ExplanationProps) {
  const { data, error } = useQuery(
    dataQuery(accessExplain, {
      query: {
        ...{ ...scope, permission, principalType: principal.type, principalIdentifier: principal.identifier },
        ...(principal.type === "USER" ? {} : { principalScopeLevel: principal.scopeLevel }),
        ...(resource === "" ? {} : { resourceIdentifier: resource }),
      },
    }),
  );
  if (error !== null) return <Notice tone="failed">{messageOf(error)}</Notice>;
  if (data === undefined) return <SkeletonLines lines={3} />;
  return (
    <Section title="Why">
      <div className={styles.panel}>
        <Verdict found={data} permission={permission} resource={resource} />
        <ul className={styles.rows} aria-label="Role assignments with this permission">
          {data.reasons.map((reason) => (
            <li key={reason.roleAssignment.identifier} className={styles.row}>
              <span className={styles.text}>
                <AssignmentText assignment={reason.roleAssignment} scope={scope} />
                {reason.principal.type === "USER_GROUP" && (
                  <span className={styles.none}>
                    by the group <Name>{reason.principal.name ?? builtInName(reason.principal.identifier)}</Name>
                    {reason.principal.scopeLevel !== levelOf(scope) && ` of the ${reason.principal.scopeLevel}`}
                  </span>
                )}
              </span>
              <Effect reason={reason} />
            </li>
          ))}
        </ul>
      </div>
    </Section>
  );
}

type VerdictProps = { readonly found: Found; readonly permission: string; readonly resource: string };

function Verdict({ found: { permitted, hiddenLevels, reasons }, permission, resource }: VerdictProps) {
  const target = resource === "" ? "all resources of its type" : `resource ${resource}`;
  if (permitted === true)
    return (
      <Notice tone="success" title="Permitted">
        <code>{permission}</code> on {target}.
      </Notice>
    );
  if (permitted === null)
    return (
      <Notice tone="waiting" title="Not known">
        Only a role of the {hiddenLevels.join(" or the ")} could permit <code>{permission}</code>. You may not see
        those.
      </Notice>
    );
  return (
    <Notice tone="waiting" title="Not permitted">
      {reasons.length === 0 ? (
        <>
          No role of this principal has <code>{permission}</code>.
        </>
      ) : (
        <>
          <code>{permission}</code> on {target}: the roles that have it are over something else.
        </>
      )}
    </Notice>
  );
}

function Effect({ reason: { effect } }: { readonly reason: Reason }) {
  if (effect === "PERMITS")
    return (
      <Badge tone="success" icon="check">
        Permits
      </Badge>
    );
  return (
    <Badge tone="skipped" icon="minus">
      {effect === "OTHER_RESOURCES" ? "Single resources only" : "Over something else"}
    </Badge>
  );
}
