// Finds settings that contradict each other: two listeners on one port, and what a role ignores.
import { securePorts } from '#settings/sections/dns.ts'
import type { Settings } from '#settings/settings.ts'

/** Settings that have no effect on a node that answers no DNS. */
function unusedByRole({ roles, api, dns, anycast }: Settings): readonly string[] {
  if (!roles.includes('control') || roles.includes('dns')) return []
  const rows: readonly (readonly [boolean, string])[] = [
    [!api.enabled, 'api.enabled is false: no node can pull bundles from this one'],
    [anycast.driver !== 'none', 'anycast.driver: a node without the role dns announces nothing'],
    [dns.axfr.enabled, 'dns.axfr.enabled: a node without the role dns transfers no zones'],
    [
      dns.domain !== '' || dns.update.zones.length > 0,
      'dns.domain, dns.update.zones: a node without the role dns takes no updates',
    ],
  ]
  return rows.flatMap(([holds, sentence]) => (holds ? [sentence] : []))
}

/** Settings that have no effect as long as others are not set. */
export function withoutEffect(settings: Settings): readonly string[] {
  return [...unusedByRole(settings), ...transfersOff(settings), ...halfOfGss(settings)]
}

function halfOfGss({ roles, dns }: Settings): readonly string[] {
  const { keytab, grants } = dns.update.gssTsig
  const isOn = keytab !== undefined
  const rows: readonly (readonly [boolean, string])[] = [
    [
      isOn && !roles.includes('control'),
      'keytab: a node without the role control takes no updates',
    ],
    [isOn && grants.length === 0, 'grants is empty: no principal may write anything'],
    [!isOn && grants.length > 0, 'keytab is missing: no client can prove who it is by Kerberos'],
  ]
  return rows.flatMap(([holds, what]) => (holds ? [`dns.update.gssTsig.${what}`] : []))
}

function transfersOff({ roles, dns: { axfr } }: Settings): readonly string[] {
  if (axfr.enabled || !roles.includes('dns')) return []
  const rows: readonly (readonly [boolean, string])[] = [
    [axfr.requireTsig, 'requireTsig'],
    [axfr.allow.length > 0, 'allow'],
    [axfr.catalog !== '', 'catalog'],
    [axfr.zonemd, 'zonemd'],
  ]
  const names = rows.flatMap(([isSet, name]) => (isSet ? [`dns.axfr.${name}`] : []))
  if (names.length === 0) return []
  const verb = names.length === 1 ? 'has' : 'have'
  return [
    `${names.join(', ')} ${verb} no effect, and AXFR and IXFR are REFUSED: ` +
      'set dns.axfr.enabled to true',
  ]
}

/** A TCP port of this node, and the setting that names it. */
interface Listening {
  readonly key: string
  readonly listenAddr: string
  readonly port: number
}

/** The system's error would say that another program listens there, while it is the node itself. */
export function portClash({
  roles,
  dns,
  api,
  externalDns,
  redirect,
}: Settings): string | undefined {
  const { listenAddr, enabled, port = 0, https } = redirect
  const ports: readonly Listening[] = [
    ...(roles.includes('dns') ? [{ ...dns, key: 'dns.port' }, ...secureOf(dns)] : []),
    ...(api.enabled ? [{ ...api, key: 'api.port' }] : []),
    ...(externalDns.enabled ? [{ ...externalDns, key: 'externalDns.port' }] : []),
    ...(enabled ? [{ listenAddr, port, key: 'redirect.port' }] : []),
    ...(enabled ? [{ listenAddr, port: https.port ?? 0, key: 'redirect.https.port' }] : []),
  ]
  for (const [i, one] of ports.entries()) {
    const other = ports.slice(i + 1).find((later) => areOnePort(one, later))
    if (other === undefined) continue
    const why = one.key === 'dns.port' ? ': DNS listens on TCP, too' : ''
    return (
      `${one.key} and ${other.key} are both ${one.port}, on the same address${why}; ` +
      `set ${other.key} to another port`
    )
  }
  return undefined
}

const secureOf = (dns: Settings['dns']): readonly Listening[] =>
  securePorts(dns).map((one) => ({ ...one, listenAddr: dns.listenAddr }))

function areOnePort(one: Listening, other: Listening): boolean {
  if (one.port !== other.port || one.port === 0) return false
  const isSame = one.listenAddr === other.listenAddr
  if (!isSame && !isAny(one.listenAddr) && !isAny(other.listenAddr)) return false
  return one.listenAddr.includes(':') === other.listenAddr.includes(':')
}

const isAny = (address: string): boolean => address === '0.0.0.0' || address === '::'
