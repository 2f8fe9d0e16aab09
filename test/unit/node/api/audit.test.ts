import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createLog } from '#process/log.ts'
import { createNodeAudit } from '#node/api/audit.ts'
import type { NodeAudit } from '#node/api/audit.ts'
import { err, ok } from '#lib/result.ts'
import type { AuditCopy } from '#state/ports/audit.ts'
import { auditEntry } from '../../../support/store-values.ts'
import { tempDir } from '../../../support/temp-dir.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const copy: AuditCopy = {
  append: async () => ok(undefined),
  query: async () => ok({ entries: [], next: null }),
  prune: async () => ok(0),
}

function scene(path: string) {
  const lines: (readonly [string, object, string])[] = []
  const tell = (level: string) => (fields: object, message: string) =>
    void lines.push([level, fields, message])
  const always = tell('always')
  const log = { info: tell('info'), warn: tell('warn'), error: tell('error'), always }
  return { lines, opened: createNodeAudit(path, copy, log) }
}

function open(path: string): { readonly audit: NodeAudit; readonly lines: readonly unknown[] } {
  const { opened, lines } = scene(path)
  if (!opened.ok) throw new Error(opened.error)
  onTestFinished(opened.value.close)
  return { audit: opened.value, lines }
}

const requestsIn = (path: string): unknown[] =>
  readFileSync(path, 'utf8')
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => (JSON.parse(line) as { readonly request_id: string }).request_id)

test('a file that cannot be opened is a reason not to start, with what to do', () => {
  const path = join(tempDir('audit'), 'none', 'audit.log')
  const { opened } = scene(path)
  expect(opened.ok ? '' : opened.error).toMatch(
    /^GSLB_AUDIT_LOG: \S+\/none\/audit\.log cannot be opened for writing \(ENOENT\); make its dir/,
  )
})

test('each call is a line in the file, in order, for its owner to read', async () => {
  const path = join(tempDir('audit'), 'audit.log')
  const { audit, lines } = open(path)
  const ids = Array.from({ length: 300 }, (_, i) => `r${i}`)
  for (const requestId of ids) audit.write(auditEntry(requestId, { requestId }))
  await audit.close()
  expect(requestsIn(path)).toEqual(ids)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect([audit.isWritten(), lines]).toEqual([true, []])
})

test('while the file cannot be written its lines are in the log', async () => {
  const directory = join(tempDir('audit'), 'log')
  const path = join(directory, 'audit.log')
  mkdirSync(directory)
  const { audit, lines } = open(path)
  rmSync(directory, { recursive: true })
  for (const requestId of ['a', 'b']) {
    audit.write(auditEntry(requestId, { requestId }))
    await waitUntil('the line in the log', () =>
      JSON.stringify(lines).includes(`_id":"${requestId}`),
    )
  }
  expect(audit.isWritten()).toBe(false)
  expect(lines).toMatchObject([
    ['error', { path }, 'the audit log cannot be written: its lines are here until it can'],
    ['always', { audit: true, request_id: 'a' }, 'api call'],
    ['always', { audit: true, request_id: 'b' }, 'api call'],
  ])
  mkdirSync(directory)
  audit.write(auditEntry('c', { requestId: 'c' }))
  await waitUntil('the file', () => audit.isWritten())
  expect(requestsIn(path)).toEqual(['c'])
  expect(lines.at(-1)).toEqual(['info', { path }, 'the audit log is written again'])
})

const left: readonly (readonly [what: string, before: string, after: RegExp])[] = [
  ['whole lines', '{"n":1}\n', /^\{"n":1\}\n\{"time":.*"c".*\}\n$/],
  ['half a line', '{"n":1}\n{"n"', /^\{"n":1\}\n\{"n"\n\{"time":.*"c".*\}\n$/],
  ['nothing', '', /^\{"time":.*"c".*\}\n$/],
]
test.each(left)(
  'after a failure that left %s, a line begins a line',
  async (_what, before, after) => {
    const directory = join(tempDir('audit'), 'log')
    const path = join(directory, 'audit.log')
    mkdirSync(directory)
    const { audit } = open(path)
    renameSync(directory, `${directory}-away`)
    audit.write(auditEntry('b', { requestId: 'b' }))
    await waitUntil('the failure', () => !audit.isWritten())
    mkdirSync(directory)
    writeFileSync(path, before)
    audit.write(auditEntry('c', { requestId: 'c' }))
    await waitUntil('the file', () => audit.isWritten())
    expect(readFileSync(path, 'utf8')).toMatch(after)
  },
)

test('without a file, and whatever the level of the log, each call is a line in it', async () => {
  const lines: string[] = []
  const log = createLog({ format: 'json', level: 'info' }, (line) => lines.push(line))
  const opened = createNodeAudit(null, copy, log)
  if (!opened.ok) throw new Error(opened.error)
  onTestFinished(opened.value.close)
  log.setLevel('error')
  opened.value.write(auditEntry('a', { requestId: 'a' }))
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: 'info', audit: true, request_id: 'a', msg: 'api call' },
  ])
})

test('what the database did not take is copied when it does, or when the node ends', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const [copied, warnings]: [(string | null)[], object[]] = [[], []]
  let isAway = true
  const append: AuditCopy['append'] = async (entries) => {
    if (isAway) return err({ code: 'store-away', message: 'the database is away' })
    copied.push(...entries.map(({ requestId }) => requestId))
    return ok(undefined)
  }
  const log = createLog({ format: 'json', level: 'warn' }, (line) => {
    const parsed = JSON.parse(line) as { readonly audit?: true }
    if (parsed.audit === undefined) warnings.push(parsed)
  })
  const opened = createNodeAudit(null, { ...copy, append }, log)
  if (!opened.ok) throw new Error(opened.error)
  opened.value.write(auditEntry('a', { requestId: 'a' }))
  await vi.advanceTimersByTimeAsync(60_000)
  expect([copied, warnings]).toMatchObject([[], [{ waiting: 1, msg: 'the audit copy is behind' }]])
  isAway = false
  await vi.advanceTimersByTimeAsync(10_000)
  expect(copied).toEqual(['a'])
  isAway = true
  opened.value.write(auditEntry('b', { requestId: 'b' }))
  await vi.advanceTimersByTimeAsync(1_000)
  isAway = false
  await opened.value.close()
  expect([copied, warnings.length, vi.getTimerCount()]).toEqual([['a', 'b'], 2, 0])
})
