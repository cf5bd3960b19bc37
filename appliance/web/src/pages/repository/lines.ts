/** inTwo breaks each line that names a place in a file after the place, so that what is wrong there is read without scrolling. */
export function inTwo(message: string): string {
  return message
    .split("\n")
    .map((line) => line.replace(/^(\S+:\d+): /, "$1\n  "))
    .join("\n");
}
