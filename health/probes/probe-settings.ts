// The node's settings for probes.

/** Crosses to the worker as plain data. */
export interface ProbeSettings {
  /** False: no script runs, and members with such a check count as healthy. */
  readonly allowScriptChecks: boolean
  /** What a script finds in its environment besides its member: the process's own environment. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Addresses and CIDR blocks that a webhook may reach though they are not public. */
  readonly webhookAllowedHosts: readonly string[]
  /** By the name that checks use. */
  readonly clientCertificates: Readonly<Record<string, ClientCertificateFiles>>
}

/** Paths of PEM files. */
export interface ClientCertificateFiles {
  /** The certificate, then those between it and its authority. */
  readonly cert: string
  readonly key: string
}

export const defaultProbeSettings: ProbeSettings = Object.freeze({
  allowScriptChecks: false,
  environment: Object.freeze({}),
  webhookAllowedHosts: Object.freeze([]),
  clientCertificates: Object.freeze({}),
})
