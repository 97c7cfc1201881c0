import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { messageOf } from "./api/api-error.ts";
import { queryClient } from "./api/query-client.ts";
import { goToSignIn, loadSession } from "./api/session.ts";
import { reloadForNewVersion } from "./frame/new-version.ts";
import { checkRestoredPage } from "./frame/restored-page.ts";
import { applyTheme } from "./frame/theme.ts";
import { router } from "./router.tsx";
import "./ui/tokens.css";
import "./ui/base.css";

applyTheme();
reloadForNewVersion();
const root = document.getElementById("root");
if (root === null) throw new Error("The page has no element #root.");

try {
  const session = await loadSession();
  if (session === undefined) goToSignIn();
  else {
    checkRestoredPage(root);
    createRoot(root).render(
      <StrictMode>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </StrictMode>,
    );
  }
} catch (error) {
  root.textContent = `Railhead could not start: ${messageOf(error)}`;
}
