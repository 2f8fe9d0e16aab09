// A stand-in for a hosted zone of Route 53: answers in the shapes of its reference, by pages, and
// refuses what the real one refuses.
import { awsHeaders } from '#integrations/zone-push/aws-signature.ts'
import type { AwsKey } from '#integrations/zone-push/aws-signature.ts'
import { childOf, childrenOf, escapeXml, parseXml, textIn } from '#integrations/zone-push/xml.ts'
import type { XmlElement } from '#integrations/zone-push/xml.ts'
import { startStandIn } from '#test/support/http-stand-in.ts'
import type { AskedOf, Given } from '#test/support/http-stand-in.ts'

export const awsTestKey: AwsKey = {
  ...{ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' },
  sessionToken: '',
}

interface StoredSet {
  readonly name: string
  readonly type: string
  readonly xml: string
}
type Sets = ReadonlyMap<string, StoredSet>

const head = '<?xml version="1.0"?>\n'
const ns = 'xmlns="https://route53.amazonaws.com/doc/2013-04-01/"'
const pageSize = 3

/** @param nowMs the clock of the service */
export async function startRoute53(zoneId: string, nowMs: () => number) {
  const world = { throttled: 0, sets: new Map<string, StoredSet>() as Sets }
  const put = (name: string, type: string, inner: string): void => {
    const xml = element('ResourceRecordSet', element('Name', name) + element('Type', type) + inner)
    const id = /<SetIdentifier>(.*)<\/S/.exec(inner)?.[1] ?? ''
    world.sets = new Map([...world.sets, [`${name} ${type} ${id}`, { name, type, xml }]])
  }
  const { url, asked } = await startStandIn(async (one) => {
    const given = await answerOf(one)
    return { ...given, headers: { ...given.headers, date: new Date(nowMs()).toUTCString() } }
  })
  const answerOf = async (one: AskedOf): Promise<Given> => {
    if (world.throttled > 0) {
      world.throttled--
      return fault(400, 'Throttling', 'Rate exceeded')
    }
    const unproven = await faultOfSignature(url, one, nowMs())
    if (unproven !== null) return unproven
    if (one.path !== `/2013-04-01/hostedzone/${zoneId}/rrset`) {
      return fault(404, 'NoSuchHostedZone', 'No hosted zone found with ID: X')
    }
    if (one.method === 'GET') return listing([...world.sets.values()], one.query)
    const changed = afterChanges(world.sets, String(one.body))
    if ('status' in changed) return changed
    world.sets = changed.sets
    const info = element('Id', '/change/C2') + element('Status', 'PENDING')
    return ok('ChangeResourceRecordSetsResponse', element('ChangeInfo', info))
  }
  return { url, asked, put, world }
}

async function faultOfSignature(url: string, one: AskedOf, nowMs: number): Promise<Given | null> {
  const signedMs = timeOf(String(one.headers['x-amz-date']))
  if (Math.abs(signedMs - nowMs) > 300_000) return fault(403, 'RequestExpired', 'It has expired.')
  const search = one.query.size === 0 ? '' : `?${one.query.toString()}`
  const body = typeof one.body === 'string' ? one.body : ''
  const token = one.headers['x-amz-security-token'] ?? ''
  const key = { ...awsTestKey, sessionToken: String(token) }
  const expected = await awsHeaders(key, {
    ...{ method: one.method, url: new URL(`${url}${one.path}${search}`), body },
    ...{ region: 'us-east-1', service: 'route53', nowMs: signedMs },
  })
  if (one.headers['authorization'] === expected['authorization']) return null
  return fault(403, 'SignatureDoesNotMatch', 'The signature we calculated does not match yours.')
}

function listing(all: readonly StoredSet[], query: URLSearchParams): Given {
  const from = query.get('name')
  const isFirst = ({ name, type }: StoredSet): boolean =>
    name === from && type === query.get('type')
  const start = from === null ? 0 : all.findIndex(isFirst)
  const page = all.slice(start, start + pageSize)
  const next = all[start + pageSize]
  const more =
    next === undefined
      ? element('IsTruncated', 'false')
      : element('IsTruncated', 'true') +
        element('NextRecordName', next.name) +
        element('NextRecordType', next.type)
  const sets = element('ResourceRecordSets', page.map(({ xml }) => xml).join(''))
  return ok('ListResourceRecordSetsResponse', sets + more)
}

function afterChanges(sets: Sets, body: string): { readonly sets: Sets } | Given {
  const parsed = parseXml(body)
  if (!parsed.ok) return fault(400, 'InvalidInput', parsed.error)
  const changes = childrenOf(childOf(childOf(parsed.value, 'ChangeBatch')!, 'Changes')!, 'Change')
  const next = new Map(sets)
  let values = 0
  for (const one of changes) {
    const set = childOf(one, 'ResourceRecordSet')!
    const [name, type] = [textIn(set, 'Name'), textIn(set, 'Type')]
    const key = `${name} ${type} `
    const what = `resource record set [name='${name}', type='${type}']`
    values += valuesIn(set).length
    if (name.startsWith('bad.')) return invalid(`FATAL problem encountered with '${name}'`)
    const before = next.get(key)
    if (textIn(one, 'Action') === 'CREATE') {
      if (before !== undefined) return invalid(`Tried to create ${what} but it already exists`)
      next.set(key, { name, type, xml: printed(set) })
      continue
    }
    const isSame = before !== undefined && sorted(before.xml) === sorted(printed(set))
    if (!isSame) return invalid(`Tried to delete ${what} but the values provided do not match`)
    next.delete(key)
  }
  return values > 1_000 ? fault(400, 'InvalidInput', 'too many') : { sets: next }
}

const element = (name: string, inner: string): string => `<${name}>${inner}</${name}>`

const ok = (name: string, inner: string): Given => ({
  ...{ status: 200, body: `${head}<${name} ${ns}>${inner}</${name}>` },
  headers: { 'content-type': 'text/xml' },
})
function fault(status: number, code: string, message: string): Given {
  const inner = element('Code', code) + element('Message', escapeXml(message))
  const error = element('Error', element('Type', 'Sender') + inner)
  return { status, body: `${head}<ErrorResponse ${ns}>${error}</ErrorResponse>` }
}
const invalid = (message: string): Given => fault(400, 'InvalidChangeBatch', `[${message}]`)

const valuesIn = (set: XmlElement): readonly string[] =>
  childrenOf(childOf(set, 'ResourceRecords')!, 'ResourceRecord').map((one) => textIn(one, 'Value'))

function printed(set: XmlElement): string {
  const records = valuesIn(set)
    .map((one) => element('ResourceRecord', element('Value', escapeXml(one))))
    .join('')
  const head = ['Name', 'Type', 'TTL'].map((name) => element(name, textIn(set, name))).join('')
  return element('ResourceRecordSet', head + element('ResourceRecords', records))
}

function sorted(xml: string): string {
  const set = parseXml(xml)
  return set.ok ? [textIn(set.value, 'TTL'), ...[...valuesIn(set.value)].sort()].join('\n') : xml
}

const timeOf = (text: string): number =>
  Date.parse(text.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, '$1-$2-$3T$4:$5:$6Z'))
