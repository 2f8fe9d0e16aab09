// The records of a reply, as gslbd simulate shows them.
import { expect, test } from 'vitest'
import { Exit } from '#system/process/command.ts'
import { main } from '#cli/main.ts'

async function simulate(...args: string[]): Promise<string> {
  let out = ''
  const io = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (out += text),
    env: {},
    isTerminal: false,
  }
  const exit = await main(['simulate', '--config', 'examples/quickstart', ...args], io)
  expect(exit).toBe(Exit.Ok)
  return out
}

test.each([
  ['example.com', 'NS', 'example.com. 60 IN NS ns1.example.com.'],
  [
    'example.com',
    'SOA',
    'example.com. 60 IN SOA ns1.example.com. hostmaster.example.com. 1 14400 3600 604800 5',
  ],
  ['example.com', 'ANY', 'example.com. 60 IN HINFO "RFC8482" ""'],
  ['ns1.example.com', 'A', 'ns1.example.com. 60 IN A 127.0.0.1'],
])('simulate %s --type %s shows its record', async (name, type, record) => {
  const text = await simulate(name, '--type', type)
  expect(text.trimEnd().split('\n').at(-1)?.trim()).toBe(record)
  const json = JSON.parse(await simulate(name, '--type', type, '--format', 'json')) as object
  expect(json).toMatchObject({ answerCount: 1, records: [record] })
})

test('the records of a service are in the JSON; the text names the pick alone', async () => {
  const text = await simulate('www.example.com')
  expect(text.trimEnd().split('\n').at(-1)).toBe('answer    127.0.0.11, TTL 5')
  const json = JSON.parse(await simulate('www.example.com', '--format', 'json')) as object
  expect(json).toMatchObject({ records: ['www.example.com. 5 IN A 127.0.0.11'] })
})
