/** Entry of the page of a brief. */
import { show } from '../show.js';
import { BriefPage } from './page.js';
// After the style that all documents share.
import './brief.css';

show(BriefPage);
