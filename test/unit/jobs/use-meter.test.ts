// Tests a node's reports about used and existing objects: each used object once a day.
import { beforeEach, expect, test } from 'vitest'
import { UseMeter } from '#jobs/use-meter.ts'
import { err, ok } from '#lib/result.ts'
import type { UseReport } from '#state/ports/object-use.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const dayMs = 86_400_000
let reports: UseReport[] = []
let stored: string[] = []
let isAway = false
const away = err({ code: 'store-away', message: 'away' } as const)

function node() {
  const time = new FakeTime(100 * dayMs)
  const lines: string[] = []
  const note = (_fields: object, message: string) => void lines.push(message)
  const now = { names: ['a.', 'b.'], used: [] as string[], digest: 'one', isTooMuch: false }
  const meter = new UseMeter({
    store: {
      keys: async () => (isAway ? away : ok(stored)),
      report: async (report) => {
        if (isAway) return away
        reports.push(report)
        return ok(undefined)
      },
    },
    isThere: () => true,
    node: 'a',
    takeUsed: () => ({ names: now.used.splice(0), members: [], rules: [] }),
    objects: () => ({
      digest: now.digest,
      all: () => (now.isTooMuch ? null : { names: now.names, members: ['m'], rules: ['r'] }),
    }),
    clock: time.clock,
    log: { info: note, warn: note, error: note },
  })
  const told = async () => {
    reports = []
    await meter.flush()
    return reports.map(({ used, seen, gone }) => ({ used, seen, gone }))
  }
  return { meter, now, time, lines, told }
}

beforeEach(() => {
  reports = []
  stored = []
  isAway = false
})

test('the first report says what there is, and what is there no more', async () => {
  stored = ['name a.', 'name old.']
  const { told } = node()
  const seen = ['name b.', 'member m', 'rule r']
  expect(await told()).toEqual([{ used: [], seen, gone: ['name old.'] }])
  expect(await told()).toEqual([{ used: [], seen: [], gone: [] }])
})

test('a used object is reported once a day', async () => {
  const { now, time, told } = node()
  await told()
  now.used = ['a.']
  expect(await told()).toEqual([{ used: ['name a.'], seen: [], gone: [] }])
  now.used = ['a.', 'b.']
  expect(await told()).toEqual([{ used: ['name b.'], seen: [], gone: [] }])
  time.pass(dayMs)
  now.used = ['a.']
  expect(await told()).toEqual([{ used: ['name a.'], seen: [], gone: [] }])
})

test('a name that came again was not used today', async () => {
  const { now, told } = node()
  now.used = ['a.']
  await told()
  Object.assign(now, { names: ['b.'], digest: 'two' })
  expect(await told()).toEqual([{ used: [], seen: [], gone: ['name a.'] }])
  Object.assign(now, { names: ['a.', 'b.'], digest: 'three', used: ['a.'] })
  expect(await told()).toEqual([{ used: ['name a.'], seen: ['name a.'], gone: [] }])
})

test('objects used while the database is away are reported when it is back', async () => {
  const { meter, now, lines, told } = node()
  await told()
  isAway = true
  now.used = ['a.']
  meter.memberChanged('m')
  await told()
  meter.memberChanged('m')
  await told()
  isAway = false
  expect(await told()).toEqual([{ used: ['name a.'], seen: [], gone: [] }])
  expect([...(reports[0]?.changes ?? [])]).toEqual([['m', 2]])
  expect(lines).toEqual(['what answers use is not stored yet: away', 'what answers use is stored'])
})

test('a configuration with too many objects is not reported', async () => {
  const { now, told } = node()
  now.isTooMuch = true
  expect(await told()).toEqual([])
})

test('the last report says that it is', async () => {
  const { meter } = node()
  await meter.flush(true)
  expect(reports.map(({ isLast }) => isLast)).toEqual([true])
})
