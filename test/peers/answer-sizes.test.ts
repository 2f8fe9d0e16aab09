// How many octets our answers have beside those of Knot DNS and NSD to the same questions.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask } from '#test/support/dns/client.ts'
import { replyOf } from '#test/support/dns/comparison.ts'
import type { Reply } from '#test/support/dns/comparison.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { referenceServers } from '#test/support/dns/reference.ts'

const letters = Array.from({ length: 13 }, (_, i) => String.fromCharCode(0x61 + i))
/** 13 servers of one domain with an address of each family. */
const wide = letters
  .map((letter, i) => {
    const server = `${letter}.dns-servers.wide`
    return `wide NS ${server}\n${server} A 192.0.2.${i}\n${server} AAAA 2001:db8::${i}\n`
  })
  .join('')
const zone = {
  name: 'example.org.',
  text: `$TTL 60
@ SOA ns1.provider.net. hostmaster.provider.net. 1 3600 600 86400 30
@ NS ns1.provider.net.
@ NS ns2.provider.net.
@ NS ns3.provider.com.
@ NS ns.example.org.
ns A 192.0.2.53
www A 192.0.2.1
mail MX 10 mx1.mail.provider.net.
mail MX 20 mx2.mail.provider.net.
mail MX 30 www
far CNAME www.far.provider.net.
near CNAME link.near
link.near CNAME www.link.near
www.link.near A 192.0.2.2
4.2.0.192.rev PTR a.hosts.provider.net.
4.2.0.192.rev PTR b.hosts.provider.net.
old DNAME deep.down.new
host.deep.down.new A 192.0.2.3
abroad DNAME provider.net.
split NS ns1.split
split NS ns1.provider.net.
split NS ns2.provider.net.
ns1.split A 192.0.2.4
${wide}`,
}
const questions = [
  'wide.example.org. NS',
  'a.very.long.name.wide.example.org. AAAA',
  'x.split.example.org. A',
  'example.org. NS',
  'example.org. SOA',
  'nowhere.example.org. A',
  'www.example.org. MX',
  'mail.example.org. MX',
  'far.example.org. A',
  'near.example.org. A',
  '4.2.0.192.rev.example.org. PTR',
  'host.old.example.org. A',
  'host.abroad.example.org. A',
  'nowhere.old.example.org. A',
]

let us: RunningNode
beforeAll(async () => {
  us = await startNode(zone)
})
afterAll(() => us.stop())

describe.each(referenceServers)('$name', ({ name, start }) => {
  test('has no answer that is shorter than ours and says as much', async () => {
    const them = await start(zone)
    const sizes: [string, number, number][] = []
    try {
      for (const question of questions) {
        const ours = await ask(us, question, { tcp: true })
        const theirs = await ask(them, question, { tcp: true })
        if (!isSame(replyOf(ours), replyOf(theirs))) continue
        sizes.push([question, ours.bytes.length, theirs.bytes.length])
      }
    } finally {
      await them.stop()
    }
    expect(sizes.filter(([, ours, theirs]) => ours > theirs)).toEqual([])
    // NSD puts NS records beside most answers, and then says more.
    expect(sizes.length).toBeGreaterThanOrEqual(name === 'knot' ? questions.length : 8)
  })
})

test('a referral to 13 servers with 26 addresses fits a UDP answer', async () => {
  const { bytes, tc } = await ask(us, 'wide.example.org. NS', { opt: { udpSize: 1_232 } })
  expect([tc, bytes.length < 900]).toEqual([false, true])
})

/** The letter case of names aside, which the others do not keep. */
function isSame(ours: Reply | undefined, theirs: Reply | undefined): boolean {
  const lines = (reply: Reply | undefined): string =>
    JSON.stringify(
      [reply?.answer, reply?.authority, reply?.additional].map((section) => section?.toSorted()),
    )
  return lines(ours).toLowerCase() === lines(theirs).toLowerCase()
}
