import { type ReactNode, useMemo } from "react";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import css from "./Code.module.css";
import { type DiffLine, parseDiff } from "./diff";
import { tokens } from "./yaml";

/** A file as it is. hot are the numbers of lines, from 1, that stand out; plain leaves out the colours of YAML. */
export function Code({ text, label, hot, plain }: { text: string; label: string; hot?: readonly number[]; plain?: boolean }) {
  const lines = useMemo(() => text.replace(/\n$/, "").split("\n"), [text]);
  return (
    <pre className={css.code} tabIndex={0} role="group" aria-label={label}>
      <code>
        {lines.map((line, i) => (
          <span key={i} className={cx(css.line, hot?.includes(i + 1) && css.hot)}>
            {plain ? line : <Coloured line={line} />}
            {"\n"}
          </span>
        ))}
      </code>
    </pre>
  );
}

function Coloured({ line }: { line: string }): ReactNode {
  return tokens(line).map((t, i) =>
    t.kind === "text" ? (
      t.text
    ) : (
      <span key={i} className={css[t.kind]}>
        {t.text}
      </span>
    ),
  );
}

/** What changed in files, from a unified diff. Several files follow each other, each with its path; one alone leaves the path to its panel. */
export function Diff({ text, label, paths }: { text: string; label: string; /** Shows the path of a file that is alone too. */ paths?: boolean }) {
  const files = useMemo(() => parseDiff(text), [text]);
  return (
    <pre className={cx(css.code, css.diff)} tabIndex={0} role="group" aria-label={label}>
      <code>
        {files.map((f) => (
          <span key={f.path}>
            {(paths || files.length > 1) && (
              <span className={cx(css.line, css.file)}>
                {f.path}
                {"\n"}
              </span>
            )}
            {f.lines.map((line, i) => (
              <Line key={i} line={line} />
            ))}
          </span>
        ))}
      </code>
    </pre>
  );
}

function Line({ line }: { line: DiffLine }) {
  const t = useTexts("common");
  const said = { add: t("added"), del: t("removed"), same: "", at: "" }[line.kind];
  return (
    <span className={cx(css.line, css[line.kind])}>
      {said && <span className={layout.sr}>{said} </span>}
      {line.kind === "at" ? line.text : <Coloured line={line.text} />}
      {"\n"}
    </span>
  );
}
