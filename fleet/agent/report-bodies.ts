// What an agent sends of an update: only what a control node reads, in as many bodies as its limits
// want.
import { agentReportLimits } from './agent-report.ts'
import type { AgentVerdict, AgentReport, Owner } from './agent-report.ts'

/** A word as it is sent. What is left out is as if it were '', 0 and false. */
export type SentVerdict = Omit<AgentVerdict, 'node' | 'atMs' | 'reason' | 'sinceMs' | 'isWarming'> &
  Partial<Pick<AgentVerdict, 'reason' | 'sinceMs' | 'isWarming'>>

export interface SentReport extends Pick<AgentReport, 'node' | 'withdrawn'> {
  readonly site?: string
  readonly changed: readonly SentVerdict[]
}

/** Without what the reader ignores. A long reason, as of a check with many statuses, is cut. */
export function asSent(word: SentVerdict): SentVerdict {
  const { memberUid, ipAddress, healthy, score, rttMs, reason, sinceMs, isWarming } = word
  return {
    ...{ memberUid, ipAddress, healthy, score, rttMs },
    ...(reason === undefined ? {} : { reason: printable(reason) }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(isWarming === true ? { isWarming } : {}),
  }
}

/** An octet a character, as the reader wants them. */
const printable = (text: string): string =>
  text.slice(0, agentReportLimits.reasonCharsMax).replace(/[^\x20-\x7e]/g, '?')

/**
 * JSON of at most `bytesMax` octets and `membersMax` members each; there is always one, since it
 * confirms.
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
