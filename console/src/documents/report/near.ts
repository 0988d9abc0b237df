/** Whether an element has come near the view: pictures are decoded then, because a report may have thousands. */
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const waiting = new Map<Element, () => void>();
const reveal = (element: Element) => {
  waiting.get(element)?.();
  forget(element);
};
const forget = (element: Element) => {
  observer.unobserve(element);
  waiting.delete(element);
};
const observer = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) reveal(target);
  },
  { rootMargin: '100% 0px' },
);
// On paper everything is in view.
addEventListener('beforeprint', () => {
  for (const element of [...waiting.keys()]) reveal(element);
});

/** @returns false until the element is less than a screen away from the view; then true */
export function useNear(element: RefObject<Element>): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const { current } = element;
    if (current === null) return;
    waiting.set(current, () => setNear(true));
    observer.observe(current);
    return () => forget(current);
  }, []);
  return isNear;
}
