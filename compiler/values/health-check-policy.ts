// The health-check policy of the nodes' settings: scripts, webhook hosts, client certificates.

/** What the section `health` of the nodes' settings says of it. */
export interface HealthCheckPolicy {
  readonly allowScriptChecks: boolean
  /**
   * What becomes of a script where none is allowed: for people it is an error. A node leaves its
   * pool without a check, so that it holds up nothing else of the commit. By default: refused.
   */
  readonly otherScripts?: 'refused' | 'ignored'
  /** Internal addresses and networks that webhooks may ask. */
  readonly webhookAllowedHosts: readonly string[]
  /** Client certificates that the nodes have: `TENANT/NAME`, or `NAME` for every tenant. */
  readonly clientCertificates: readonly string[] | 'any'
}

/** Nothing that a node has to allow: what the settings say by default. */
export const strictPolicy: HealthCheckPolicy = Object.freeze({
  allowScriptChecks: false,
  webhookAllowedHosts: Object.freeze([]),
  clientCertificates: Object.freeze([]),
})
