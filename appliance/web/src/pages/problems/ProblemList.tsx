import type { Problem } from "@/api";
import { Icon, Said } from "@/components";
import css from "./ProblemList.module.css";

/** placeOf is where a problem is: the file with its line, and the field. */
export function placeOf(problem: Problem): string {
  const file = problem.line === undefined || problem.line === 0 ? problem.path : `${problem.path}:${problem.line}`;
  return problem.field === undefined || problem.field === "" ? file : `${file} ${problem.field}`;
}

/** What is wrong in files, line by line, in the person's language. */
export function ProblemList({ problems }: { problems: readonly Problem[] }) {
  return (
    <ul className={css.problems}>
      {problems.map((p, i) => (
        <li key={i}>
          <Icon name="alert" />
          <span>
            <code>{placeOf(p)}</code>
            <Said of={p} field="message" whole />
          </span>
        </li>
      ))}
    </ul>
  );
}
