import { Icon, Input } from "@/components";
import css from "./Audit.module.css";

/** Words to look for. */
export function SearchField({ label, placeholder, value, onChange }: { label: string; placeholder: string; value: string; onChange: (value: string) => void }) {
  return (
    <div className={css.search}>
      <Icon name="search" />
      <Input aria-label={label} placeholder={placeholder} value={value} onChange={(e) => onChange(e.target.value)} onKeyDown={(e) => e.key === "Escape" && onChange("")} />
    </div>
  );
}
