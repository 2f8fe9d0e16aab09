// A record set of Route 53, with the fields that all sets have.
import type { ZonePlace } from '#dns/zone-file/zone-record.ts'
import type { ExportObject } from '#import/fields/export-object.ts'

export interface Route53Set {
  readonly fields: ExportObject
  /** Absolute. */
  readonly name: string
  readonly type: string
  /** undefined for aliases. */
  readonly ttl: number | undefined
  /** Presentation form. */
  readonly values: readonly string[]
  /** The target of an alias, with its final dot. */
  readonly alias: string | undefined
  /** Distinguishes sets of one name and type; '': the only one. */
  readonly id: string
  readonly isBalanced: boolean
  readonly place: ZonePlace
}

/** TTL of aliases, which have none of their own. */
export const aliasTtl = 60

export function route53Set(fields: ExportObject): Route53Set {
  const target = fields.object('AliasTarget')
  const hasAlias = target.has('DNSName')
  target.aside('says where the target is kept', 'HostedZoneId')
  target.asUsual('EvaluateTargetHealth', false)
  fields.aside('made by a traffic policy', 'TrafficPolicyInstanceId')
  const id = fields.text('SetIdentifier')
  return {
    fields,
    name: decimalEscapes(fields.text('Name')),
    type: fields.text('Type'),
    ttl: fields.number('TTL'),
    values: fields.objects('ResourceRecords').map((one) => decimalEscapes(one.text('Value'))),
    alias: hasAlias ? absolute(decimalEscapes(target.text('DNSName'))) : undefined,
    id,
    isBalanced: id !== '',
    place: fields.place,
  }
}

export const absolute = (name: string): string => (name.endsWith('.') ? name : `${name}.`)

/**
 * Route 53 writes octets as `\052` in octal; zone files use decimal. A backslash after another one
 * is text.
 */
const decimalEscapes = (text: string): string =>
  text.replace(/\\(?:([0-3][0-7]{2})|.)/gs, (all, digits: string | undefined) => {
    return digits === undefined ? all : `\\${String(parseInt(digits, 8)).padStart(3, '0')}`
  })
