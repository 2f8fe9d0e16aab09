// The health-check policy of the nodes' settings: scripts, webhook hosts, client certificates.

/** The settings of the nodes' section `health`. */
export interface HealthCheckPolicy {
  readonly allowScriptChecks: boolean
  /**
   * Treatment of scripts where they are not allowed. For people it is an error. A node leaves the
   * pool without a check, so that the rest of the commit is not held up. Default: refused.
   */
  readonly otherScripts?: 'refused' | 'ignored'
  /** Internal addresses and networks that webhooks may reach. */
  readonly webhookAllowedHosts: readonly string[]
  /** Client certificates that the nodes have: `TENANT/NAME`, or `NAME` for every tenant. */
  readonly clientCertificates: readonly string[] | 'any'
}

/** Allows nothing: the default of the settings. */
export const strictPolicy: HealthCheckPolicy = Object.freeze({
  allowScriptChecks: false,
  webhookAllowedHosts: Object.freeze([]),
  clientCertificates: Object.freeze([]),
})
