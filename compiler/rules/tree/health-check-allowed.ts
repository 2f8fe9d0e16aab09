// Checks health checks against what the nodes allow: programs, addresses and webhooks.
import { valueIn } from '#compiler/tree/tree.ts'
import type { HealthCheckPolicy } from '#compiler/values/health-check-policy.ts'
import { parseAddress } from '#dns/address.ts'
import { isForbiddenAddress } from '#dns/network.ts'
import type { Network } from '#dns/network.ts'
import { suggest } from '#lib/suggest.ts'
import { networksOf } from '#routing/tables/network-list.ts'
import type { TreeRule } from './tree-rule.ts'

export const healthChecksAllowed: TreeRule = ({ tree, checkPolicy }, report) => {
  const allowed = networksOf(checkPolicy.webhookAllowedHosts)
  for (const entry of tree.of.Pool) {
    const check = entry.object.spec.healthCheck
    if (check === undefined) continue
    if (check.type === 'script' && !checkPolicy.allowScriptChecks) {
      const place = valueIn(entry, 'spec', 'healthCheck', 'type')
      const isIgnored = checkPolicy.otherScripts === 'ignored'
      report(isIgnored ? 'health-check-script-ignored' : 'health-check-script-disabled', place)
    }
    const { clientCertificate: name, webhookURL } = check
    const names = name === '' ? 'any' : certificatesOf(checkPolicy, entry.tenant)
    if (names !== 'any' && !names.includes(name)) {
      const place = valueIn(entry, 'spec', 'healthCheck', 'clientCertificate')
      const suggestion = suggest(name, names)
      report('health-check-certificate-unknown', place, { args: [name], suggestion })
    }
    // Checked for every type: the webhook would be used as soon as the type changes.
    const host = webhookURL === '' ? undefined : URL.parse(webhookURL)?.hostname
    if (host !== undefined && isInternalHost(host, allowed)) {
      const place = valueIn(entry, 'spec', 'healthCheck', 'webhookURL')
      report('health-check-webhook-internal', place, { args: [host] })
    }
  }
}

/** Names of certificates that the tenant may use. */
function certificatesOf(
  { clientCertificates: all }: HealthCheckPolicy,
  tenant: string,
): readonly string[] | 'any' {
  if (all === 'any') return all
  return all.flatMap((one) => {
    const [name = '', owner = tenant] = one.split('/').toReversed()
    return owner === tenant ? [name] : []
  })
}

const loopback = Uint8Array.of(127, 0, 0, 1)

/** @param host of a parsed URL, where 2130706433 has become 127.0.0.1 */
function isInternalHost(host: string, allowed: readonly Network[]): boolean {
  // RFC 6761 section 6.3: names below `localhost` mean this host, too.
  if (/(^|\.)localhost\.?$/.test(host)) return isForbiddenAddress(loopback, allowed)
  const octets = parseAddress(host.replace(/^\[(.*)\]$/, '$1'))
  return octets.ok && isForbiddenAddress(octets.value, allowed)
}
