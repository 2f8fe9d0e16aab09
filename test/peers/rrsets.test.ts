// Compares answers of gslbd, Knot DNS and NSD for one zone with every type, with cuts, aliases and
// wildcards; differences are listed with their reason.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wireOf } from '#bundle/encode/record-pool.ts'
import { formatName } from '#dns/name.ts'
import { zoneLines } from '#dns/zone-file/zone-writer.ts'
import { exchangeOrSilence, TcpClient } from '#test/support/dns/client.ts'
import type { Endpoint } from '#test/support/dns/client.ts'
import { differences, replyOf } from '#test/support/dns/comparison.ts'
import type { Difference, Reply } from '#test/support/dns/comparison.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { referenceServers } from '#test/support/dns/reference.ts'
import { recordsOf } from '#test/support/dns/written-zone.ts'
import { zoneOfAllTypes } from '#test/support/dns/zone-of-all-types.ts'
import { zoneOfAllWays } from '#test/support/dns/zone-of-all-ways.ts'

const name = 'example.com.'
const records = recordsOf({ name, text: zoneOfAllTypes(16) + zoneOfAllWays })
const svcbType = 64

/** The others get what we print: they know no $GENERATE, and not all parameters of SVCB. */
function printed(): string {
  const known = records.filter(({ type }) => type !== svcbType)
  const lines = [...zoneLines(known, { origin: wireOf(name), names: 'absolute' })]
  for (const { owner, ttl, type, rdata } of records) {
    if (type !== svcbType) continue
    const hex = Buffer.from(rdata).toString('hex')
    lines.push(`${formatName(owner)} ${ttl} IN TYPE${type} \\# ${rdata.length} ${hex}\n`)
  }
  return lines.join('')
}
const zone = { name, text: printed() }
const owners = new Map<string, Set<string>>()
for (const { owner, type } of records) {
  const name = formatName(owner)
  owners.set(name, (owners.get(name) ?? new Set()).add(`TYPE${type}`))
}

const manners = {
  udp: {},
  edns: { opt: { udpSize: 1_232 } },
  do: { opt: { udpSize: 1_232, dnssecOk: true } },
  tcp: {},
} as const
type Manner = keyof typeof manners

interface Asked {
  readonly question: string
  readonly manner: Manner
}

/** Questions to every owner: its types, some that it lacks, and names below and beside it. */
function questionsOf(): Asked[] {
  const asked = new Map<string, Asked>()
  const add = (name: string, type: string, manner: Manner): void => {
    const question = `${name} ${type}`
    asked.set(`${question} ${manner}`, { question, manner })
  }
  for (const [name, types] of owners) {
    for (const type of types) add(name, type, 'edns')
    for (const type of ['A', 'MX', 'CNAME', 'NS', 'DS']) add(name, type, 'udp')
    for (const type of ['A', 'TXT', 'SOA', 'ANY']) add(name, type, 'do')
    add(name, 'TYPE65000', 'edns')
    if (!name.includes('*')) for (const type of ['A', 'DS']) add(`x.${name}`, type, 'udp')
  }
  const special = zoneOfAllWays.matchAll(/^(\S+) [A-Z]+ /gm)
  for (const [, relative] of special) {
    const name = `${relative!}.example.com.`.toLowerCase()
    for (const below of ['', 'x.', 'a.', 'nowhere.', 'A.b.C.']) {
      for (const type of ['A', 'AAAA', 'TXT', 'MX', 'CNAME', 'DNAME', 'NS', 'DS', 'TYPE65000']) {
        add(below + name.replace('*', 'star'), type, type === 'A' ? 'udp' : 'tcp')
      }
    }
  }
  return [...asked.values()]
}
const questions = questionsOf()

interface Exception {
  readonly servers: readonly ('knot' | 'nsd')[]
  readonly isAbout: (asked: Asked, ours: Reply, theirs: Reply) => boolean
  readonly fields: readonly Difference['field'][]
  /** Why we answer as we do. */
  readonly reason: string
}

const isAny = ({ question }: Asked): boolean => question.endsWith(' ANY')
const isTruncated = ({ flags }: Reply): boolean => flags.includes('tc')

