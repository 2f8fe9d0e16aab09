// RFC 1035 sections 3.2.4 and 3.2.5: classes of a question.
import { expect, test } from 'vitest'
import { answered, bare, said } from '#test/support/dns/said.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()

test('class ANY is answered from class IN', async () => {
  const reply = await subject.ask('www.example.org. A', { class: 255 })
  expect(said(reply)).toEqual(answered('www.example.org. 60 IN A 192.0.2.1'))
  expect(reply.questions[0]?.class).toBe(255)
})

const others: readonly [title: string, code: number][] = [
  ['zero', 0],
  ['CSNET', 2],
  ['CHAOS', 3],
  ['Hesiod', 4],
  ['NONE', 254],
  ['an unassigned one', 32_768],
]
for (const [title, code] of others) {
  test(`class ${title} is REFUSED`, async () => {
    expect(said(await subject.ask('www.example.org. A', { class: code }))).toEqual(bare('REFUSED'))
  })
}

test('version.bind and its kin are REFUSED unless the operator sets them', async () => {
  for (const name of ['version.bind.', 'version.server.', 'hostname.bind.', 'id.server.']) {
    expect(said(await subject.ask(`${name} TXT`, { class: 3 }))).toEqual(bare('REFUSED'))
  }
})
