import css from "./sign-in.module.css";

/** The stones at sunrise. Only here, and only to look at. */
export function Land() {
  return (
    <svg className={css.land} viewBox="0 0 1280 230" preserveAspectRatio="xMidYMax slice" aria-hidden="true" focusable="false">
      <circle className={css.sun} cx="640" cy="172" r="58" />
      <path className={css.far} d="M0 170Q320 140 640 160T1280 150V230H0z" />
      <path
        className={css.near}
        d="M448 86l104-4 2 18-107 4zM460 105l24-1 3 72h-29zM520 103l23-1 4 75h-30zM562 77l156-4 2 22-160 4zM580 101l30-1 3 82h-35zM672 98l30-1 5 86h-37zM728 83l104 3-1 18-105-3zM742 104l24 1-2 72h-26zM800 106l22 1 4 70h-29zM398 118l26-2 5 58h-33zM856 112l24 4 2 58h-31zM350 142l30-4 8 36h-40zM900 140l28 6 6 30h-38z"
      />
      <path className={css.ground} d="M0 190Q300 168 640 176T1280 184V230H0z" />
    </svg>
  );
}
