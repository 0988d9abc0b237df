/** Shows a document: its data lie in the page as JSON. */
import '../styles/base.css';
import './document.css';
import { type ComponentType, render } from 'preact';

export function show<T>(Document: ComponentType<{ readonly data: T }>): void {
  const data = JSON.parse(document.getElementById('data')?.textContent ?? '') as T;
  render(<Document data={data} />, document.getElementById('document') as HTMLElement);
}
