// A query log answered once more, from the journal: each record gives the octets that were sent,
// through swaps and changes of health; and what the command says when one does not.
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { replayFile } from '#why/query-log/replay-file.ts'
import { Carrier } from '#answer/transaction.ts'
import { Random } from '#lib/random.ts'
import { query } from '#test/support/dns/message.ts'
import { laneCount } from '#test/support/lane.ts'
import { RecordedHour, recordedNames } from '#test/support/recorded-hour.ts'
import { runCli } from '#test/support/run-cli.ts'

const carriers = [Carrier.Plain, Carrier.Tls, Carrier.Https]
const counts = {
  queries: laneCount(4_000, 300),
  swaps: laneCount(20, 6),
  flips: laneCount(200, 20),
  ms: laneCount(3_600_000, 360_000),
}
let hour: RecordedHour
let file: string

/** At whole milliseconds of the hour, in order. */
function plan(random: Random) {
  const at = (count: number, kind: 'ask' | 'swap' | 'flip') =>
    Array.from({ length: count }, () => ({ ms: random.below(counts.ms), kind }))
  return [
    ...at(counts.queries, 'ask'),
    ...at(counts.swaps, 'swap'),
    ...at(counts.flips, 'flip'),
  ].sort((a, b) => a.ms - b.ms)
}

/** A fifth comes over TCP, with TLS and HTTP or without. */
const streams = Array.from({ length: 15 }, (_, i) => ({
  isTcp: i < 3,
  carrier: i < 3 ? carriers[i]! : Carrier.Plain,
}))

/** A resolver's question over UDP or TCP, with or without options of EDNS, or a name. */
function questionOf(random: Random) {
  const octets = Buffer.from([10, random.below(8) * 32, random.below(2), 7])
  const subnet = Buffer.concat([Buffer.from([0, 1, 24, 0]), octets.subarray(0, 3)])
  const options = [
    ...(random.below(2) === 0 ? [{ code: 8, data: subnet }] : []),
    ...(random.below(4) === 0 ? [{ code: 3, data: Buffer.alloc(0) }] : []),
    ...(random.below(4) === 0 ? [{ code: 10, data: Buffer.from('a cookie') }] : []),
    ...(random.below(4) === 0 ? [{ code: 12, data: Buffer.alloc(3) }] : []),
  ]
  const opt = random.below(3) === 0 ? {} : { opt: { udpSize: 1_232, options } }
  const others = ['none.test.', 'elsewhere.', '_a.test.', '_b.test.', 'a.x.test.']
  const names = [...recordedNames, ...others]
  const name = names[random.below(names.length)]!
  const type = ['A', 'A', 'A', 'AAAA', 'TXT', 'ANY'][random.below(6)]!
  return {
    query: query(`${name} ${type}`, { id: random.below(65_536), ...opt }),
    client: octets,
    ...streams[random.below(15)]!,
  }
}

beforeAll(async () => {
  hour = await RecordedHour.start(3)
  hour.swap()
  const random = new Random(4)
  let nowMs = 0
  for (const { ms, kind } of plan(random)) {
    hour.walk(ms - nowMs)
    if (ms - nowMs > 0) await hour.journal.flush()
    nowMs = ms
    if (kind === 'ask') hour.askLogged(questionOf(random))
    else if (kind === 'swap') hour.swap()
    else hour.flip()
  }
  await hour.journal.flush()
  file = hour.writeLog()
})
afterAll(() => hour.close())

interface Said {
  readonly isSame: boolean
  readonly out: string
  readonly err: string
}

async function replayed(
  path: string,
  wanted: { name?: string; number?: number; isJson?: boolean } = {},
  from = hour,
): Promise<Said> {
  const said = { out: '', err: '' }
  const writers = {
    out: (text: string) => void (said.out += text),
    err: (text: string) => void (said.err += text),
  }
  const replay = from.replay()
  const isSame = await replayFile(replay, { file: path, isJson: false, ...wanted }, writers)
  return { isSame, ...said }
}

interface Counts {
  readonly records: number
  readonly same: number
  readonly sameByAnotherTurn: number
  readonly sameByHealthAround: number
}

test('every answer of a recorded hour comes out again, octet for octet', async () => {
  const { isSame, out, err } = await replayed(file, { isJson: true })
  expect(err).toBe('')
  const lines = out.trimEnd().split('\n')
  expect(lines.slice(0, -1)).toEqual([])
  const told = JSON.parse(lines.at(-1)!) as Counts
  expect(told).toMatchObject({ records: counts.queries, same: counts.queries, other: 0 })
  expect([isSame, told.sameByAnotherTurn]).toEqual([true, 0])
  // A change in the same millisecond as a query is the exception.
  expect(told.sameByHealthAround).toBeLessThan(counts.queries / 50)
})

