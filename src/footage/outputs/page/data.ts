/** Data of report.html, as the writer embeds them and the script of the page reads them: text that is ready to show. */
export interface ReportData {
  readonly changes: readonly ReportChange[];
  readonly visits: readonly ReportVisit[];
  /** empty if the capture times are unknown */
  readonly days: readonly string[];
  readonly cameras: readonly ReportCamera[];
  /** in the language of the report; `shown` and `shown_visits` have the slots {n} and {all} */
  readonly texts: Readonly<
    Record<
      'no_picture' | 'best_frame' | 'before' | 'after' | 'shown' | 'shown_visits' | 'in_the_footage' | 'zone',
      string
    >
  >;
}

/** A visit or a change. */
export interface ReportEntry {
  readonly id: string;
  readonly camera: string;
  readonly kind: string;
  readonly caption: string;
  readonly severity: string;
  /** position on the timeline, ms */
  readonly time: number;
  /** '' if the capture time is unknown */
  readonly day: string;
  /** time of the first frame, or its position in the file */
  readonly when: string;
  /** lines below the sentence: name and value */
  readonly facts: readonly (readonly [name: string, value: string])[];
}

export interface ReportChange extends ReportEntry {
  readonly before: ReportPicture;
  readonly after: ReportPicture;
  /** id of the visit that it is a place of; null: of none */
  readonly visit: string | null;
}

export interface ReportVisit extends ReportEntry {
  readonly shown: ReportPicture;
  /** the way of its feet, as a path of an SVG with the view box 0 0 1 1 */
  readonly way: string;
}

export interface ReportPicture {
  /** number of the embedded picture; null without one */
  readonly picture: number | null;
  /** path of an SVG with the view box 0 0 1 1; '' without an outline */
  readonly outline: string;
}

export interface ReportCamera {
  readonly camera: string;
  /** begin and end on the timeline, ms */
  readonly span: readonly [number, number];
  /** times without frames, ms */
  readonly gaps: readonly (readonly [number, number])[];
  /** labels of begin and end */
  readonly from: string;
  readonly to: string;
}
