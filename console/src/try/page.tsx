/** The page "Try": two pictures in, the sentence with its regions out. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import afterUrl from '../../../examples/after.jpg?url';
import beforeUrl from '../../../examples/before.jpg?url';
import { ApiError, fetchApi, messageOf } from '../api/client.js';
import { type Comparison, SIDES, type Side } from '../api/types.js';
import { assertFits } from '../session.js';
import '../styles/try.css';
import { t } from '../texts/texts.js';
import { compare, type FrameSource, readComparison } from './compare.js';
import { Result } from './result.js';
import { Slot } from './slot.js';

type Frames = Readonly<Record<Side, FrameSource | null>>;
const NONE: Frames = { before: null, after: null };
const EXAMPLE: Readonly<Record<Side, string>> = { before: beforeUrl, after: afterUrl };

export function TryPage() {
  const frames = useSignal<Frames>(NONE);
  const result = useSignal<Comparison | null>(null);
  const busy = useSignal(false);
  const fault = useSignal<ApiError | null>(null);
  const [query, setQuery] = useSearchParams();
  const wanted = query.get('comparison');

  const run = async (work: () => Promise<void>) => {
    fault.value = null;
    try {
      await work();
    } catch (error) {
      fault.value = error instanceof ApiError ? error : new ApiError(0, messageOf(error));
    }
  };
  const send = (chosen: Readonly<Record<Side, FrameSource>>) =>
    run(async () => {
      busy.value = true;
      result.value = null;
      try {
        const comparison = await compare(chosen);
        result.value = comparison;
        setQuery({ comparison: comparison.id });
      } finally {
        busy.value = false;
      }
    });
  const put = (side: Side, source: FrameSource | null) => {
    const earlier = frames.value[side];
    if (earlier?.kind === 'file') URL.revokeObjectURL(earlier.preview);
    frames.value = { ...frames.value, [side]: source };
  };
  /** Two files fill both sides, in their order; one fills the side, or the first free one. */
  const putFiles = (files: readonly File[], side: Side | null) =>
    run(async () => {
      const targets: readonly Side[] =
        files.length > 1 ? SIDES : [side ?? (frames.value.before === null ? 'before' : 'after')];
      for (const [i, target] of targets.entries()) {
        const file = files[i];
        if (file === undefined) continue;
        assertFits(file, 'frame', target);
        put(target, { kind: 'file', file, preview: URL.createObjectURL(file) });
      }
    });
  const putFilesNow = useSignal(putFiles);
  putFilesNow.value = putFiles;

  useEffect(() => {
    if (wanted === null || wanted === result.peek()?.id) return;
    void run(async () => {
      result.value = await readComparison(wanted);
    });
  }, [wanted]);
  useEffect(() => {
    const onPaste = (event: ClipboardEvent) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length > 0) void putFilesNow.value(files, null);
    };
    // A picture dropped beside the targets would replace the page.
    const onDragOver = (event: DragEvent) => event.preventDefault();
    const onDrop = (event: DragEvent) => {
      event.preventDefault();
      void putFilesNow.value([...(event.dataTransfer?.files ?? [])], null);
    };
    addEventListener('paste', onPaste);
    addEventListener('dragover', onDragOver);
    addEventListener('drop', onDrop);
    return () => {
      removeEventListener('paste', onPaste);
      removeEventListener('dragover', onDragOver);
      removeEventListener('drop', onDrop);
    };
  }, []);

  const { before, after } = frames.value;
  const sendExample = () =>
    run(async () => {
      for (const side of SIDES) put(side, await exampleFrame(side));
      const chosen = frames.value as Record<Side, FrameSource>;
      await send(chosen);
    });
  const faultOf = (side: Side) => (fault.value?.field?.startsWith(side) ? fault.value.message : '');
  const otherFault = fault.value !== null && SIDES.every((side) => faultOf(side) === '') ? fault.value.message : '';
  return (
    <div class="try">
      <form
        class="try-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (before !== null && after !== null) void send({ before, after });
        }}
      >
        <h1>{t('What changed between two pictures?')}</h1>
        {SIDES.map((side) => (
          <Slot
            key={side}
            side={side}
            source={frames.value[side]}
            fault={faultOf(side)}
            onFiles={(files) => void putFiles(files, side)}
            onAddress={(address) => put(side, address === '' ? null : { kind: 'address', address })}
            onClear={() => put(side, null)}
          />
        ))}
        <div class="try-actions">
          <button type="submit" class="primary" disabled={busy.value || before === null || after === null}>
            {t('Compare')}
          </button>
          <button type="button" disabled={busy.value} onClick={sendExample}>
            {t('Compare the example pair')}
          </button>
        </div>
        <p role="alert" class="fault">
          {otherFault}
        </p>
      </form>
      <div class="try-result" aria-live="polite" aria-busy={busy.value}>
        {busy.value && <p class="quiet">{t('Comparing …')}</p>}
        {result.value === null && !busy.value && (
          <p class="quiet empty-panel">
            {t('Two frames of one fixed camera. The answer is a sentence, and outlines around what it is about.')}
          </p>
        )}
        {result.value !== null && <Result comparison={result.value} />}
      </div>
    </div>
  );
}

async function exampleFrame(side: Side): Promise<FrameSource> {
  const blob = await (await fetchApi(EXAMPLE[side])).blob();
  const file = new File([blob], `${side}.jpg`, { type: 'image/jpeg' });
  return { kind: 'file', file, preview: URL.createObjectURL(blob) };
}
