/** The pictures of a report, which lie in it as base64. */

/** @returns the address of the picture; undefined: there is none */
export function embedded(number: number | null): string | undefined {
  const base64 = number === null ? undefined : document.getElementById(`picture-${number}`)?.textContent;
  return base64 === undefined ? undefined : `data:image/jpeg;base64,${base64}`;
}
