// Compares two servers' replies field by field, without what may differ: ids, order, serials.
import type { Message } from './message.ts'
import { said } from './said.ts'

/** The observable parts of a reply. */
export interface Reply {
  readonly rcode: string
  /** Flags that are set: `aa tc rd ra z ad cd`. */
  readonly flags: string
  readonly question: string
  readonly answer: readonly string[]
  readonly authority: readonly string[]
  readonly additional: readonly string[]
  /** Version and DO; `none` without OPT. */
  readonly opt: string
}

type Field = keyof Reply

const flagNames = ['aa', 'tc', 'rd', 'ra', 'z', 'ad', 'cd'] as const

/** @param message undefined: no reply came */
export function replyOf(message: Message | undefined): Reply | undefined {
  if (message === undefined) return undefined
  const { rcode, answer, authority, additional } = said(message)
  const { opt, questions } = message
  return {
    rcode,
    flags: flagNames.filter((flag) => message[flag]).join(' '),
    question: questions.map(({ name, type, class: qclass }) => `${name} ${qclass} ${type}`).join(),
    answer,
    authority,
    additional,
    opt: opt === undefined ? 'none' : `version ${opt.version}${opt.dnssecOk ? ' do' : ''}`,
  }
}

export interface Difference {
  readonly field: Field | 'silence'
  readonly ours: string
  readonly theirs: string
}

export function differences(ours: Reply | undefined, theirs: Reply | undefined): Difference[] {
  if (ours === undefined || theirs === undefined) {
    if (ours === theirs) return []
    const shown = (reply: Reply | undefined): string => reply?.rcode ?? 'silence'
    return [{ field: 'silence', ours: shown(ours), theirs: shown(theirs) }]
  }
  const fields = Object.keys(ours) as Field[]
  return fields
    .map((field) => ({
      field,
      ours: JSON.stringify(ours[field]),
      theirs: JSON.stringify(theirs[field]),
    }))
    .filter((difference) => difference.ours !== difference.theirs)
}
