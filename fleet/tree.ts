// Defines the paths under which bundles travel: `bundles/channels/NAME` names the current bundle,
// `bundles/DIGEST` is one.

/** Path below the address of a source, or below the directory of a web server. */
export const channelPath = (name: string): string => `bundles/channels/${name}`
/** Path of the delta from a bundle that a node has to another. */
export const deltaPath = (from: string, to: string): string => `bundles/deltas/${to}/${from}`
/** Path to which agents send their findings. */
export const agentReportPath = 'bundles/health'
/** Response header: digest of a bundle that the node is to compute with beside its own. */
export const shadowHeader = 'gslb-shadow'
export const bundlePath = (digest: string): string => `bundles/${digest}`
