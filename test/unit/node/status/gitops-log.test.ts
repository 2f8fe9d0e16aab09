import { describe, expect, test } from 'vitest'
import { createGitopsLog } from '#node/status/gitops-log.ts'
import { createLog } from '#process/log.ts'
import { ownFault, unknownStatus } from '#gitops/status/status.ts'
import type { GitopsStatus, HeadDiagnostic } from '#gitops/status/status.ts'

const headline = 'INFO  commit is accepted'
const heldLine = 'WARN  held'

/** `SEVERITY CODE FILE LINE MESSAGE` */
function finding(text: string): HeadDiagnostic {
  const [severity = '', code = '', file = '', line = '', ...words] = text.split(' ')
  return {
    severity: severity as HeadDiagnostic['severity'],
    code,
    message: words.join(' '),
    help: '',
    file,
    line: Number(line),
    column: 1,
    field: '',
    text: '',
  }
}

type Kind = Partial<Pick<GitopsStatus, 'sync' | 'code'>>

const accepted: Kind = { sync: 'synced' }
const broken: Kind = { sync: 'held', code: 'CompileFailed' }
const unsigned: Kind = { sync: 'held', code: 'Unsigned' }

interface Step {
  readonly kind: Kind
  readonly found: readonly string[]
  /** Found in all; when left out, the list is whole. */
  readonly total?: number
  /** Lines without the headline, fields left out. */
  readonly lines: readonly string[]
}

function told(steps: readonly Step[]): string[][] {
  let lines: string[] = []
  const log = createLog({ format: 'text', level: 'info' }, (line) => lines.push(line))
  const tell = createGitopsLog(log)
  return steps.map(({ kind, found, total = found.length }) => {
    lines = []
    const diagnostics = found.map(finding)
    const status = { ...unknownStatus, ...kind, diagnostics, diagnosticsTotal: total }
    tell(status, kind === accepted ? 'commit is accepted\nreport' : 'held\nreport')
    return lines.map((line) => line.slice(line.search(/INFO|WARN|ERROR/)).trim())
  })
}

const a = 'warning pool-empty a.yaml 3 pool "a" has no members'
const aLower = 'warning pool-empty a.yaml 9 pool "a" has no members'
const b = 'note answer-count-of-one b.yaml 2 one is the default'
const c = 'warning pool-empty c.yaml 4 pool "c" has no members'
const fault = 'error field-unknown c.yaml 5 no field "poool"'
const aTold = 'WARN  a.yaml:3:1: pool "a" has no members'
const bTold = 'INFO  b.yaml:2:1: one is the default'
const cTold = 'WARN  c.yaml:4:1: pool "c" has no members'
const faultTold = 'ERROR c.yaml:5:1: no field "poool"'
const asBefore = (count: number) =>
  `INFO  warnings and notes were logged before  unchanged=${count}`
const more = (count: number) => `INFO  and ${count} more; \`gslbd check\` shows all`

const rows: readonly { readonly title: string; readonly steps: readonly Step[] }[] = [
  {
    title: 'all of the first commit are told',
    steps: [{ kind: accepted, found: [a, b], lines: [aTold, bTold] }],
  },
  {
    title: 'those of the commit before are not told again',
    steps: [
      { kind: accepted, found: [a, b], lines: [aTold, bTold] },
      { kind: accepted, found: [a, b], lines: [] },
      { kind: accepted, found: [a, b, c], lines: [cTold, asBefore(2)] },
      { kind: accepted, found: [a, b, c], lines: [] },
    ],
  },
  {
    title: 'another line of the file is no news',
    steps: [
      { kind: accepted, found: [a], lines: [aTold] },
      { kind: accepted, found: [aLower], lines: [] },
    ],
  },
  {
    title: 'a second one that is alike is news',
    steps: [
      { kind: accepted, found: [a], lines: [aTold] },
      {
        kind: accepted,
        found: [a, aLower],
        lines: ['WARN  a.yaml:9:1: pool "a" has no members', asBefore(1)],
      },
    ],
  },
  {
    title: 'one that is gone leaves a count of the others, unless none is left, and is news again',
    steps: [
      { kind: accepted, found: [a, b], lines: [aTold, bTold] },
      { kind: accepted, found: [b], lines: [asBefore(1)] },
      { kind: accepted, found: [a, b], lines: [aTold, asBefore(1)] },
      { kind: accepted, found: [], lines: [] },
      { kind: accepted, found: [], lines: [] },
    ],
  },
  {
    title: 'a broken commit is compared with the accepted one, and is not what comes after it',
    steps: [
      { kind: accepted, found: [a], lines: [aTold] },
      { kind: broken, found: [a, fault], lines: [faultTold, asBefore(1)] },
      { kind: broken, found: [fault], lines: [faultTold] },
      { kind: accepted, found: [a], lines: [] },
    ],
  },
  {
    title: 'a commit that was not compiled has none, and those of the accepted one stay known',
    steps: [
      { kind: accepted, found: [a], lines: [aTold] },
      { kind: unsigned, found: [], lines: [] },
      { kind: unsigned, found: [a, b], lines: [] },
      { kind: accepted, found: [a], lines: [] },
    ],
  },
  {
    title: 'a list that is cut says so, when something changed',
    steps: [
      { kind: accepted, found: [a, b], total: 5, lines: [aTold, bTold, more(3)] },
      { kind: accepted, found: [a, b], total: 5, lines: [] },
      { kind: accepted, found: [a, b], total: 6, lines: [asBefore(2), more(4)] },
    ],
  },
  {
    title: 'what others pushed out of a list that is cut is no news when it is back',
    steps: [
      { kind: accepted, found: [b, c], total: 3, lines: [bTold, cTold, more(1)] },
      { kind: accepted, found: [a, b], total: 4, lines: [aTold, asBefore(1), more(2)] },
      { kind: accepted, found: [b, c], total: 3, lines: [asBefore(2), more(1)] },
    ],
  },
  {
    title: 'what is gone from within a list that is cut is news when it returns',
    steps: [
      { kind: accepted, found: [a, b], total: 4, lines: [aTold, bTold, more(2)] },
      { kind: accepted, found: [b, c], total: 3, lines: [cTold, asBefore(1), more(1)] },
      { kind: accepted, found: [a, b], total: 4, lines: [aTold, asBefore(1), more(2)] },
    ],
  },
]

