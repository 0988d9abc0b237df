/** Names of time zones. */

/** Whether it is the IANA name of a time zone that the platform knows. */
export function isTimeZone(name: string): boolean {
  try {
    // Intl also accepts offsets ('+02:00'), which have no summer time.
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }) !== null;
  } catch {
    return false;
  }
}
