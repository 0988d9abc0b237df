/** Examples of bodies, shown by the OpenAPI file and /docs. A test checks them against their schemas. */

interface Example {
  readonly summary: string;
  readonly value: object;
}

const ID = 'cmp_01k9x3v5s8q2m7c4w6n1b0t9hz';
const links = (part: 'frames' | 'heatmaps') => {
  const signed = 'exp=1767229200&sig=4Yx0u3m8Qk1cVb7Zt2nRj9sWd5fLh6gPa_oEiUyTqX0';
  const link = (side: string) => ({
    url: `https://scenedelta.example/v1/comparisons/${ID}/${part}/${side}?${signed}`,
  });
  return { before: link('before'), after: link('after') };
};

/** Two real images of 64 x 48 pixels, so that the request can be sent unchanged; the second has a red square. */
const BEFORE =
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwAgMAAADcJZSMAAAAA1BMVEWIiIhYZW6zAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAA' +
  'EElEQVQoz2NgGAWjYBQQCwADMAABkdjYpQAAAABJRU5ErkJggg==';
const AFTER =
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwAgMAAADcJZSMAAAABlBMVEXMIiKIiIiNaC+4AAAACXBIWXMAAAPoAAAD6AG1e1Jr' +
  'AAAAGElEQVQoz2MIRQMMowJUEmAAglGBYRa3AEhW6cE90JkAAAAAAElFTkSuQmCC';

const UNREADABLE = {
  type: 'https://scenedelta.dev/errors/image-unreadable',
  title: 'A frame is not an image that can be decoded',
  status: 422,
  detail: 'after ends in the middle of the image',
  field: 'after',
};

/** Examples of request bodies, by component. */
export const REQUEST_EXAMPLES: Readonly<Record<string, Readonly<Record<string, Example>>>> = {
  ComparisonRequest: {
    base64: {
      summary: 'Two frames in base64',
      value: { before: { base64: BEFORE }, after: `data:image/png;base64,${AFTER}`, camera: 'gate-3' },
    },
    urls: {
      summary: 'Two http(s) addresses, with all options',
      value: {
        before: 'https://camera.example/gate-3/2026-01-01T07-59-50.jpg',
        after: {
          url: 'https://camera.example/gate-3/2026-01-01T08-00-00.jpg',
        },
        camera: 'gate-3',
        callback_url: 'https://dashboard.example/hooks/scenedelta',
        deadline_s: 30,
        metadata: {
          site: 'north',
        },
      },
    },
    s3: {
      summary: 'Two S3 objects',
      value: {
        before: {
          s3: {
            bucket: 'archive',
            key: 'gate-3/2026/01/01/075950.jpg',
          },
        },
        after: 's3://archive/gate-3/2026/01/01/080000.jpg',
        priority: 'archive',
      },
    },
  },
  CameraRequest: {
    zones: {
      summary: 'A background model, an alarm budget and two zones',
      value: {
        before: 'memory',
        alarms_per_day: 2,
        zones: [
          {
            id: 'street',
            type: 'ignore',
            polygon: [
              [0, 0.8],
              [1, 0.8],
              [1, 1],
              [0, 1],
            ],
          },
          {
            id: 'neighbour',
            type: 'privacy',
            polygon: [
              [0.7, 0],
              [1, 0],
              [1, 0.3],
              [0.7, 0.3],
            ],
          },
        ],
      },
    },
    alerts: {
      summary: 'Alerts in the night, of the gate only',
      value: {
        zones: [
          {
            id: 'gate',
            type: 'include',
            polygon: [
              [0.4, 0.2],
              [0.6, 0.2],
              [0.6, 0.9],
              [0.4, 0.9],
            ],
          },
        ],
        schedule: {
          timezone: 'Europe/Berlin',
          windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '22:00', to: '06:00' }],
        },
        alerts: {
          confirm_frames: 3,
          min_severity: 'medium',
          severity_rules: [{ zone: 'gate', when: 'a vehicle has appeared', severity: 'high' }],
        },
      },
    },
  },
  CameraFrameRequest: {
    base64: { summary: 'A frame in base64', value: { frame: { base64: BEFORE } } },
  },
  FeedbackRequest: {
    correct: { summary: 'The change was real', value: { judgement: 'correct' } },
    false_alarm: { summary: 'Nothing had changed', value: { judgement: 'false_alarm' } },
  },
};

/** Examples of answers, by component and status. */
export const RESPONSE_EXAMPLES: Readonly<Record<string, Readonly<Record<string, Example>>>> = {
  Comparison: {
    200: {
      summary: 'A finished comparison',
      value: {
        id: ID,
        camera: 'gate-3',
        status: 'finished',
        created_at: '2026-01-01T08:00:01.250Z',
        finished_at: '2026-01-01T08:00:01.410Z',
        verdict: 'change',
        kind: 'appear',
        nuisance: [
          {
            name: 'lighting',
            score: 0.12,
          },
        ],
        caption: 'a parcel has been left beside the gate',
        caption_score: 0.83,
        words: [
          {
            text: 'a',
            score: 0.97,
          },
          {
            text: 'parcel',
            score: 0.81,
          },
          {
            text: 'has',
            score: 0.95,
          },
          {
            text: 'been',
            score: 0.99,
          },
          {
            text: 'left',
            score: 0.78,
          },
          {
            text: 'beside',
            score: 0.72,
          },
          {
            text: 'the',
            score: 0.98,
          },
          {
            text: 'gate',
            score: 0.69,
          },
        ],
        confidence: 0.98,
        severity: 'medium',
        regions: [
          {
            id: 1,
            side: 'after',
            box: {
              x: 0.42,
              y: 0.61,
              width: 0.08,
              height: 0.1,
            },
            area: 0.0062,
            score: 0.91,
          },
        ],
        model: {
          name: 'scorer-surveillance',
          version: '0.1.0',
          sha256: '9f2c1d4be07a6358c1f0a2b3d4e5f60718293a4b5c6d7e8f9012a3b4c5d6e7f8',
          provider: 'cpu',
        },
        viewpoint: {
          moved: false,
          shift_px: 0.31,
          rotation_deg: 0.012,
          scale: 0.99994,
          overlap: 1,
          inliers: 142,
          residual_px: 0.402,
        },
        timings_ms: {
          queue: 4,
          fetch: 0,
          decode: 38,
          register: 21,
          encode: 71,
          caption: 29,
          heatmap: 3,
          total: 160,
        },
        frames: links('frames'),
        heatmaps: links('heatmaps'),
        metadata: {
          site: 'north',
        },
      },
    },
    202: {
      summary: 'A comparison that waits',
      value: {
        id: ID,
        camera: 'gate-3',
        status: 'queued',
        created_at: '2026-01-01T08:00:01.250Z',
        finished_at: null,
        frames: links('frames'),
        metadata: {
          site: 'north',
        },
      },
    },
  },
  ComparisonProblem: {
    422: {
      summary: 'A frame that cannot be decoded',
      value: {
        ...UNREADABLE,
        comparison: {
          id: ID,
          camera: null,
          status: 'failed',
          created_at: '2026-01-01T08:00:01.250Z',
          finished_at: '2026-01-01T08:00:01.290Z',
          error: UNREADABLE,
        },
      },
    },
  },
};
