// Says in words what keys of a zone do, and what a zone waits for.
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { keyUses, KeyUse } from '#dns/dnssec/key-record.ts'
import type { KeyRecord } from '#dns/dnssec/key-record.ts'
import type { Step, Waiting } from '#dns/dnssec/rollover.ts'

const minuteLetters = 16
const nodesShown = 5

const timeOf = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, minuteLetters).replace('T', ' ')} UTC`

/** A line for each key, in the order in which they were made. */
export function keyLines(records: readonly KeyRecord[]): readonly string[] {
  return keyUses(records).map(({ record, use }) => {
    const { role, tag, algorithm, times } = record
    const name = signingAlgorithm(algorithm)?.name ?? `algorithm ${algorithm}`
    return `${role.toUpperCase()} ${tag} ${name}: ${doesOf(use, record)}${parentOf(times)}`
  })
}

function doesOf(use: number, { secret }: KeyRecord): string {
  const does = [
    ...((use & KeyUse.Published) === 0 ? [] : ['shown']),
    ...((use & KeyUse.SignsKeys) === 0 ? [] : ['signs keys']),
    ...((use & KeyUse.SignsRecords) === 0 ? [] : ['signs records']),
    ...((use & KeyUse.InCds) === 0 ? [] : ['in CDS']),
    ...(secret === null ? ['private half elsewhere'] : []),
  ]
  return does.length === 0 ? 'not in use' : does.join(', ')
}

function parentOf({ dsSeenMs, dsSaidMs, removedMs }: KeyRecord['times']): string {
  if (removedMs !== null) return `; out of the DNSKEY records since ${timeOf(removedMs)}`
  if (dsSeenMs === null) return ''
  const said = dsSaidMs === null ? '' : ', as a person said'
  return `; at the parent since ${timeOf(dsSeenMs)}${said}`
}

const steps: Readonly<Record<Step, string>> = {
  show: 'is shown',
  sign: 'signs records',
  'give-ds': 'may have its DS record at the parent',
  remove: 'goes out of the DNSKEY records',
  'stop-signing': 'signs no more',
}

/** A sentence for a step that waits: until when, or what a person has to do. */
export function waitingLine(zone: string, one: Waiting): string {
  switch (one.for) {
    case 'time':
      return `Key ${one.tag} ${steps[one.step]} from ${timeOf(one.untilMs)} on.`
    case 'age':
      return (
        `${one.role.toUpperCase()} ${one.tag} is followed by another one from ` +
        `${timeOf(one.untilMs)} on.`
      )
    case 'nodes': {
      const more = one.nodes.length - nodesShown
      const all = one.nodes.slice(0, nodesShown).join(', ') + (more > 0 ? ` and ${more} more` : '')
      return (
        `Key ${one.tag} waits for nodes that answer by keys of before: ${all}. After a day it ` +
        'goes on without them.'
      )
    }
    case 'parent':
      return (
        `Since ${timeOf(one.sinceMs)} key ${one.tag} waits for the parent: give it the DS ` +
        `record "${zone} IN DS ${one.ds}", unless it reads CDS. Where this node cannot ask the ` +
        `parent: "gslbd dnssec seen ${zone} ${one.tag}" when all of its servers have it.`
      )
    case 'key':
      return `Key ${one.tag} goes when key ${one.by} has taken its place.`
    case 'old-ds':
      return (
        `Key ${one.tag} waits until the parent has DS records of its algorithm alone: take ` +
        `${one.ds.map((ds) => `"${ds}"`).join(', ')} away there.`
      )
  }
}
