/** What the script adds to its world: the functions of core/, actions/ and, where the bridge sent them, checks/index.js. */
declare const __agentBrowser: any;
interface Window {
  __agentBrowser: any;
  __agentBrowserIsolated?: number;
  WeakRef: any;
}
/** Is this the build for a page's own world (`standalone/`)? The build knows, and drops the other branch. */
declare const IS_STANDALONE: boolean;
