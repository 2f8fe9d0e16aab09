// Converts a monitor of Cloudflare to the health check of a pool.
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { ExportObject } from '#import/fields/export-object.ts'

const bookkeeping = ['id', 'description', 'created_on', 'modified_on']

/** @returns a clause where there is no equivalent */
export function cloudflareMonitor(monitor: ExportObject): JsonObject | string {
  const type = monitor.text('type')
  const isTls = type === 'https'
  monitor.aside('says how the monitor is kept, not what it does', ...bookkeeping)
  monitor.asUsual('retries', 0)
  monitor.asUsual('follow_redirects', false)
  const basics = {
    intervalMs: (monitor.number('interval') ?? 60) * 1_000,
    timeoutMs: (monitor.number('timeout') ?? 5) * 1_000,
    riseCount: Math.max(1, monitor.number('consecutive_up') ?? 1),
    fallCount: Math.max(1, monitor.number('consecutive_down') ?? 1),
  }
  const port = monitor.number('port') || (isTls ? 443 : 80)
  if (type === 'icmp_ping' || type === 'tcp') {
    monitor.aside('this type does not look at it', ...ofHttp, 'method')
    return type === 'tcp' ? { type, port, ...basics } : { type: 'icmp', ...basics }
  }
  if (type !== 'http' && !isTls) {
    monitor.markReported()
    return `the type ${type} has nothing like it here`
  }
  const { Host: host, ...headers } = headersOf(monitor.object('header'))
  const method = monitor.text('method') || 'GET'
  // A HEAD response has no body to compare.
  const contains = method === 'HEAD' ? '' : monitor.text('expected_body')
  const codes = statuses(monitor.text('expected_codes'))
  return {
    type: 'http',
    port,
    ...basics,
    httpMethod: method,
    httpPath: monitor.text('path') || '/',
    httpExpectedStatuses: codes,
    ...(host === undefined ? {} : { httpHost: host }),
    ...(Object.keys(headers).length === 0 ? {} : { httpHeaders: headers }),
    ...(contains === '' ? {} : { httpContains: contains }),
    ...(isTls ? { tls: true } : {}),
    ...(monitor.flag('allow_insecure') === true ? { insecureSkipVerify: true } : {}),
  }
}

const ofHttp = [
  'header',
  'path',
  'expected_body',
  'expected_codes',
  'follow_redirects',
  'allow_insecure',
]

/** A field with several values is reported as unread. */
function headersOf(header: ExportObject): Record<string, string> {
  const found: Record<string, string> = {}
  for (const key of header.keys()) {
    if (header.count(key) !== 1) continue
    const [value] = header.texts(key)
    const name = key.toLowerCase() === 'host' ? 'Host' : key
    if (value !== undefined) found[name] = value
  }
  return found
}

/** Parses `2xx,301` into statuses and ranges. */
function statuses(codes: string): (number | string)[] {
  const list = codes === '' ? ['200'] : codes.split(',').map((code) => code.trim())
  return list.map((code) => (/^\dxx$/.test(code) ? `${code[0]!}00-${code[0]!}99` : Number(code)))
}
