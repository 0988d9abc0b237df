/** The mark: a frame with the place of a thing before and after. The same drawing is in console/public/icons. */
export const Mark = () => (
  <svg class="brand-mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" />
    <path class="mark-before" d="M5.5 23.5 12 10l6.5 13.5z" />
    <path class="mark-after" d="M13.5 23.5 20 10l6.5 13.5z" />
  </svg>
);
