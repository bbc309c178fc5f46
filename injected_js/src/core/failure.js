/** What a call replies that has failed. */
import { assign } from './dom.js';

/** @type {(code: string, more?: object) => {error: object, _el?: any}} */
export const failure = (code, more) => ({ error: assign({ code }, more) });
