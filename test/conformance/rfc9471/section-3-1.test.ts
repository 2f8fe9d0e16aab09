// RFC 9471: a referral has all the glue below the cut, or says that it has not.
import { expect, test } from 'vitest'
import { staticZone } from '#test/support/dns/static-zone.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject({}, staticZone)

test('glue that does not fit over UDP means TC; over TCP it is all there', async () => {
  const udp = await subject.ask('www.wide.example.org. A')
  expect([udp.tc, udp.aa]).toEqual([true, false])
  const tcp = await subject.ask('www.wide.example.org. A', { tcp: true })
  expect([tcp.tc, tcp.authority.length, tcp.additional.length]).toEqual([false, 12, 12])
})