describe('findings of a configuration', () => {
  test.each(rows)('$title', ({ steps }) => {
    expect(told(steps)).toEqual(
      steps.map(({ kind, lines }) => [
        expect.stringContaining(kind === accepted ? headline : heldLine) as string,
        ...lines.map((line) => expect.stringContaining(line) as string),
      ]),
    )
  })
})

test('a commit is accepted once, also when the worker was started anew', () => {
  const lines: string[] = []
  const tell = createGitopsLog(createLog({ format: 'text', level: 'info' }, (l) => lines.push(l)))
  const one = { commit: 'c0ffee', signer: '', seq: 1, serial: 1, atMs: 0 }
  const synced = { ...unknownStatus, sync: 'synced', accepted: one } as unknown as GitopsStatus
  tell(synced, 'commit c0ffee is accepted')
  tell({ ...unknownStatus, sync: 'pending' }, '')
  tell(synced, 'commit c0ffee is accepted')
  expect(lines).toHaveLength(1)
  tell({ ...synced, sync: 'held', code: 'Unsigned' }, 'held')
  tell(synced, 'the branch is back at commit c0ffee')
  expect(lines).toHaveLength(3)
})

test('a status without a change says nothing', () => {
  const lines: string[] = []
  const tell = createGitopsLog(createLog({ format: 'text', level: 'info' }, (l) => lines.push(l)))
  tell({ ...unknownStatus, sync: 'synced', diagnostics: [finding(a)], diagnosticsTotal: 1 }, '')
  expect(lines).toEqual([])
})

test('hundred findings a commit, each in a file of its own, are not remembered for ever', () => {
  const lists = Array.from({ length: 30 }, (_, i) =>
    Array.from({ length: 100 }, (__, j) => `warning w f${(29 - i) * 100 + j + 1000} 1 it is so`),
  )
  const steps = [...lists, ...lists.toReversed()].map((found): Step => ({
    kind: accepted,
    found,
    total: 5_000,
    lines: [],
  }))
  const counts = told(steps).map((lines) => lines.filter((line) => line.startsWith('WARN')).length)
  // The way back meets what it knows first, until that ends.
  expect(counts.slice(0, 30)).toEqual(Array(30).fill(100))
  expect(counts.slice(31, 40)).toEqual(Array(9).fill(0))
  expect(counts.slice(40)).toEqual(Array(20).fill(100))
})

test('why a write failed is told each time, though the commit is the accepted one', () => {
  const lines: string[] = []
  const tell = createGitopsLog(
    createLog({ format: 'text', level: 'info' }, (line) => lines.push(line)),
  )
  const commit = { commit: 'a1', seq: 1, serial: 1, digest: '', signer: '' }
  const status = { ...unknownStatus, accepted: commit, sync: 'synced' } as const
  tell(status, 'commit is accepted')
  for (let i = 0; i < 2; i++) tell(status, `${ownFault}, please report it: the place`)
  expect(lines.filter((line) => /ERROR .*the place/.test(line))).toHaveLength(2)
})
