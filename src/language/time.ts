/** Durations in words: "40 s", "3 minutes". */

/**
 * @param forms per unit, a singular before a bar; it is the greatest of which the duration is one or at least two
 * @param seconds 0 or more
 */
export function writeTime(seconds: number, forms: Readonly<Partial<Record<'s' | 'min' | 'h' | 'd', string>>>): string {
  const units = [
    [forms.d, 86_400],
    [forms.h, 3_600],
    [forms.min, 60],
  ] as const;
  const [form = forms.s, length = 1] =
    units.find(([known, unit]) => known !== undefined && (seconds >= 2 * unit || Math.round(seconds) === unit)) ?? [];
  const n = Math.max(1, Math.round(seconds / length));
  const [one = '', many = one] = (form ?? '').split('|');
  return (n === 1 ? one : many).replace('{n}', String(n));
}
