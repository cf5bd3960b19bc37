import { defineConfig } from "@playwright/test";
import { artefacts, chromium, page } from "./tests/lab";

// The tests share one lab and one cluster, and go on from where the one before ended.
export default defineConfig({
  testDir: "tests",
  outputDir: `${artefacts}/failures`,
  workers: 1,
  fullyParallel: false,
  maxFailures: 1,
  forbidOnly: true,
  timeout: 300_000,
  expect: { timeout: 15_000 },
  reporter: [["list"]],
  use: {
    baseURL: page,
    locale: "en-GB",
    viewport: { width: 1280, height: 800 },
    // The lab's certificate is by a CA of its own.
    ignoreHTTPSErrors: true,
    actionTimeout: 15_000,
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: chromium,
      // Chromium's own sandbox refuses to start as root, as tests in a container run.
      chromiumSandbox: process.getuid?.() !== 0,
    },
  },
});
