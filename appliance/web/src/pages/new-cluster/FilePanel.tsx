import { useState } from "react";
import { Code, CopyButton, Failed, Panel, Skeleton } from "@/components";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import { ProblemList } from "../problems/ProblemList";
import { hotLines } from "./form";
import type { NewCluster } from "./useNewCluster";

/** The file as it will be committed, with the lines that the last change made standing out, and what is not right with it yet. */
export function FilePanel({ model }: { model: NewCluster }) {
  const t = useTexts("newCluster");
  const { preview, form } = model;
  const file = preview?.file;
  const hot = useHot(file);
  return (
    <>
      {model.problems.length > 0 && (
        <Panel title={t("problems")} live>
          <ProblemList problems={model.problems} />
        </Panel>
      )}
      {model.previewError !== null && <Failed error={model.previewError} />}
      {file === undefined && model.previewError === null && <Skeleton lines={8} />}
      {file !== undefined && (
        <Panel
          flush
          path={`clusters/${form.namespace || "…"}/${form.name || "…"}/claim.yaml`}
          aside={
            <span className={layout.row}>
              {t("newFile")}
              <CopyButton value={file} what={t("theFile")} alone />
            </span>
          }
        >
          <Code text={file} label={t("file")} hot={hot} />
        </Panel>
      )}
    </>
  );
}

/** The lines that the file did not have before. */
function useHot(file: string | undefined): number[] {
  const [last, setLast] = useState<{ file: string | undefined; hot: number[] }>({ file: undefined, hot: [] });
  if (file !== undefined && file !== last.file) {
    setLast({ file, hot: hotLines(last.file, file) });
  }
  return last.hot;
}
