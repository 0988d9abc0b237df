/** A view whose code is loaded when it is first shown. */
import { type ComponentType, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../texts/texts.js';

// biome-ignore lint/suspicious/noExplicitAny: the router passes the parameters of its own path
type View = ComponentType<any>;

export function lazyView(load: () => Promise<View>): View {
  let loaded: View | undefined;
  return function Lazy(props: object) {
    const [, setCount] = useState(0);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then(
        (view) => {
          loaded = view;
          setCount((count) => count + 1);
        },
        () => setFailed(true),
      );
    }, []);
    if (loaded !== undefined) return h(loaded, props);
    return failed ? (
      <p class="fault">{t('This page could not be loaded. Reload it.')}</p>
    ) : (
      <p class="quiet">{t('Loading …')}</p>
    );
  };
}
