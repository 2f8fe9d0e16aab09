// Zone transfers, and messages that are signed, as the programs of BIND and Knot ask for them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { foldName, formatName } from '#dns/name.ts'
import { canonicalRdata, rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { tsigAlgorithm } from '#dns/tsig/tsig-algorithms.ts'
import { parseZoneFile } from '#dns/zone-file/zone-file.ts'
import type { ZoneRecord } from '#dns/zone-file/zone-record.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { NodeSettings, RunningNode } from '#test/support/dns/node.ts'
import { recordsOf } from '#test/support/dns/written-zone.ts'
import { saidBy } from '#test/support/said-by.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { zoneOfAllTypes } from '#test/support/dns/zone-of-all-types.ts'
import { zoneOfAllWays } from '#test/support/dns/zone-of-all-ways.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const zone = { name: 'example.com.', text: zoneOfAllTypes(4) + zoneOfAllWays }
const secret = Buffer.from('0123456789abcdefghijklmnopqrstuv')
const keyOf = (name: string, scope: Uint8Array | null) => ({
  ...{ id: name, name: wireName(name), algorithm: tsigAlgorithm('hmac-sha256.')!, secret, scope },
  mayTransfer: true,
})
const keys = [keyOf('key.example.', null), keyOf('narrow.example.', wireName('www.example.com.'))]
const keyOption = (name: string, octets = secret): string =>
  `hmac-sha256:${name}:${octets.toString('base64')}`
/** What a program says of an answer whose MAC it does not believe. */
const disbelief = /could not be validated|failed to verify|verify failure|TSIG error/i
const signed = ['-y', keyOption('key.example.')]

const run = async (program: string, args: readonly string[]): Promise<string> =>
  (await saidBy(program, args)).text

const nodes: RunningNode[] = []
async function start(settings: NodeSettings): Promise<(...rest: string[]) => Promise<string>> {
  const node = await startNode(zone, settings)
  node.node.setKeys(keys)
  nodes.push(node)
  return (program, ...rest) => run(program, ['@127.0.0.1', '-p', `${node.port}`, ...rest])
}
afterAll(async () => {
  for (const node of nodes) await node.stop()
})

const open = { enabled: true, requireTsig: false, allow: [] }

/** Owner, type and data of each record, in any order. */
function recordSet(text: string): string[] {
  const origin = wireName('example.com.')
  const lines = text.split('\n').filter((line) => !/TSIG/.test(line))
  const octets = Buffer.from(lines.join('\n'))
  const { records, faults } = parseZoneFile({ path: 'transfer', octets }, { origin })
  expect(faults).toEqual([])
  return setOf([...records])
}

const soaType = 6
const setOf = (records: readonly ZoneRecord[]): string[] =>
  records
    .filter(({ type }) => type !== soaType)
    .map(({ owner, type, ttl, rdata }) => {
      const canonical = canonicalRdata(rdataTypeOf(type), rdata)
      return `${formatName(foldName(owner))} ${ttl} ${type} ${Buffer.from(canonical).toString('hex')}`
    })
    .sort()

describe.each([1, 0])('a node with dns.threads: %i', (threads) => {
  let ask: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    ask = await start({ threads, transfers: open })
  })

  describe.each(['dig', 'kdig'])('%s', (program) => {
    test.each([[['+notcp']], [['+tcp']]])('believes a signed answer: %j', async (rest) => {
      const text = await ask(program, 'www.example.com.', 'TXT', ...signed, ...rest)
      expect(text).toMatch(/status: NXDOMAIN/)
      expect(text).toMatch(/hmac-sha256\. .* NOERROR/)
      expect(text).not.toMatch(disbelief)
    })

    test.each([
      ['of nobody', 'nobody.example.', secret, 'BADKEY'],
      ['of another secret', 'key.example.', Buffer.alloc(32, 'x'), 'BADSIG'],
    ])('hears that a key is %s', async (_what, name, octets, error) => {
      const rest = ['-y', keyOption(name, octets)]
      expect(await ask(program, 'example.com.', 'SOA', ...rest)).toMatch(error)
    })

    test('gets the whole zone, SOA first and last', async () => {
      const text = await ask(program, 'example.com.', 'AXFR', ...signed)
      expect(text).not.toMatch(disbelief)
      expect(text.match(/\sIN\s+SOA\s/g)).toHaveLength(2)
      expect(recordSet(text)).toEqual(setOf(recordsOf(zone)))
    })

    test('has it in a form that checkers of zones accept', async () => {
      const text = await ask(program, 'example.com.', 'AXFR', ...signed)
      const lines = text.split('\n').filter((line) => !/TSIG|^;|^$/.test(line))
      // A zone file has the SOA once.
      const file = join(tempDir('transferred'), 'zone')
      writeFileSync(file, `${lines.slice(0, -1).join('\n')}\n`)
      const named = await run('named-checkzone', [
        '-i',
        'local',
        '-k',
        'ignore',
        'example.com',
        file,
      ])
      expect(named).toMatch(/^OK$/m)
      expect(await run('ldns-read-zone', ['-c', file])).not.toMatch(/error/i)
    })

    test('gets the SOA alone for a serial that is current, and all for an older one', async () => {
      const current = await ask(program, 'example.com.', 'IXFR=1', '+tcp', ...signed)
      expect(current.match(/\sIN\s+[A-Z]+\s/g)).toHaveLength(1)
      const older = await ask(program, 'example.com.', 'IXFR=0', '+tcp', ...signed)
      expect(older).not.toMatch(disbelief)
      expect(older.match(/\sIN\s+[A-Z]+\s/g)!.length).toBeGreaterThan(250)
    })

    test.each([
      ['a zone that is not ours', 'example.net.', 'AXFR', [], /NOTAUTH/],
      ['a name below an apex', 'mail.example.com.', 'AXFR', [], /NOTAUTH/],
    ])('is told of %s', async (_what, name, type, rest, expected) => {
      const text = await ask(program, name, type, '+tcp', ...signed, ...rest)
      expect(text).toMatch(program === 'dig' ? /Transfer failed/ : expected)
    })
  })
})
