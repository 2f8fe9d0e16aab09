// What an agent sends of an update: only what a control node reads, in as many bodies as its limits
// want.
import { wordLimits } from './node-words.ts'
import type { MemberWord, NodeWords, Owner } from './node-words.ts'

/** A word as it is sent. What is left out is as if it were '', 0 and false. */
export type SentWord = Omit<MemberWord, 'node' | 'atMs' | 'reason' | 'sinceMs' | 'isWarming'> &
  Partial<Pick<MemberWord, 'reason' | 'sinceMs' | 'isWarming'>>

export interface SentWords extends Pick<NodeWords, 'node' | 'withdrawn'> {
  readonly site?: string
  readonly changed: readonly SentWord[]
}

/** Without what the reader ignores. A long reason, as of a check with many statuses, is cut. */
export function asSent(word: SentWord): SentWord {
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
  text.slice(0, wordLimits.reasonCharsMax).replace(/[^\x20-\x7e]/g, '?')

/**
 * JSON of at most `bytesMax` octets and `membersMax` members each; there is always one, since it
 * confirms.
 */
export function* bodiesOf({ node, site = '', changed, withdrawn }: SentWords): Generator<string> {
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
    const isFull = lists[list].length >= wordLimits.membersMax
    if (isFull || bytes + text.length + 1 > wordLimits.bytesMax) {
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
