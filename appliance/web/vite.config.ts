import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { compress } from "./build/compress.ts";

/** Where `npm run dev` finds the backend; the page comes from Vite then, and data from there. */
const backend = process.env.KUBEHENGE_BACKEND ?? "https://127.0.0.1:8443";

/** What many pages share: parts of the interface and what they stand on, but not the large ones that only forms need. */
const isPart = (id: string) =>
  /node_modules|\/src\/(components|api|styles|i18n\/(index|texts)|shell\/addresses)/.test(id) && !/react\/(select|combobox|number-field|toast)\/|\/Field\//.test(id);

export default defineConfig({
  plugins: [react(), compress()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    target: "es2022",
    // The server's Content Security Policy takes no inline script, style or picture, so nothing may become one.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // What every page needs anyway, and what several do, in two files instead of sixty. What one page alone needs stays with it.
            { name: "base", test: /node_modules\/(react|react-dom|scheduler|react-router|cookie|@tanstack)\//, priority: 2 },
            { name: "parts", test: isPart, minShareCount: 5, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { "/api": { target: backend, secure: false, changeOrigin: true } } },
});
