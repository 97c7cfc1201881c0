import { useState } from "react";
import { messageOf } from "../api/api-error.ts";
import { goToSignIn, resumeSession, signInAgain, type Session } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { FormField } from "../ui/form-field.tsx";
import { Notice } from "../ui/notice.tsx";
import { TextField } from "../ui/text-field.tsx";

/** Asks to sign in again above the page, which keeps everything that was typed. Only signing in closes it. */
export function SessionExpired({ session }: { readonly session: Session }) {
  const [password, setPassword] = useState("");
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  async function attempt(work: () => Promise<void>): Promise<void> {
    setBusy(true);
    setError(undefined);
    await work().catch((failure: unknown) => setError(messageOf(failure)));
    setBusy(false);
  }

  const stay = (): void => setError("Sign in to continue, or leave this page.");
  return (
    <Dialog
      open
      title="Your session has ended"
      onClose={stay}
      onSubmit={() =>
        void attempt(() => (session.hasPassword ? signInAgain(session.user.email, password) : resumeSession()))
      }
      actions={
        <>
          <Button variant="ghost" onClick={goToSignIn}>
            Leave this page
          </Button>
          <Button type="submit" variant="primary" busy={isBusy}>
            {session.hasPassword ? "Sign in" : "Continue"}
          </Button>
        </>
      }
    >
      {error !== undefined && <Notice tone="failed">{error}</Notice>}
      <p>Sign in again to continue. What you have typed on this page is kept.</p>
      {session.hasPassword && (
        <FormField label={`Password of ${session.user.email}`}>
          <TextField
            type="password"
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </FormField>
      )}
      <p>
        You can also{" "}
        <a href="/login" target="_blank" rel="noreferrer">
          sign in in another tab
        </a>{" "}
        and then{" "}
        <Button size="small" onClick={() => void attempt(resumeSession)}>
          continue here
        </Button>
      </p>
    </Dialog>
  );
}
