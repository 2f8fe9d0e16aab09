// RFC 9619: a query has one question.
import { expect, test } from 'vitest'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()
const question = { name: 'www.example.org.', type: 1, class: 1 }

test('two questions are FORMERR, even when they are the same', async () => {
  const reply = await subject.ask('. A', { questions: [question, question] })
  expect(reply).toMatchObject({ rcode: 1, aa: false, answer: [] })
})

test('no question is FORMERR, with EDNS and without', async () => {
  expect((await subject.ask('. A', { questions: [] })).rcode).toBe(1)
  expect((await subject.ask('. A', { questions: [], opt: {} })).rcode).toBe(1)
})

test('a count of 65,535 questions is FORMERR', async () => {
  const questions = Array.from({ length: 40 }, () => question)
  expect((await subject.ask('. A', { questions })).rcode).toBe(1)
})
