/** Entry of the page of an evidence package. */
import { show } from '../show.js';
import { EvidencePage } from './page.js';

show(EvidencePage);
