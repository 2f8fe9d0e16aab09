// Converts Route 53's health checks of sets to the health check of a pool.
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { ExportObject } from '#import/fields/export-object.ts'
import type { ZoneBuilder } from './zone-builder.ts'

export interface Route53Check {
  /** undefined: there is no equivalent. */
  readonly healthCheck: JsonObject | undefined
  /** The fixed target of the check; '': the member itself. */
  readonly asks: string
}

/** Indexes the output of `aws route53 list-health-checks` by id. */
export function route53Checks(
  list: readonly ExportObject[],
  used: ReadonlySet<string>,
  builder: ZoneBuilder,
): ReadonlyMap<string, Route53Check> {
  const checks = new Map<string, Route53Check>()
  for (const check of list) {
    const id = check.text('Id')
    if (!used.has(id)) {
      builder.note('left out', check.place, `the health check ${id}: no balanced name uses it`)
      check.markReported()
      continue
    }
    check.aside('says who made it, not what it does', 'CallerReference', 'HealthCheckVersion')
    const found = checkOf(check.object('HealthCheckConfig'))
    if (typeof found === 'string') {
      builder.note('not mapped', check.place, `the health check ${id}: ${found}`)
      check.markReported()
      checks.set(id, { healthCheck: undefined, asks: '' })
    } else checks.set(id, found)
  }
  return checks
}

/** Timeouts of Route 53 for a connection and then for an answer. */
const timeoutMs = { tcp: 10_000, http: 6_000 } as const

/** @returns a clause where there is no equivalent */
function checkOf(config: ExportObject): Route53Check | string {
  const type = config.text('Type')
  const [, scheme, match] = /^(HTTPS?|TCP)(_STR_MATCH)?$/.exec(type) ?? []
  if (scheme === undefined) return `the type ${type} has nothing like it here`
  if (config.flag('Inverted') === true) return 'it is inverted, which has nothing like it here'
  if (config.flag('Disabled') === true) return 'it is disabled: its sets count as healthy'
  config.aside('the probes come from the nodes now', 'Regions', 'MeasureLatency')
  config.asUsual('EnableSNI', scheme === 'HTTPS')
  const host = config.text('FullyQualifiedDomainName')
  const tls = scheme === 'HTTPS'
  const threshold = config.number('FailureThreshold') ?? 3
  const basics = {
    port: config.number('Port') ?? (tls ? 443 : 80),
    intervalMs: (config.number('RequestInterval') ?? 30) * 1_000,
    timeoutMs: scheme === 'TCP' ? timeoutMs.tcp : timeoutMs.http,
    riseCount: threshold,
    fallCount: threshold,
  }
  const asks = config.text('IPAddress') || host
  if (scheme === 'TCP') return { asks, healthCheck: { type: 'tcp', ...basics } }
  const path = config.text('ResourcePath')
  const healthCheck = {
    type: 'http',
    ...basics,
    httpPath: path.startsWith('/') ? path : `/${path}`,
    // Statuses that Route 53 counts as healthy.
    httpExpectedStatuses: ['200-399'],
    ...(host === '' ? {} : { httpHost: host }),
    ...(match === undefined ? {} : { httpContains: config.text('SearchString') }),
    // Route 53 does not verify certificates.
    ...(tls ? { tls, insecureSkipVerify: true } : {}),
  }
  return { asks, healthCheck }
}
