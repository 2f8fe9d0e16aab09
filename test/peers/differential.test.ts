// The same zones served by us, by Knot DNS and by NSD, asked the same: who differs, and why.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RrType } from '#dns/rrtype.ts'
import { exchangeOrSilence, exchangeUdp, TcpClient } from '#test/support/dns/client.ts'
import type { Endpoint } from '#test/support/dns/client.ts'
import { differences, replyOf } from '#test/support/dns/comparison.ts'
import type { Difference, Reply } from '#test/support/dns/comparison.ts'
import { conformanceConfig } from '#test/support/dns/fixture.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { listedQueries } from '#test/support/dns/query-list.ts'
import type { ListedQuery } from '#test/support/dns/query-list.ts'
import { referenceServers } from '#test/support/dns/reference.ts'

interface Exception {
  readonly servers: readonly ('knot' | 'nsd')[]
  readonly isAbout: (title: string, ours: Reply) => boolean
  readonly fields: readonly Difference['field'][]
  /** Why we answer as we do. */
  readonly reason: string
}

const odd =
  (names: RegExp) =>
  (title: string): boolean =>
    title.startsWith('odd: ') && names.test(title.slice(5))

/** Every difference there is. One that no longer shows must be removed. */
const exceptions: readonly Exception[] = Object.freeze<Exception[]>([
  {
    servers: ['nsd'],
    isAbout: (_title, ours) => ours.answer.length > 0,
    fields: ['authority', 'additional'],
    reason:
      'minimal responses, as Knot gives: NS records beside an answer are no use to a resolver',
  },
  {
    servers: ['knot', 'nsd'],
    isAbout: odd(/^ANY$/),
    fields: ['answer'],
    reason: 'RFC 8482 allows one rrset or HINFO; HINFO does not depend on the health of members',
  },
  {
    servers: ['knot', 'nsd'],
    isAbout: odd(/^(?:MAILB|TYPE128)$/),
    fields: ['rcode', 'flags', 'authority'],
    reason: 'RFC 6895 section 3.1: these types are no data, so "no data" would be no answer',
  },
  {
    servers: ['knot', 'nsd'],
    isAbout: odd(/^OPT as a type$/),
    fields: ['rcode', 'flags', 'authority'],
    reason: 'RFC 6891 section 6.1.1: OPT is never in a zone; a question for it is malformed',
  },
  {
    servers: ['knot', 'nsd'],
    isAbout: odd(/^(?:AXFR|IXFR)$/),
    fields: ['rcode'],
    reason: 'transfers are a matter of policy, over either transport: REFUSED',
  },
  {
    servers: ['knot'],
    isAbout: odd(/^(?:IQUERY|STATUS|opcode 15)$/),
    fields: ['question'],
    reason: 'what follows the header of an opcode that we do not know need not be a question',
  },
  {
    servers: ['knot', 'nsd'],
    isAbout: odd(/^(?:two OPT records|option beyond OPT)$/),
    fields: ['opt'],
    reason: 'RFC 6891 section 7: a reply to a query with OPT has OPT, a FORMERR too',
  },
  {
    servers: ['knot'],
    isAbout: odd(/^OPT below the root$/),
    fields: ['rcode', 'flags', 'answer', 'opt'],
    reason: 'RFC 6891 section 6.1.2: the owner of OPT must be the root',
  },
  {
    servers: ['knot'],
    isAbout: odd(/^(?:question cut short|a header that counts|a name that points to itself)/),
    fields: ['silence'],
    reason: 'RFC 8906 section 3: FORMERR, because silence looks like a dead server',
  },
  {
    servers: ['knot'],
    isAbout: odd(/^type zero$/),
    fields: ['rcode', 'flags', 'authority'],
    reason: 'type 0 is reserved, not an action: the name has no data of it',
  },
  {
    servers: ['nsd'],
    isAbout: odd(/^class ANY$/),
    fields: ['flags'],
    reason: 'we have the one class IN, so the answer is as authoritative as any',
  },
  {
    servers: ['nsd'],
    isAbout: odd(/^(?:class NONE|class 77|two OPT records|OPT .*|option beyond OPT)$/),
    fields: ['question'],
    reason: 'the question was read, so it comes back',
  },
  {
    servers: ['nsd'],
    isAbout: odd(/^trailing octet$/),
    fields: ['rcode', 'flags', 'answer', 'authority', 'additional'],
    reason: 'octets that no count announces are an error in the message, as Knot says',
  },
  {
    servers: ['nsd'],
    isAbout: odd(/^EDNS version 255 with DO$/),
    fields: ['opt'],
    reason: 'RFC 3225 section 3: DO is copied into every reply',
  },
])

