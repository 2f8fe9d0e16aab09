// The tree in which bundles travel: `bundles/channels/NAME` names what serves,
// `bundles/DIGEST` is it.

/** Below the address of a source, or the directory that a web server shows. */
export const channelPath = (name: string): string => `bundles/channels/${name}`
/** What makes a bundle of another one that a node has. */
export const deltaPath = (from: string, to: string): string => `bundles/deltas/${to}/${from}`
/** Where agents say what they find. */
export const agentReportPath = 'bundles/health'
/** In an answer with a record: digest of a bundle that the node is to compute with, too. */
export const shadowHeader = 'gslb-shadow'
export const bundlePath = (digest: string): string => `bundles/${digest}`
