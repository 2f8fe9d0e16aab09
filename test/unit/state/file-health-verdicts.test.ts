// The file of health verdicts: what a new process reads of it, whatever became of it.
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFileHealthVerdicts, verdictFileLimits } from '#state/file/health-verdicts.ts'
import { readVerdictLines } from '#state/file/verdict-lines.ts'
import type { HealthVerdicts, StoredVerdict } from '#state/ports/health-verdicts.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const down = (memberUid: string, atMs = 1): StoredVerdict => ({
  memberUid,
  ipAddress: '192.0.2.1',
  healthy: false,
  warming: true,
  atMs,
})

function scene() {
  const folder = join(tempDir('verdicts'), 'health')
  const path = join(folder, 'verdicts.jsonl')
  const warnings: string[] = []
  const silent = (): void => undefined
  const warn = (_: object, message: string): void => void warnings.push(message)
  /** As another process would find it. */
  const open = (): HealthVerdicts =>
    createFileHealthVerdicts(path, { info: silent, error: silent, warn })
  const loaded = async (): Promise<string[]> =>
    (await open().load()).map(({ memberUid }) => memberUid).sort()
  const lines = (): number => readFileSync(path, 'utf8').split('\n').length - 1
  return { folder, path, warnings, open, loaded, lines }
}

test('another process finds what was saved, without what was forgotten', async () => {
  const { open, warnings } = scene()
  const verdicts = open()
  await verdicts.save([down('a'), down('b')])
  await verdicts.save([{ ...down('a'), healthy: true, warming: false, atMs: 2 }])
  await verdicts.forget([down('b')])
  const found = await open().load()
  expect(found).toEqual([{ ...down('a'), healthy: true, warming: false, atMs: 2 }])
  expect(warnings).toEqual([])
})

test('another process finds why a member is unhealthy, in at most 200 characters', async () => {
  const { open, warnings } = scene()
  const [a, b, c] = [
    { ...down('a'), reason: 'HTTP 503, expected 200' },
    { ...down('b'), reason: '\u0001'.repeat(500) },
    { ...down('c'), healthy: true, reason: 'old words' },
  ]
  await open().save([a, b, c])
  const found = await open().load()
  expect(found).toEqual([
    a,
    { ...b, reason: '\u0001'.repeat(200) },
    { ...down('c'), healthy: true },
  ])
  expect(warnings).toEqual([])
})

test('a last line that was cut off is passed over, at whatever octet', async () => {
  const { path, open, loaded, warnings } = scene()
  await open().save([down('a'), down('b')])
  const whole = readFileSync(path)
  const first = whole.indexOf('\n') + 1
  for (let size = first; size < whole.length; size++) {
    writeFileSync(path, whole)
    truncateSync(path, size)
    expect(await loaded()).toEqual(['a'])
  }
  await open().save([down('c')])
  expect([await loaded(), warnings]).toEqual([['a', 'c'], []])
})

test('a damaged line costs that line, is said, and is gone with the next write', async () => {
  const { path, open, loaded, warnings } = scene()
  await open().save([down('a')])
  appendFileSync(path, `${'\0'.repeat(50)}\n{"memberUid":5}\n[]\nnull\n`)
  appendFileSync(path, `{"memberUid":"${'x'.repeat(2_000)}","ipAddress":"","forgotten":true}\n`)
  await open().save([down('b')])
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toContain('is damaged')
  expect([await loaded(), warnings.length]).toEqual([['a', 'b'], 1])
})

describe('a file that is no use is none, and says so', () => {
  const spoilers: readonly [string, (path: string) => void][] = [
    ['a folder in its place', (path) => mkdirSync(path, { recursive: true })],
    [
      'larger than any of ours',
      (path) => {
        writeFileSync(path, '')
        truncateSync(path, verdictFileLimits.bytesMax + 1)
      },
    ],
  ]
  test.each(spoilers)('%s', async (_, spoil) => {
    const { folder, path, open, loaded, warnings } = scene()
    mkdirSync(folder)
    spoil(path)
    expect([await loaded(), warnings.length]).toEqual([[], 1])
    rmSync(path, { recursive: true })
    await open().save([down('a')])
    expect(await loaded()).toEqual(['a'])
  })
})

test('many changes of few members keep the file small', async () => {
  const { open, loaded, lines } = scene()
  const verdicts = open()
  const batch = Array.from({ length: 300 }, (_, i) => down('a', i))
  for (let i = 0; i < 12; i++) await verdicts.save([...batch, down('b', i)])
  expect(lines()).toBeLessThan(2 + verdictFileLimits.staleLinesMax)
  expect(await loaded()).toEqual(['a', 'b'])
})

test('a write that fails rejects, and the next makes it good', async () => {
  const { folder, open, loaded } = scene()
  const verdicts = open()
  await verdicts.save([down('a')])
  rmSync(folder, { recursive: true })
  // A file where the folder was: nobody, root included, can write below it.
  writeFileSync(folder, '')
  await expect(verdicts.save([down('b')])).rejects.toThrow()
  await expect(verdicts.forget([down('a')])).rejects.toThrow()
  rmSync(folder)
  await verdicts.save([down('c')])
  expect(await loaded()).toEqual(['b', 'c'])
})

test('remains of an interrupted rewrite are removed', async () => {
  const { folder, path, open } = scene()
  mkdirSync(folder)
  writeFileSync(`${path}.0123456789ab.tmp`, 'x')
  await open().load()
  expect(readdirSync(folder)).toEqual([])
})

test('writes at the same time all arrive', async () => {
  const { open, loaded } = scene()
  const verdicts = open()
  const uids = Array.from({ length: 50 }, (_, i) => `m${i}`)
  await Promise.all(uids.map((uid) => verdicts.save([down(uid)])))
  expect(await loaded()).toEqual([...uids].sort())
})

test('the file is for its owner alone', async () => {
  const { folder, path, open } = scene()
  mkdirSync(folder)
  chmodSync(folder, 0o700)
  await open().save([down('a')])
  expect(statSync(path).mode & 0o077).toBe(0)
})

test('any text is read to its end, and only whole verdicts come out of it', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.json())), (lines) => {
      const found = new Map<string, StoredVerdict>()
      const damaged = readVerdictLines(`${lines.join('\n')}\n`, found)
      expect(damaged).toBeGreaterThanOrEqual(0)
      for (const verdict of found.values()) expect(typeof verdict.healthy).toBe('boolean')
    }),
  )
})
