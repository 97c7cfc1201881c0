import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The server in front of which `npm run dev` puts the development server. */
const server = process.env["RAILHEAD_WEB_API"] ?? "http://127.0.0.1:7070";
/** Everything that is neither a source of web/, such as /api/client.ts, nor one of its pages. */
const API =
  "^(?!/api/[^?]*\\.ts(\\?|$))/(gateway|api|ng|pipeline|authz|audit|auth|login|resourcegroup|log-service|v1|health|openapi.json|api-docs|graphql-explorer)(/|$|\\?)";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    target: "es2024",
    // The policy of the pages allows no `data:` addresses of scripts, and small files would be inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
  server: {
    proxy: {
      [API]: {
        target: server,
        // Sessions take requests of the server's own origin only.
        configure: (proxy) => proxy.on("proxyReq", (request) => request.setHeader("origin", server)),
      },
    },
  },
});
