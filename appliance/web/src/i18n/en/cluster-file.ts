import type { Section } from "../texts";

export default {
  file: "File",
  theFile: "the file",
  cloneLine: "the line that clones the repository",
  asOf: "as of {commit}",
  none: "The file cannot be shown",
  noneHint: "The claim is put together from files that others use too. The repository has all of them.",
  edit: "Edit it",
  editText: "Every change on this page is an edit of this file. With Git it is the same, and comments stay:",
  problems: "What is wrong with it",
} as const satisfies Section;
