/**
 * Data of the documents: HTML files that hold all that they show (report.html, the page of an evidence package, the
 * page of a brief). The service writes the data, and the components in console/src/documents show them. Every text is
 * ready to be shown, in the language of the document.
 */

/** The part that every document has; a browser without scripts shows no more than this. */
export interface DocumentHead {
  /** language of all texts, as an HTML `lang` */
  readonly locale: string;
  readonly title: string;
  /** where the same content is, for a browser without scripts */
  readonly noscript: string;
}

/** Names and values, in the order in which they are shown. */
export type Facts = readonly (readonly [name: string, value: string])[];

export interface Link {
  readonly text: string;
  readonly url: string;
}

/** The changes and visits of a recording; report.html also embeds their pictures, as base64 by number. */
export interface ReportData extends DocumentHead {
  /** a paragraph: the counts, and the most important visits and changes */
  readonly lead: string;
  /** crops of the most important ones, in the order of time */
  readonly strip: readonly ReportCrop[];
  /** counts of records and frames, in one line */
  readonly summary: string;
  /** that later changes are missing; null if the run came to the end */
  readonly incomplete: string | null;
  /** failures, gaps and the like; none of them is empty */
  readonly lists: readonly { readonly title: string; readonly lines: readonly string[] }[];
  readonly visits: readonly ReportEntry[];
  readonly changes: readonly ReportEntry[];
  /** local days with entries; empty if the capture times are unknown */
  readonly days: readonly string[];
  readonly cameras: readonly ReportCamera[];
  /** `shown` has the slots {n} and {all} */
  readonly texts: Readonly<Record<(typeof REPORT_TEXTS)[number], string>>;
}

/** Texts around the records of a report. */
export const REPORT_TEXTS = [
  ...(['timeline', 'timeline_keys', 'keys', 'filters', 'camera', 'kind', 'day', 'text', 'all'] as const),
  ...(['outlines', 'places', 'visits', 'changes', 'no_picture', 'shown', 'in_the_footage', 'zone'] as const),
  ...(['details', 'play'] as const),
];

/** A crop of a thing, which leads to the card of its entry. */
export interface ReportCrop {
  readonly entry: string;
  /** number of the embedded picture */
  readonly picture: number;
  readonly text: string;
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
  readonly facts: Facts;
  readonly pictures: readonly ReportPicture[];
  /** path of a short video of it beside the report; null: there is none */
  readonly clip: string | null;
  /** whether it is a change that belongs to a visit, which the page lists already */
  readonly isPlace: boolean;
}

/** Paths are those of an SVG with the view box 0 0 1 1, '' for none. */
export interface ReportPicture {
  readonly name: string;
  /** number of the embedded picture; null without one */
  readonly picture: number | null;
  readonly outline: string;
  /** the way of the feet of a visit */
  readonly way: string;
}

export interface ReportCamera {
  readonly camera: string;
  /** begin and end on the timeline, ms */
  readonly span: readonly [number, number];
  /** times without frames, ms */
  readonly gaps: readonly (readonly [number, number])[];
  /** times between them, mostly full hours, with their labels */
  readonly ticks: readonly (readonly [time: number, label: string])[];
  /** labels of begin and end */
  readonly from: string;
  readonly to: string;
}

/** The page of an evidence package. */
export interface EvidenceData extends DocumentHead {
  readonly facts: Facts;
  /** sentences about parts that are not in the package */
  readonly missing: readonly string[];
  /** a change, a visit or a comparison each */
  readonly sections: readonly {
    readonly title: string;
    readonly facts: Facts;
    readonly frames: readonly {
      readonly name: string /** in the package; null: not kept */;
      readonly path: string | null;
    }[];
  }[];
}

/** The page of a brief. */
export interface BriefData extends DocumentHead {
  /** to the changes in the console; null if it is not served */
  readonly back: Link | null;
  /** a paragraph; '' without a camera */
  readonly summary: string;
  readonly pictures: readonly BriefPicture[];
  readonly cameras: readonly BriefCamera[];
  /** that there is no camera, or that there are more; null: neither */
  readonly end: string | null;
}

/** A crop of a thing, and where there is more about it. */
export interface BriefPicture {
  /** base64 of a JPEG */
  readonly jpeg: string;
  readonly text: string;
  readonly url: string;
}

export interface BriefCamera {
  readonly title: string;
  readonly subtitle: string;
  readonly sections: readonly {
    readonly title: string;
    /** counts of the hours of the day, for a plot; absent: there is none */
    readonly hours?: readonly BriefHour[];
    readonly lines: readonly BriefLine[];
  }[];
}

export interface BriefHour {
  /** local time at which it begins */
  readonly time: string;
  readonly count: number;
}

/** A line, and the page of the record that it is about. */
export interface BriefLine {
  readonly text: string;
  readonly link: Link | null;
}
