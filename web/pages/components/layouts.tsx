import { useState } from "react";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card, Section } from "../../ui/card.tsx";
import { Link } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { SplitLayout } from "../../ui/split-layout.tsx";
import { LinkTabs, TabLink, Tabs } from "../../ui/tabs.tsx";
import styles from "./components-page.module.css";
import { LONG_NAME } from "./samples.ts";

export function Layouts() {
  const [tab, setTab] = useState<"inputs" | "outputs">("inputs");
  return (
    <>
      <Card title="Header of a page">
        <PageHeader
          level={3}
          title={LONG_NAME}
          breadcrumbs={[
            <Link key="project" to="/">
              shop
            </Link>,
            <Link key="pipelines" to="/">
              Pipelines
            </Link>,
          ]}
          status={<StatusBadge status="ApprovalWaiting" />}
          meta="Started 12m ago by Ada Lovelace"
          actions={
            <>
              <Button>Run again</Button>
              <Button variant="primary">Approve</Button>
            </>
          }
          tabs={
            <LinkTabs label="Parts of the execution">
              <TabLink to="/components">Summary</TabLink>
              <TabLink to="/" count={3}>
                Approvals
              </TabLink>
            </LinkTabs>
          }
        />
      </Card>
      <Card title="Tabs inside a page">
        <Tabs
          label="Parts of the step"
          selected={tab}
          onChange={setTab}
          tabs={[
            { id: "inputs", label: "Inputs", content: "What the step got." },
            { id: "outputs", label: "Outputs", count: 2, content: "What the step gave." },
          ]}
        />
      </Card>
      <Card title="Two parts" flush>
        <SplitLayout
          label="Width of the editor"
          initial={40}
          first={<div className={styles.pane}>Editor</div>}
          second={<div className={styles.pane}>Graph</div>}
        />
      </Card>
      <Section title="Section" description="A part of a page without a border.">
        <p>Its content follows the heading.</p>
      </Section>
    </>
  );
}
