// Defines the node's settings for probes.

/** Sent to the worker as plain data. */
export interface ProbeSettings {
  /** False: no script runs, and members with a script check count as healthy. */
  readonly allowScriptChecks: boolean
  /** Environment of scripts beside their member's variables: the process's own. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Addresses and networks that a webhook may reach though they are not public. */
  readonly webhookAllowedHosts: readonly string[]
  /** By the name that checks refer to. */
  readonly clientCertificates: Readonly<Record<string, ClientCertificateFiles>>
}

/** Paths of PEM files. */
export interface ClientCertificateFiles {
  /** The certificate, then the intermediate ones. */
  readonly cert: string
  readonly key: string
}

export const defaultProbeSettings: ProbeSettings = Object.freeze({
  allowScriptChecks: false,
  environment: Object.freeze({}),
  webhookAllowedHosts: Object.freeze([]),
  clientCertificates: Object.freeze({}),
})
