// RFC 4892: what a node says of itself in class CHAOS, when the operator wants it to.
import { expect, test } from 'vitest'
import { lineOf } from '#test/support/dns/record.ts'
import { bare, said } from '#test/support/dns/said.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject({ nsid: 'fra1', versionBind: 'gslbd test' })

test('version.bind TXT says the text of the settings, with TTL 0', async () => {
  const reply = await subject.ask('version.bind. TXT', { class: 3 })
  expect(reply.rcode).toBe(0)
  expect(reply.answer.map(lineOf)).toEqual(['version.bind. 0 CH TXT "gslbd test"'])
})

test('id.server TXT says the name that NSID says', async () => {
  const reply = await subject.ask('id.server. TXT', { class: 3 })
  expect(reply.answer.map(lineOf)).toEqual(['id.server. 0 CH TXT "fra1"'])
})

test('other names of class CHAOS are REFUSED', async () => {
  expect(said(await subject.ask('www.example.org. TXT', { class: 3 }))).toEqual(bare('REFUSED'))
})

test('version.bind in class IN is a name outside our zones', async () => {
  expect(said(await subject.ask('version.bind. TXT'))).toEqual(bare('REFUSED'))
})
