/** Entry of the console: the texts first, because the other modules write theirs when they are loaded. */
import './styles/base.css';
import './styles/frame.css';
import './styles/pair.css';
import './styles/rows.css';
import './styles/device.css';
import { loadTexts } from './texts/texts.js';

await loadTexts();
const { start } = await import('./start.js');
start();
