import { CopyAs } from "../../components/copy-as.tsx";
import { copiedSamples } from "./copied.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Icon, iconNames } from "../../ui/icon.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { ButtonLink, ExternalLink, Link } from "../../ui/link.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import styles from "./components-page.module.css";

const VARIANTS = ["primary", "secondary", "ghost", "danger"] as const;

export function Actions() {
  return (
    <>
      <Card title="Buttons and links">
        <div className={styles.stack}>
          {VARIANTS.map((variant) => (
            <div key={variant} className={styles.row}>
              <Button variant={variant}>Run pipeline</Button>
              <Button variant={variant} icon="play">
                Run
              </Button>
              <Button variant={variant} size="small">
                Small
              </Button>
              <Button variant={variant} busy>
                Saving
              </Button>
              <Button variant={variant} disabled>
                Disabled
              </Button>
              <IconButton variant={variant} icon="refresh" label={`Refresh (${variant})`} />
            </div>
          ))}
          <div className={styles.row}>
            <Link to="/">Link</Link>
            <Link to="/" look="quiet">
              Quiet link
            </Link>
            <ExternalLink href="https://www.w3.org/TR/WCAG22/">External link</ExternalLink>
            <ButtonLink to="/" variant="secondary" icon="plus">
              Link as a button
            </ButtonLink>
            <CopyButton text="copied" label="Copy the identifier" />
            <CopyButton text="copied" label="Copy the token">
              Copy token
            </CopyButton>
            <CopyAs {...copiedSamples} />
            <Kbd keys={["⌘", "K"]} />
            <Spinner label="Loading" />
          </div>
        </div>
      </Card>
      <Card title="Icons">
        <div className={styles.icons}>
          {iconNames.map((name) => (
            <span key={name} className={styles.icon}>
              <Icon name={name} />
              {name}
            </span>
          ))}
        </div>
      </Card>
    </>
  );
}