/** Every difference there is. One that no longer shows must be removed. */
const exceptions: readonly Exception[] = Object.freeze<Exception[]>([
  {
    servers: ['knot', 'nsd'],
    isAbout: ({ question }) => question.endsWith(' TYPE14'),
    fields: ['answer'],
    reason: 'RFC 3597 section 4 lets names of MINFO be compressed; in so rare a type ours are not',
  },
  {
    servers: ['knot', 'nsd'],
    isAbout: isAny,
    fields: ['answer', 'authority', 'additional', 'flags'],
    reason: 'RFC 8482 allows one rrset or HINFO; HINFO is small, and the same for every name',
  },
  {
    servers: ['nsd'],
    isAbout: (_asked, ours) => ours.answer.length > 0 && ours.authority.length === 0,
    fields: ['authority', 'additional'],
    reason:
      'minimal responses, as Knot gives: NS records beside an answer are no use to a resolver',
  },
  {
    servers: ['knot', 'nsd'],
    isAbout: ({ question }, ours) => isTruncated(ours) && question.includes('bigcut'),
    fields: ['authority', 'additional'],
    reason: 'RFC 2181 section 9: what is truncated has to be asked for again, so it is empty',
  },
  {
    servers: ['nsd'],
    isAbout: ({ question }, ours) => isTruncated(ours) && question.includes('bigcut'),
    fields: ['flags'],
    reason: 'RFC 9471 section 3.1: glue below the cut that does not fit means TC',
  },
  {
    servers: ['knot'],
    isAbout: ({ question }) => /^link[01]\./.test(question),
    fields: ['answer', 'authority', 'additional'],
    reason: 'Knot follows five aliases, we and NSD more',
  },
])

/** Letter case aside, where names are all there is: the others store them in lower case. */
function folded(reply: Reply | undefined): Reply | undefined {
  if (reply === undefined) return undefined
  const foldLine = (line: string): string =>
    / IN (?:NS|CNAME|MX|SOA|PTR|DNAME|A|AAAA) /.test(line)
      ? line.toLowerCase()
      : line.replace(/^\S+/, (owner) => owner.toLowerCase())
  const fold = (lines: readonly string[]): string[] => lines.map(foldLine).sort()
  const { answer, authority, additional } = reply
  const sections = {
    answer: fold(answer),
    authority: fold(authority),
    additional: fold(additional),
  }
  return { ...reply, ...sections }
}

const isInUse = new Set<Exception>()
const installed = referenceServers.filter((server) => server.isInstalled())
let us: RunningNode

beforeAll(async () => {
  us = await startNode(zone)
})
afterAll(() => us.stop())

async function askFor(server: Endpoint, { question, manner }: Asked): Promise<Reply | undefined> {
  const bytes = query(question, manners[manner])
  if (manner !== 'tcp') {
    const probe = query('example.com. SOA', { id: bytes.readUInt16BE(0) ^ 0xffff })
    const reply = await exchangeOrSilence(server, bytes, probe)
    return replyOf(reply === undefined ? undefined : decodeMessage(reply))
  }
  const client = await TcpClient.connect(server)
  try {
    client.send(bytes)
    return replyOf(decodeMessage(await client.receive()))
  } finally {
    client.destroy()
  }
}

test('the zone has at least 400 rrsets, and 5,000 questions are asked', () => {
  expect([...owners.values()].reduce((sum, { size }) => sum + size, 0)).toBeGreaterThan(400)
  expect(questions.length).toBeGreaterThan(5_000)
  expect(installed.map(({ name }) => name)).toEqual(['knot', 'nsd'])
})

const atOnce = 16

describe.each(installed)('$name', ({ name, start }) => {
  test('answers as we do, but for the exceptions', { timeout: 600_000 }, async () => {
    const them = await start(zone)
    const faults: (Asked & { found: Difference[] })[] = []
    const compare = async (asked: Asked): Promise<void> => {
      const [ours, theirs] = await Promise.all([askFor(us, asked), askFor(them, asked)])
      const found = differences(folded(ours), folded(theirs)).filter(({ field }) => {
        const exception = exceptions.find(
          ({ servers, isAbout, fields }) =>
            servers.includes(name) &&
            fields.includes(field) &&
            ours !== undefined &&
            theirs !== undefined &&
            isAbout(asked, ours, theirs),
        )
        if (exception !== undefined) isInUse.add(exception)
        return exception === undefined
      })
      if (found.length > 0) faults.push({ ...asked, found })
    }
    try {
      for (let at = 0; at < questions.length; at += atOnce) {
        await Promise.all(questions.slice(at, at + atOnce).map(compare))
      }
      expect(faults).toEqual([])
    } finally {
      await them.stop()
    }
  })
})

test('every exception is in use', () => {
  const stale = exceptions.filter((exception) => !isInUse.has(exception))
  expect(stale.map(({ reason }) => reason)).toEqual([])
})