test('records of a name, and one by its number, are chosen', async () => {
  const one = await replayed(file, { number: 7 })
  expect([one.isSame, one.out]).toEqual([true, '1 of 1 the same\n'])
  const named = await replayed(file, { name: 'Turns.TEST' })
  expect(named.isSame).toBe(true)
  expect(named.out).toMatch(/^(\d+) of \1 the same/)
  const none = await replayed(file, { name: 'nobody.test' })
  expect([none.isSame, none.err]).toEqual([false, `gslbd why: ${file} has no such record\n`])
})

test('an answer that was another one is shown beside the one of now', async () => {
  const path = `${file}.changed`
  const octets = readFileSync(file)
  // The last address of the pool in an answer becomes one that nobody has.
  const at = octets.indexOf(Buffer.from([0, 4, 192, 0, 2]))
  octets[at + 5] = 250
  writeFileSync(path, octets)
  const { isSame, out } = await replayed(path)
  expect(isSame).toBe(false)
  expect(out).toMatch(/^record \d+: 20\S+ (udp|tcp) /)
  expect(out).toMatch(/^ {2}then {2}NOERROR; .*192\.0\.2\.250/m)
  expect(out).toMatch(/^ {2}now {3}NOERROR; .*192\.0\.2\./m)
  expect(out).toContain(`${counts.queries - 1} of ${counts.queries} the same`)
  expect(out).toContain('1 another answer')
})

test('an answer by what is not kept is never called the same, and its cause is named', async () => {
  const other = await RecordedHour.start(5)
  other.swap()
  for (let i = 0; i < 30; i++) {
    other.measure()
    other.write()
  }
  other.walk(1_000)
  const client = Buffer.from([10, 0, 0, 7])
  for (const [id, text] of [
    'fast.test. A',
    '_a.test. TXT',
    '_b.test. A',
    'x.test. TXT',
  ].entries()) {
    other.askLogged({ query: query(text, { id }), client, isTcp: true })
  }
  await other.journal.flush()
  const { isSame, out } = await replayed(other.writeLog(), { isJson: true }, other)
  const lines = out.trimEnd().split('\n').slice(0, -1)
  const causes = lines.map((line) => (JSON.parse(line) as { causes: readonly string[] }).causes)
  expect([isSame, lines.length > 0]).toEqual([false, true])
  for (const one of causes) expect(one.join()).toMatch(/^records written at|browsers had measured/)
  await other.close()
})

test('a file that is cut is told, and what stands before the cut is answered again', async () => {
  const path = `${file}.cut`
  writeFileSync(path, readFileSync(file).subarray(0, -40))
  const { isSame, out, err } = await replayed(path)
  expect([isSame, err]).toEqual([false, expect.stringContaining('is cut short')])
  expect(out).toContain(`${counts.queries - 1} of ${counts.queries - 1} the same`)
})

test('records with octets of anybody end in an answer, or in a reason', async () => {
  const whole = readFileSync(file).subarray(0, 6_000)
  const random = new Random(5)
  for (let i = 0; i < laneCount(40, 12); i++) {
    const octets = Buffer.from(whole)
    for (let n = 0; n < 12; n++) octets[50 + random.below(octets.length - 50)] = random.below(256)
    writeFileSync(`${file}.damaged`, octets)
    const { isSame, err } = await replayed(`${file}.damaged`, { isJson: i % 2 === 0 })
    expect([isSame, err]).not.toEqual([true, ''])
  }
})

test('without the journal of then nothing is called the same', async () => {
  const { exit, out } = await runCli('why', '--record', file, '--data-dir', `${file}.nowhere`)
  expect(exit).toBe(1)
  expect(out).toContain(`0 of ${counts.queries} the same`)
  expect(out).toContain(`${counts.queries} not answered again: there is no journal`)
})

test.each<readonly [readonly string[], string]>([
  [['--at', '03:12'], '--record has no --at'],
  [['www.test.'], 'with --record write --name NAME'],
  [['--number', '0'], '--number is a whole number from 1'],
])('--record with %j: wrong call', async (more, sentence) => {
  const { exit, err } = await runCli('why', '--record', 'x', ...more)
  expect([exit, err]).toEqual([2, expect.stringContaining(sentence)])
})
