/** How much there is of something, and who uses it. */
export interface Room {
  total: number;
  free: number;
  /** What clusters of Kubehenge use, of what is used. */
  ours: number;
  others: number;
}

/** Adds up what several nodes or storages have. */
export function room(parts: readonly { total: number; used: number; ours: number }[]): Room {
  const sum = { total: 0, free: 0, ours: 0, others: 0 };
  for (const p of parts) {
    const ours = Math.min(p.ours, p.used);
    sum.total += p.total;
    sum.free += Math.max(0, p.total - p.used);
    sum.ours += ours;
    sum.others += p.used - ours;
  }
  return sum;
}

/** Tells whether little is left: a tenth, or nothing. */
export function low(r: Room): boolean {
  return r.total > 0 && r.free <= r.total / 10;
}
