import { useCallback, useState } from "react";

/** Something the person arranged once and finds again: a width, what is folded. It stays in this browser. */
export function useKept<V>(key: string, first: V): [V, (value: V) => void] {
  const name = `kubehenge.${key}`;
  const [value, setValue] = useState<V>(() => read(name, first));
  const keep = useCallback(
    (now: V) => {
      setValue(now);
      localStorage.setItem(name, JSON.stringify(now));
    },
    [name],
  );
  return [value, keep];
}

function read<V>(name: string, first: V): V {
  try {
    return (JSON.parse(localStorage.getItem(name) ?? "null") as V | null) ?? first;
  } catch {
    return first;
  }
}
