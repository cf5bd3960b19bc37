import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { compress } from "./build/compress.ts";
import { groups } from "./build/groups.ts";
import { weigh } from "./build/weigh.ts";

/** Where `npm run dev` finds the backend; the page comes from Vite then, and data from there. */
const backend = process.env.KUBEHENGE_BACKEND ?? "https://127.0.0.1:8443";

export default defineConfig({
  plugins: [react(), compress(), weigh()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    target: "es2022",
    // The server's Content Security Policy takes no inline script, style or picture, so nothing may become one.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: { groups },
      },
    },
  },
  server: { proxy: { "/api": { target: backend, secure: false, changeOrigin: true } } },
});
