/** Adds what acts on one element, or reads it, to the API: a file of its own, which uses nothing of the first but the API, where refs are. */
import { install } from '../core/api.js';
import { action } from './actions.js';
import { page } from './keys_and_scrolling.js';
import { query } from './query.js';

install({ action, query }).page = page;
