// Splits an update of an agent into bodies that a control node accepts, with the fields that it
// reads.
import { agentReportLimits } from './agent-report.ts'
import type { AgentVerdict, AgentReport, Owner } from './agent-report.ts'

/** A verdict as it is sent. Fields that are left out stand for '', 0 and false. */
export type SentVerdict = Omit<AgentVerdict, 'node' | 'atMs' | 'reason' | 'sinceMs' | 'isWarming'> &
  Partial<Pick<AgentVerdict, 'reason' | 'sinceMs' | 'isWarming'>>

export interface SentReport extends Pick<AgentReport, 'node' | 'withdrawn'> {
  readonly site?: string
  readonly changed: readonly SentVerdict[]
}

/**
 * Drops fields that the reader ignores, and cuts a long reason, as of a check with many statuses.
 */
export function asSent(word: SentVerdict): SentVerdict {
  const { memberUid, ipAddress, healthy, score, rttMs, reason, sinceMs, isWarming } = word
  return {
    ...{ memberUid, ipAddress, healthy, score, rttMs },
    ...(reason === undefined ? {} : { reason: printable(reason) }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(isWarming === true ? { isWarming } : {}),
  }
}

/** Replaces characters that take more than an octet, as the reader requires. */
const printable = (text: string): string =>
  text.slice(0, agentReportLimits.reasonCharsMax).replace(/[^\x20-\x7e]/g, '?')

/**
 * Yields JSON of at most `bytesMax` octets and `membersMax` members. There is always one body,
 * since it confirms the others.
 */
export function* bodiesOf({ node, site = '', changed, withdrawn }: SentReport): Generator<string> {
  const head = `${JSON.stringify({ node, site }).slice(0, -1)},"changed":[`
  const middle = '],"withdrawn":['
  const end = ']}'
  const lists = { changed: [] as string[], withdrawn: [] as string[] }
  const emptyBytes = head.length + middle.length + end.length
  let bytes = emptyBytes
  const body = (): string =>
    [head, lists.changed.join(), middle, lists.withdrawn.join(), end].join('')
  const texts = [
    ...changed.map((word) => ['changed', JSON.stringify(word)] as const),
    ...withdrawn.map((owner) => ['withdrawn', JSON.stringify(ownerOf(owner))] as const),
  ]
  for (const [list, text] of texts) {
    const isFull = lists[list].length >= agentReportLimits.membersMax
    if (isFull || bytes + text.length + 1 > agentReportLimits.bytesMax) {
      yield body()
      Object.assign(lists, { changed: [], withdrawn: [] })
      bytes = emptyBytes
    }
    lists[list].push(text)
    bytes += text.length + 1
  }
  yield body()
}

const ownerOf = ({ memberUid, ipAddress }: Owner): Owner => ({ memberUid, ipAddress })
