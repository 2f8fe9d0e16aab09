// RFC 9660 section 3.2: the version of the zone that has the question, for who asks for it.
import { describe, expect, test } from 'vitest'
import { OptionCode } from '#test/support/dns/codes.ts'
import type { EdnsOption, Message } from '#test/support/dns/message.ts'
import { lineOf } from '#test/support/dns/record.ts'
import { useSubject } from '#test/support/subject.ts'

const asked: EdnsOption = { code: OptionCode.ZONEVERSION, data: Buffer.alloc(0) }
const versionsOf = (reply: Message): Buffer[] => {
  const options = reply.opt?.options.filter(({ code }) => code === OptionCode.ZONEVERSION) ?? []
  return options.map(({ data }) => data)
}

describe('a node that tells versions', () => {
  const subject = useSubject({ zoneVersion: true })

  const rows: readonly [question: string, labels: number][] = [
    ['www.example.org. A', 2],
    ['example.org. SOA', 2],
    ['no.example.org. A', 2],
    ['none.example.org. A', 2],
    ['x.apps.example.org. A', 2],
    ['www.sub.example.org. A', 3],
    ['sub.example.org. NS', 3],
    // DS belongs to the zone above: RFC 4035 section 3.1.4.1.
    ['sub.example.org. DS', 2],
    ['WWW.SHORT.EXAMPLE. A', 2],
  ]
  test.each(rows)('%s: the serial of a zone of %i labels', async (question, labels) => {
    const soa = await subject.ask('example.org. SOA')
    const serial = Number(/ SOA \S+ \S+ (\d+) /.exec(lineOf(soa.answer[0]!))?.[1])
    for (const tcp of [false, true]) {
      const reply = await subject.ask(question, { tcp, opt: { options: [asked] } })
      const [version, ...others] = versionsOf(reply)
      expect(others).toEqual([])
      // Label count, type SOA-SERIAL, four octets.
      expect([version?.length, version?.[0], version?.[1]]).toEqual([6, labels, 0])
      expect(version?.readUInt32BE(2)).toBe(serial)
    }
  })

  test('says nothing unasked, and nothing of a zone of others', async () => {
    expect(versionsOf(await subject.ask('www.example.org. A', { opt: {} }))).toEqual([])
    const opt = { options: [asked] }
    const refused = await subject.ask('www.elsewhere.test. A', { opt })
    expect([refused.rcode, versionsOf(refused)]).toEqual([5, []])
  })

  test('keeps room for it in a reply that is truncated', async () => {
    const reply = await subject.ask('huge.example. NS', { opt: { options: [asked] } })
    expect([reply.tc, versionsOf(reply).length]).toEqual([true, 1])
  })

  test('takes data in the question for a malformed option', async () => {
    const options = [{ ...asked, data: Buffer.of(2, 0) }]
    const reply = await subject.ask('www.example.org. A', { opt: { options } })
    expect([reply.rcode, versionsOf(reply)]).toEqual([1, []])
  })
})

describe('a node that does not', () => {
  const subject = useSubject()

  test('answers as if it had not been asked', async () => {
    const reply = await subject.ask('www.example.org. A', { opt: { options: [asked] } })
    expect([reply.rcode, reply.opt?.options]).toEqual([0, []])
  })
})