const isInUse = new Set<Exception>()
const installed = referenceServers.filter((server) => server.isInstalled())
let us: RunningNode

beforeAll(async () => {
  us = await startNode(conformanceConfig)
})
afterAll(() => us.stop())

async function askFor(server: Endpoint, { bytes, tcp }: ListedQuery): Promise<Reply | undefined> {
  // A transfer is refused by another thread, which the good query behind it may overtake.
  if (!tcp && isTransfer(bytes)) return replyOf(decodeMessage(await exchangeUdp(server, bytes)))
  if (!tcp) {
    const id = bytes.readUInt16BE(0) ^ 0xffff
    const reply = await exchangeOrSilence(server, bytes, query('example.org. SOA', { id }))
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

/** Its question is the last thing in it: AXFR or IXFR, and the class. */
function isTransfer(bytes: Buffer): boolean {
  const qtype = bytes.length < 16 ? 0 : bytes.readUInt16BE(bytes.length - 4)
  return qtype === RrType.AXFR || qtype === RrType.IXFR
}

function unexplained(
  server: Exception['servers'][number],
  title: string,
  ours: Reply | undefined,
  found: readonly Difference[],
): Difference[] {
  return found.filter(({ field }) => {
    const exception = exceptions.find(
      ({ servers, isAbout, fields }) =>
        servers.includes(server) &&
        fields.includes(field) &&
        ours !== undefined &&
        isAbout(title, ours),
    )
    if (exception !== undefined) isInUse.add(exception)
    return exception === undefined
  })
}

test('a server to compare with is installed', () => {
  expect(installed.map(({ name }) => name)).not.toEqual([])
})

test('the list of queries is long, and no query is in it twice', () => {
  expect(new Set(listedQueries.map(({ title }) => title)).size).toBe(listedQueries.length)
  expect(listedQueries.length).toBeGreaterThan(1_000)
})

describe.each(installed)('$name', ({ name, start }) => {
  test('answers as we do, but for the exceptions', { timeout: 180_000 }, async () => {
    const them = await start(conformanceConfig)
    try {
      const faults: { title: string; found: Difference[] }[] = []
      for (const listed of listedQueries) {
        const [ours, theirs] = await Promise.all([askFor(us, listed), askFor(them, listed)])
        const found = unexplained(name, listed.title, ours, differences(ours, theirs))
        if (found.length > 0) faults.push({ title: listed.title, found })
      }
      expect(faults).toEqual([])
    } finally {
      await them.stop()
    }
  })
})

test('every exception that concerns an installed server is in use', () => {
  const names = installed.map(({ name }) => name)
  const stale = exceptions.filter(
    (exception) =>
      exception.servers.some((server) => names.includes(server)) && !isInUse.has(exception),
  )
  expect(stale.map(({ reason }) => reason)).toEqual([])
})

test('UDP through node:dgram says the same as UDP in batches', async () => {
  const plain = await startNode(conformanceConfig, { threads: 0 })
  try {
    for (const listed of listedQueries.filter(({ tcp }) => !tcp)) {
      const [ours, theirs] = await Promise.all([askFor(us, listed), askFor(plain, listed)])
      expect([listed.title, ours]).toEqual([listed.title, theirs])
    }
  } finally {
    await plain.stop()
  }
})
