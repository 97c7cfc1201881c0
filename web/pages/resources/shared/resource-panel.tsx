import type { ReactNode } from "react";
import type { AnyOperation } from "../../../api/operation.ts";
import type { connectorUsedBy } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import { CopyAs, type CopiedRequest } from "../../../components/copy-as.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Name } from "../../../ui/name.tsx";
import styles from "./resources.module.css";
import { UsedBy } from "./used-by.tsx";

type ResourcePanelProps = {
  readonly noun: string;
  readonly name: string;
  readonly identifier: string;
  readonly scope: Scope;
  readonly operations: { readonly get: AnyOperation; readonly usedBy: typeof connectorUsedBy };
  readonly requests?: readonly CopiedRequest[];
  readonly actions?: ReactNode;
  /** Above what uses it. */
  readonly children?: ReactNode;
  readonly onClose: () => void;
};

/** What is known of one resource, beside the list. */
export function ResourcePanel(props: ResourcePanelProps) {
  const { noun, name, identifier, scope, operations, requests = [], actions, children, onClose } = props;
  const parts = { path: { identifier }, query: { ...scope } };
  return (
    <Dialog
      open
      placement="side"
      title={<Name>{name}</Name>}
      onClose={onClose}
      actions={
        <>
          <CopyAs
            requests={[
              { label: `Read the ${noun}`, operation: operations.get, ...parts },
              { label: "List what uses it", operation: operations.usedBy, ...parts },
              ...requests,
            ]}
          />
          {actions}
        </>
      }
    >
      <div className={styles.panel}>
        {children}
        <UsedBy noun={noun} operation={operations.usedBy} identifier={identifier} scope={scope} />
      </div>
    </Dialog>
  );
}
