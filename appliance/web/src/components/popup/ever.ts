import { useState } from "react";

/** Whether something has been true once; what closes itself must stay after that, to give the focus back. */
export function useEver(now: boolean): boolean {
  const [ever, setEver] = useState(now);
  if (now && !ever) setEver(true);
  return ever || now;
}
