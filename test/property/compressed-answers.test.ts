// Names in answers: whatever a zone has, a message is as short as RFC 1035 section 4.1.4 allows.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Transport } from '#answer/transaction.ts'
import { createAnswerer } from '#test/support/dns/answerer.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import type { Message } from '#test/support/dns/message.ts'
import { decodeName } from '#test/support/dns/name.ts'
import { laneCount } from '#test/support/lane.ts'

const label = fc.constantFrom('a', 'B', 'aa', 'h', 'com', 'example', 'ORG', 'x'.repeat(40))
/** Relative ones with an owner below `h`, others anywhere. */
const relative = fc.array(label, { maxLength: 3 }).map((labels) => [...labels, 'h'].join('.'))
const absolute = fc
  .tuple(fc.array(label, { maxLength: 3 }), fc.constantFrom('example.org.', 'Org.', 'net.'))
  .map(([labels, end]) => [...labels, end].join('.'))
const name = fc.oneof(relative, absolute)
const names = fc.uniqueArray(name, { minLength: 1, maxLength: 20, selector: fold })
const zones = fc.record({
  hosts: fc.uniqueArray(relative, { maxLength: 12, selector: fold }),
  mname: name,
  rname: name,
  servers: names,
  mail: names,
  pointed: names,
  targets: names,
  chain: fc.uniqueArray(relative, { minLength: 1, maxLength: 6, selector: fold }),
  moved: fc.constantFrom('new', 'a.New', 'x.net.', 'old.example.org.', 'b.c.h.'),
})
type Zone = typeof zones extends fc.Arbitrary<infer T> ? T : never

function fold(text: string): string {
  return text.toLowerCase()
}

function textOf({ hosts, mname, rname, servers, mail, pointed, targets, chain, moved }: Zone) {
  const links = chain.map((to, i) => {
    const next = i + 1 < chain.length ? `c.${chain[i + 1]!}` : 'x.y.old'
    return `c.${to} CNAME ${next}\n`
  })
  return `$TTL 60
@ SOA ${mname} ${rname} 1 3600 600 86400 30
@ NS ns1.h
${hosts.map((host) => `${host} A 192.0.2.1\n${host} AAAA 2001:db8::1\n`).join('')}
${servers.map((server, i) => `cut NS ${server}\n${inside(i)}`).join('')}
${mail.map((host, i) => `mail MX ${i} ${host}\n`).join('')}
${pointed.map((host) => `ptr PTR ${host}\n`).join('')}
${targets.map((host) => `srv SRV 0 0 53 ${host}\n`).join('')}
${links.join('')}old DNAME ${moved}
*.new CNAME z.*.OLD
y.new CNAME z.old
z.new A 192.0.2.9
`
}

const inside = (i: number): string => `cut NS n${i}.cut\nn${i}.cut A 192.0.2.${i}\n`

const compressed = new Set([2, 5, 6, 12, 15])

/** Octets of the same records, written by the rule alone: a name ends where an end of it stands. */
function shortest(message: Message): number {
  const seen = new Set<string>()
  let at = 12
  const write = (text: string, mayPoint: boolean): void => {
    const labels = text
      .toLowerCase()
      .split('.')
      .slice(0, -1)
      .filter((one) => one !== '')
    for (let i = 0; i < labels.length; i++) {
      const end = labels.slice(i).join('.')
      if (mayPoint && seen.has(end)) {
        at += 2
        return
      }
      if (at <= 0x3fff) seen.add(end)
      at += labels[i]!.length + 1
    }
    at++
  }
  for (const question of message.questions) {
    write(question.name, true)
    at += 4
  }
  for (const record of [...message.answer, ...message.authority, ...message.additional]) {
    const { name: owner, rdata, rdataText, type } = record
    write(owner, true)
    at += 10
    const words = (rdataText ?? '').split(' ')
    if (type === 6) {
      write(words[0]!, true)
      write(words[1]!, true)
      at += 20
    } else if (type === 33) {
      at += 6
      write(decodeName(rdata, 6).text, false)
    } else if (compressed.has(type) || type === 39) {
      at += (words.length - 1) * 2
      write(words.at(-1)!, compressed.has(type))
    } else {
      at += rdata.length
    }
  }
  return at
}

const questions = [
  'www.cut. NS',
  'ns1.h. A',
  'N0.cut. AAAA',
  'mail. MX',
  'ptr. PTR',
  'srv. SRV',
  'A.b.nowhere. A',
  'mail. AAAA',
  'a.b.old. A',
  'Y.OLD. A',
]

test('no name could end sooner, and what is said of it is what the zone has', () => {
  fc.assert(
    fc.property(zones, (zone) => {
      const { ask } = createAnswerer({ name: 'example.org.', text: textOf(zone) })
      const asked = [...questions, `C.${zone.chain[0]!}. A`, `c.${zone.chain.at(-1)!}. CNAME`]
      for (const one of asked) {
        const [owner, type] = one.split(' ')
        const octets = query(`${owner!}example.org. ${type!}`)
        const reply = decodeMessage(ask(octets, Transport.Tcp)!)
        expect([one, reply.bytes.length]).toEqual([one, shortest(reply)])
        const all = [...reply.answer, ...reply.authority, ...reply.additional]
        const lines = all.map((record) =>
          `${record.name} ${record.type} ${record.rdataText}`.toLowerCase(),
        )
        expect(lines.length).toBe(new Set(lines).size)
      }
      const referral = decodeMessage(ask(query('w.cut.example.org. A'), Transport.Tcp)!)
      const said = referral.authority.map(({ rdataText }) => rdataText.toLowerCase())
      const wanted = zone.servers.flatMap((server, i) => [whole(server), `n${i}.cut.example.org.`])
      expect(said.sort()).toEqual([...new Set(wanted)].sort())
    }),
    { numRuns: laneCount(1_000, 60) },
  )
})

const whole = (text: string): string =>
  (text.endsWith('.') ? text : `${text}.example.org.`).toLowerCase()

test('a set with more names than can be noted is whole', () => {
  const lines = Array.from(
    { length: 1_200 },
    (_, i) => `many MX ${i} m${i}.p${i % 300}.example.net.`,
  )
  const text = `$TTL 60\n@ SOA ns hostmaster 1 1 1 1 1\n@ NS ns\n${lines.join('\n')}\n`
  const { ask } = createAnswerer({ name: 'example.org.', text })
  const { answer, bytes } = decodeMessage(ask(query('many.example.org. MX'), Transport.Tcp)!)
  expect(answer.map(({ rdataText }) => rdataText)).toEqual(
    Array.from({ length: 1_200 }, (_, i) => `${i} m${i}.p${i % 300}.example.net.`),
  )
  expect(bytes.length).toBeGreaterThan(0x4000)
})
