/** Schemas of frames that do not show the scene: tampering, and parts of the picture that were lost. */
import { type Static, Type } from 'typebox';
import { SIDES } from '../base/images.js';
import { BoxSchema } from './box.js';
import { literals, unit } from './constructors.js';

/** Losses of a frame: one colour fills a part; rows or blocks are repeated or displaced. */
const LOSS_REASONS = ['signal_lost', 'picture_damaged'] as const;
/**
 * Reasons for which a frame does not show the scene of its camera; foreign_picture: it has another shape or another
 * view.
 */
export const SIGNAL_REASONS = [...LOSS_REASONS, 'foreign_picture'] as const;
export type SignalReason = (typeof SIGNAL_REASONS)[number];
/** Why a camera shows nothing at all: no frame has come, or each frame is the same picture. */
export const STANDSTILLS = ['silent', 'stuck'] as const;
export type Standstill = (typeof STANDSTILLS)[number];
/** The reason why a part of the view is not seen although the frames show the scene: something covers the lens. */
export const LENS = 'lens';
export const TAMPERS = ['blocked', 'defocused', 'darkened', 'turned', 'covered', ...SIGNAL_REASONS] as const;
export const TamperSchema = Type.Object(
  {
    name: literals(
      TAMPERS,
      'Kind of tampering, or of a loss of the picture. covered: by something on the lens, such as fog. ' +
        'foreign_picture: of another camera.',
    ),
    score: unit('Probability of this tampering.'),
  },
  { $id: 'Tamper' },
);

export const LostSchema = Type.Object(
  {
    side: literals(SIDES, 'The damaged frame; after, if both are.'),
    boxes: Type.Array(BoxSchema, { minItems: 1, description: 'Parts of the frames that show nothing of the scene.' }),
    share: unit('Share of the frame that they cover. From 0.2 on the verdict is tamper.'),
    reason: literals(
      LOSS_REASONS,
      'signal_lost: one colour fills them; picture_damaged: their rows or blocks are missing, repeated or displaced.',
    ),
  },
  { $id: 'Lost', description: 'A part of a frame that the camera, the network or the decoder lost.' },
);
export type Lost = Static<typeof LostSchema>;

export const LensCoverSchema = Type.Object(
  {
    share: unit('Share of the detail of the view that is gone. Given from 0.2 on; from 0.9 on the verdict is tamper.'),
    boxes: Type.Array(BoxSchema, {
      minItems: 1,
      description: 'The parts, the largest first, at most 16. Changes behind them are not seen.',
    }),
  },
  { $id: 'LensCover', description: 'The part of the view that something on or near the lens covers or blurs.' },
);

/** @param finding of a camera's frame; null: there was nothing to compare with */
export const isForeign = (finding: { readonly tamper?: readonly Static<typeof TamperSchema>[] } | null): boolean =>
  finding?.tamper?.[0]?.name === 'foreign_picture';
