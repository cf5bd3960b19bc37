import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router";
import { isApiError, keys, queryClient, whenQueryFails } from "@/api";
import { ToastProvider } from "@/components";
import { LanguageProvider, loadLanguage } from "@/i18n";
import { applyTheme } from "@/shell/theme";
import { makeRouter, signInAddress } from "./router";
import "./styles/tokens.css";
import "./styles/global.css";

applyTheme();
const [language, router] = [await loadLanguage(), makeRouter()];

// A session that has ended shows at the next question. What was on the page is not kept for whoever signs in next.
whenQueryFails((error) => {
  const at = router.state.location;
  if (!isApiError(error, 401) || at.pathname === "/sign-in" || !queryClient.getQueryData(keys.session)) return;
  queryClient.clear();
  void router.navigate(signInAddress(at), { replace: true });
});

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <LanguageProvider first={language}>
          <ToastProvider>
            <RouterProvider router={router} />
          </ToastProvider>
        </LanguageProvider>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
