// Command-line options for the node settings that a configuration is compiled for.
import { isIP } from 'node:net'
import type { HealthCheckPolicy } from '#compiler/values/health-check-policy.ts'
import { parseCidr } from '#routing/tables/cidr.ts'
import type { Settings } from './settings.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import { UsageError } from '#system/process/command.ts'

/** Options of the command line, for `parseArgs`. */
export const checkPolicyOptions = {
  'allow-script-checks': { type: 'boolean', default: false },
  'webhook-allowed-host': { type: 'string', multiple: true },
  'client-certificate': { type: 'string', multiple: true },
} as const

export const checkPolicyUsage = `  --allow-script-checks
                      as on nodes with health.allowScriptChecks
  --webhook-allowed-host NETWORK
                      as on nodes with it in health.webhookAllowedHosts; may be given often
  --client-certificate [TENANT/]NAME
                      as on nodes with it in health.clientCertificates, for the tenant or
                      for all; may be given often`

interface CheckPolicyValues {
  readonly 'allow-script-checks': boolean
  readonly 'webhook-allowed-host'?: readonly string[] | undefined
  readonly 'client-certificate'?: readonly string[] | undefined
}

/** @throws UsageError for what is neither an address nor a network */
export function checkPolicyOf(values: CheckPolicyValues): HealthCheckPolicy {
  const webhookAllowedHosts = values['webhook-allowed-host'] ?? []
  for (const text of webhookAllowedHosts) {
    if (isIP(text) === 0 && !parseCidr(text).ok)
      throw new UsageError(
        `--webhook-allowed-host ${text} is neither an address nor a network such as 10.1.0.0/16`,
      )
  }
  return {
    allowScriptChecks: values['allow-script-checks'],
    webhookAllowedHosts,
    clientCertificates: values['client-certificate'] ?? [],
  }
}

/** Returns the policy that the settings of a node ask for. */
export function checkPolicyOfNode(health: {
  readonly allowScriptChecks: boolean
  readonly webhookAllowedHosts: readonly string[]
  readonly clientCertificates: Readonly<
    Record<string, Pick<Settings['health']['clientCertificates'][string], 'tenants'>>
  >
}): HealthCheckPolicy {
  const { allowScriptChecks, webhookAllowedHosts, clientCertificates } = health
  return {
    allowScriptChecks,
    otherScripts: 'ignored',
    webhookAllowedHosts,
    clientCertificates: Object.entries(clientCertificates).flatMap(
      ([name, { tenants = [defaultTenant] }]) => tenants.map((tenant) => `${tenant}/${name}`),
    ),
  }
}

/** Permits everything: for commands that probe no member and run no script. */
export const lenientPolicy: HealthCheckPolicy = {
  allowScriptChecks: true,
  webhookAllowedHosts: ['0.0.0.0/0', '::/0'],
  clientCertificates: 'any',
}
