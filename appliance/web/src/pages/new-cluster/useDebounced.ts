import { useEffect, useState } from "react";

/** useDebounced is a value once it has stayed the same for so many milliseconds, so that not every key asks the server. */
export function useDebounced<V>(value: V, ms: number): V {
  const [settled, setSettled] = useState(value);
  const key = JSON.stringify(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(JSON.parse(key) as V), ms);
    return () => clearTimeout(timer);
  }, [key, ms]);
  return settled;
}
