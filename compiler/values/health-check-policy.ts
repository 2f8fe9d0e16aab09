// What the nodes that serve a tree allow its health checks; a tree cannot say it of itself.

/** Values of the settings `health.allowScriptChecks` and `health.webhookAllowedHosts`. */
export interface HealthCheckPolicy {
  readonly allowScriptChecks: boolean
  /** Internal addresses and networks that webhooks may ask. */
  readonly webhookAllowedHosts: readonly string[]
}

/** Nothing that a node has to allow: what the settings say by default. */
export const strictPolicy: HealthCheckPolicy = Object.freeze({
  allowScriptChecks: false,
  webhookAllowedHosts: Object.freeze([]),
})
